"""Several processes: a standalone cluster fed by spark-submit from the wheel, and Spark Connect from a client without a JVM."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest
from deltalake import DeltaTable

import lakeprune
from demo.tables import users
from tests.builders.untimed import untimed
from tests.docs.blocks import blocks
from tests.scope import only_whole
from tests.spark.processes import SPARK_HOME, cluster, connect_server

pytestmark = [pytest.mark.spark, only_whole, pytest.mark.skipif(which("java") is None, reason="no Spark here: Java is missing")]
ROOT = Path(__file__).parents[2]
WHERE = "lower(country) = 'de' AND age > 40"
PROGRAM = """
import json, sys
import lakeprune
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
report = lakeprune.explain(sys.argv[1], sys.argv[2], spark=spark)
executors = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
print(json.dumps({"home": lakeprune.__file__, "executors": len(executors) - 1, "document": report.to_dict(verbose=True)}))
"""


PAGE = "docs/running-on-a-cluster.md"
(MAKE_WHEEL,), (SUBMIT,) = (block.commands for block in blocks(PAGE, "sh"))
((ON_A_CLUSTER,),) = (block.commands for block in blocks("docs/concepts/engines.md", "sh"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made by the command of the page; what building needs is in the environment of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable if part == "python3" else part for part in shlex.split(MAKE_WHEEL)]
    command = [str(folder) if part == "dist" else part for part in command]
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}  # pip's way to say: no isolation
    subprocess.run(command, cwd=ROOT, env={**os.environ, **offline}, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    assert f"dist/{found.name}" in SUBMIT, "the page names the wheel that is made"
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with connect_server(tmp_path_factory.mktemp("connect")) as address:
        yield address


def test_a_cluster_answers_like_the_embedded_engine_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    table = users(tmp_path / "users")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    settings = ("spark.driver.host=127.0.0.1", "spark.executor.memory=512m", "spark.sql.shuffle.partitions=2")
    environment = {**os.environ, "SPARK_HOME": str(SPARK_HOME), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with cluster(tmp_path) as master:
        command = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", master, "--py-files", str(wheel)]
        for setting in settings:
            command += ["--conf", setting]
        command += [str(program), str(table), WHERE]
        found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        as_on_the_pages(master, wheel, tmp_path, environment)
    reported = json.loads(found.stdout.strip().splitlines()[-1])
    assert str(wheel.name) in reported["home"], "the program must run from the wheel"
    assert reported["executors"] == 2
    expected = json.loads(lakeprune.explain(table, WHERE).to_json(verbose=True))
    assert untimed(reported["document"]) == untimed(expected)


def as_on_the_pages(master: str, wheel: Path, folder: Path, environment: dict[str, str]) -> None:
    """The commands of the pages, with the master and the table that are here."""
    (program,) = blocks(PAGE, "python")
    (folder / "explain.py").write_text(program.text, encoding="utf-8")
    ours = {
        "spark-submit": str(SPARK_HOME / "bin" / "spark-submit"),
        "lakeprune": f"{shlex.quote(sys.executable)} -m lakeprune",
        "spark://host:7077": f"{master} --conf spark.driver.host=127.0.0.1",
        "spark.executor.memory=2g": "spark.executor.memory=512m",
        f"dist/{wheel.name}": str(wheel),
        "s3a://lake/users": "./users",
    }
    for command, kept in ((SUBMIT, '"final_files": 3'), (ON_A_CLUSTER, "Reads 3 of 6 files")):
        line = " ".join(ours.get(part, shlex.quote(part)) for part in shlex.split(command))
        done = subprocess.run(["/bin/bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, f"{line}\n{done.stderr[-3000:]}"
        assert kept in done.stdout


def test_spark_connect_answers_like_the_embedded_engine(server: str, tmp_path: Path) -> None:
    table = users(tmp_path / "users")
    command = [sys.executable, "-m", "lakeprune", "explain", str(table), "-w", WHERE, "--verbose", "--format", "json"]
    without_java = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"} | {"PATH": "/nowhere"}
    on_spark = [*command, "--engine", "spark", "--remote", server]
    remote = subprocess.run(on_spark, capture_output=True, text=True, check=False, env=without_java)
    assert (remote.returncode, remote.stderr) == (0, f"connecting to Spark ({server})\n")
    embedded = subprocess.run(command, capture_output=True, text=True, check=True)
    one, other = json.loads(remote.stdout), json.loads(embedded.stdout)
    assert untimed({**one, "table": ""}) == untimed({**other, "table": ""})


def test_a_table_that_is_not_there_is_said_over_spark_connect(server: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lakeprune", "explain", str(tmp_path / "nowhere"), "--engine", "spark", "--remote", server]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 3
    assert "error[LP305]" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_query_over_spark_connect_says_that_it_has_no_plan(server: str) -> None:
    command = [sys.executable, "-m", "lakeprune", "explain", "--engine", "spark", "--sql", "SELECT 1", "--remote", server]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (2, "")
    assert "\nerror[LP240] a session of Spark Connect has no plan that can be read" in found.stderr
    assert "Traceback" not in found.stderr


def test_rows_are_verified_over_spark_connect(server: str, tmp_path: Path) -> None:
    table = users(tmp_path / "users")
    DeltaTable(table).create_checkpoint()
    command = [sys.executable, "-m", "lakeprune", "verify", str(table), "-w", WHERE, "--format", "json", "--remote", server]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, f"connecting to Spark ({server})\n")
    reported = json.loads(found.stdout)
    assert (reported["result"], reported["truth"]["live_rows"], reported["plan"]["final_files"]) == ("pass", 24, 1)
