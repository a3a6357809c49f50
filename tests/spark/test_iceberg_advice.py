"""Advice on Iceberg tables keeps its promise: each statement is executed as printed, and the predicate then reads less."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.scope import only_whole
from tests.spark.iceberg_advice_worker import CASES
from tools.repository import ROOT

pytestmark = [pytest.mark.spark, only_whole]
CAUSES = {"no_metrics": "metrics_mode", "column_104": "beyond_first_columns", "older": "older_files", "truncated": "truncation"}


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("warehouse")
    command = [sys.executable, "-m", "tests.spark.iceberg_advice_worker", str(folder)]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if "unresolved dependency" in done.stdout + done.stderr or "JAVA_GATEWAY_EXITED" in done.stderr:
        pytest.skip("no Java, or Iceberg's Spark runtime cannot be fetched")
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.partition("ADVICE ")[2])
    return found


@pytest.mark.parametrize("name", CASES)
def test_after_the_advice_the_predicate_reads_a_smaller_share(name: str, followed: dict[str, Any]) -> None:
    found, code = followed[name], CASES[name][2]
    assert "rewrite" in found, found
    (kept, total), (kept_after, total_after) = found["before"], found["after"]
    if code == "SMALL_FILES":
        assert kept_after <= found["numbers"]["files_after"] < kept
    elif code == "MANIFESTS_OVERLAP":
        (read, listed), (read_after, listed_after) = found["manifests"]
        assert (read, listed) == (12, 12)
        assert listed_after > 1
        assert read_after <= found["numbers"]["manifests_after"] < read
    else:
        assert kept_after / total_after < kept / total
    assert code not in found["still"]


@pytest.mark.parametrize(("name", "cause"), CAUSES.items())
def test_missing_metrics_have_their_cause(name: str, cause: str, followed: dict[str, Any]) -> None:
    assert followed[name]["numbers"]["cause"] == cause


def test_no_advice_speaks_of_another_format(followed: dict[str, Any]) -> None:
    words = [message for name in CASES for message in followed[name]["messages"]]
    assert words
    assert not [
        text for text in words if "delta" in text.lower().replace("deletion", "") or "OPTIMIZE" in text or "ZORDER" in text
    ]


def test_icebergs_own_parser_reads_the_scan_report(followed: dict[str, Any]) -> None:
    assert followed["scan_report"]["theirs"] == followed["scan_report"]["ours"]
