"""The lines of Spark before the newest, each in its own environment: everything that meets Spark works, or says why not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from lakeprune.engines.spark.packages import LINES, NEWEST, WITHOUT_MERGE, delta_package
from tests.scope import only_whole
from tests.spark.line_worker import PARTS
from tests.spark.lines import line_python
from tools.repository import ROOT

pytestmark = [pytest.mark.spark, only_whole, pytest.mark.skipif(which("java") is None, reason="no Spark here: Java is missing")]
WORKER = Path(__file__).with_name("line_worker.py")


def test_an_environment_has_the_connector_that_commands_load() -> None:
    for line in LINES:
        if line != NEWEST:
            pinned = (ROOT / "requirements" / f"pyspark-{line}.in").read_text(encoding="utf-8").splitlines()
            assert pinned[0].startswith(f"pyspark=={line}.")
            assert f"delta-spark=={delta_package(line).rpartition(':')[2]}" in pinned


@pytest.mark.parametrize("line", LINES)
def test_everything_that_meets_spark_works_on_this_line(line: str, tmp_path: Path) -> None:
    python = Path(sys.executable) if line == NEWEST else line_python(line)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYSPARK_PYTHON": str(python)}
    done = subprocess.run([python, WORKER, tmp_path], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert found.pop("spark").startswith(f"{line}.")
    if line in WITHOUT_MERGE:
        assert found.pop("merge").startswith("error[LP263]")
    assert found == {part: "ok" for part in PARTS if part != "merge" or line not in WITHOUT_MERGE}
