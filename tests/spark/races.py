"""Others who write at the same time, and processes that die, for tests of statements: what they share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import jsonschema
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from lakeprune.apps.statements.execution import Execution
from lakeprune.apps.statements.model import Status
from tests.spark.statements import EVENTS, commits
from tests.spark.test_update_delete import SCHEMA

PATIENCE = 300.0
MOMENTS = ["before the commit", "during the write", *(f"after {i} moments" for i in range(3))]
# Rows with the ids 5, 105 and 205 become -1; the MERGE also inserts one. The last keeps its task waiting while others write.
SCRIPT = """
import os, sys, time
from pathlib import Path
import lakeprune
from lakeprune.engines.spark.session import SparkSettings, open_session
from tests.spark.conftest import _SMALL
from tests.spark.processes import DELTA
table, place, moment, statement = Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:]
one_task_a_file = (("spark.sql.files.maxPartitionBytes", "4k"), ("spark.sql.files.openCostInBytes", "0"))
spark = open_session(SparkSettings("local[2]", conf=(*_SMALL.items(), *one_task_a_file), packages=DELTA))
def waits(value):
    if value == 205:
        (place / "inside").touch()
        time.sleep(600)
    return -1.0
spark.udf.register("waits", waits, "double")
def dies(*_):
    os.kill(os.getpid(), 9)
value = "waits(t.v)" if moment == "during the write" else "-1"
if statement == "update":
    from lakeprune.apps.statements.update_delete import spark_steps as writer
    plan = lakeprune.update(table, {"v": value.replace("t.", "")}, where="id % 100 = 5", spark=spark)
else:
    from lakeprune.apps.statements.merge import spark_merge as writer
    source = "SELECT id FROM range(5, 300, 100) UNION ALL SELECT 1000L"
    clauses = [("when_matched_update", f"v = {value}"), ("when_not_matched_insert", "id = s.id")]
    plan = lakeprune.merge(table, source, on="t.id = s.id", spark=spark, clauses=clauses)
if moment == "before the commit":
    writer.run_statement = writer.run_merge = dies
(place / "planned").touch()
plan.execute()
(place / "done").touch()
"""


@dataclass(frozen=True)
class Gate:
    """The function has been called; it may go on."""

    started: Path
    free: Path


def append(spark: SparkSession, table: Path, first: int, count: int) -> None:
    frame = spark.range(first, first + count, 1, 1).selectExpr(*EVENTS)
    frame.write.format("delta").mode("append").save(str(table))


def wait_until(is_true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def all_at_once(run: Callable[[int], Execution], patience: Sequence[int]) -> list[Execution]:
    """Run a statement in as many threads, each with so many retries: what was committed. The others met a conflict and say so."""
    found: list[Execution] = []

    def one(retry: int) -> None:
        found.append(run(retry))

    threads = [threading.Thread(target=one, args=(retry,)) for retry in patience]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    done = [execution for execution in found if execution.status is Status.COMMITTED]
    assert len(found) == len(patience)
    assert all(execution.passed for execution in done), [execution.to_text() for execution in done]
    assert all(execution.status is Status.CONFLICT for execution in found if execution not in done)
    assert len(done) >= 2
    return done


@contextmanager
def appending(spark: SparkSession, table: Path) -> Iterator[list[int]]:
    """Ten rows after ten rows go into partition 1 as long as the block runs. How often is known after it."""
    done, appended = threading.Event(), [0]

    def appends() -> None:
        while not done.is_set():
            append(spark, table, 2_000_900 + appended[0] * 400, 10)
            appended[0] += 1

    writer = threading.Thread(target=appends)
    writer.start()
    try:
        yield appended
    finally:
        done.set()
        writer.join(PATIENCE)
    assert appended[0] > 1


def slow_function(spark: SparkSession, folder: Path) -> Gate:
    """`slowly(value)` adds one; 5 has to wait for the gate. Spark asks it about every row: one task waits, others go on."""
    started, free = folder / "started", folder / "free"  # by themselves, since Spark's workers do not know the class of a gate

    def slowly(value: float | None) -> float | None:
        if value == 5:
            started.touch()
            while not free.exists():
                time.sleep(0.05)
        return None if value is None else value + 1

    spark.udf.register("slowly", udf(slowly, "double", useArrow=False))
    return Gate(started, free)


def check_conflict(done: Execution, retry: int) -> None:
    """Named in one line with exit 1, or planned afresh and done."""
    jsonschema.validate(done.to_dict(), SCHEMA)
    if retry:
        assert done.passed, done.to_text()
        assert done.attempts == 2
        assert "attempt 1 met a conflict and wrote nothing: Concurrent" in done.notes[0]
        return
    assert (done.status, done.exit_code) == (Status.CONFLICT, 1)
    assert done.conflict is not None
    assert done.conflict.startswith("Concurrent")
    assert "\n" not in done.conflict
    assert "CONFLICT, nothing of this statement is in the table: Concurrent" in done.to_text()


def killed(table: Path, place: Path, moment: str, statement: str) -> bool:
    """Run the statement in a process that is killed at this moment. Whether it was committed, which the first two never are."""
    command = [sys.executable, "-c", SCRIPT, str(table), str(place), moment, statement]
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(command, start_new_session=True, cwd=root, env={**os.environ, "PYTHONPATH": str(root)})
    before, known = len(commits(table)), data_files(table)
    try:
        if moment == "during the write":
            wait_until((place / "inside").exists)
            wait_until(lambda: data_files(table) > known)  # another task has begun a file: VACUUM will find it
        elif moment == "before the commit":
            process.wait(PATIENCE)
            assert process.returncode == -signal.SIGKILL
        else:
            wait_until((place / "planned").exists)
            time.sleep(Random(moment).uniform(0, 4))
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    written = len(commits(table)) - before
    assert written in ((0,) if moment in MOMENTS[:2] else (0, 1))
    return written == 1


def data_files(table: Path) -> set[str]:
    """What is on disk, of the table or not."""
    return {path.name for path in table.rglob("*.parquet") if "_delta_log" not in path.parts}


def check_vacuum(spark: SparkSession, table: Path) -> None:
    """Delta's own VACUUM leaves the files of the table and no other, whatever the dead process wrote."""
    at_once = spark.newSession()
    at_once.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    at_once.conf.set("spark.sql.sources.parallelPartitionDiscovery.parallelism", "2")  # else ten thousand tasks list two folders
    live = {
        Path(row[0]).name
        for row in spark.read.format("delta").load(str(table)).select("_metadata.file_path").distinct().collect()
    }
    at_once.sql(f"VACUUM delta.`{table}` RETAIN 0 HOURS")
    assert data_files(table) == live
