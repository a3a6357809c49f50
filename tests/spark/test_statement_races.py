"""Others who write at the same time, and processes that die: no change is lost, none is half there, and all of it is said."""

from __future__ import annotations

import inspect
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.apps.statements.execution import Execution
from lakeprune.apps.statements.model import Status
from tests.scope import IS_WHOLE, only_whole
from tests.spark.races import (
    MOMENTS,
    PATIENCE,
    all_at_once,
    append,
    appending,
    check_conflict,
    check_vacuum,
    killed,
    slow_function,
    wait_until,
)
from tests.spark.statements import by_sql, events, rows
from tests.spark.test_update_delete import SCHEMA

pytestmark = pytest.mark.spark


def test_a_commit_between_plan_and_execution_is_noticed(spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 2)
    plan = lakeprune.update(table, {"v": "-1"}, where="id IN (5, 150)", spark=spark, max_files=3)
    append(spark, table, 150, 1)
    done = plan.execute()
    assert done.passed, done.to_text()
    assert (done.plan.version, done.plan.effects.updated) == (2, 3)
    assert done.notes == ("the table moved from version 1 to 2: planned afresh, other files are to be changed",)
    assert spark.read.format("delta").load(str(table)).where("v = -1").count() == 3

    guarded = lakeprune.delete(table, where="v = -1", spark=spark, max_rows=3)
    assert guarded.passed
    by_sql(spark, table, "id = 7", {"v": "-1"})
    refused = guarded.execute()
    assert (refused.status, refused.exit_code, refused.commit) == (Status.GUARDED, 1, None)
    assert "4 row(s) to change are above the limit of 3" in refused.to_text()
    jsonschema.validate(refused.to_dict(), SCHEMA)
    assert spark.read.format("delta").load(str(table)).where("v = -1").count() == 4

    if not IS_WHOLE:
        return
    gone = lakeprune.delete(table, where="v = -1", spark=spark)
    by_sql(spark, table, "v = -1", None)
    assert gone.execute().status is Status.NOTHING_MATCHES


@pytest.fixture(params=["as Spark has them", "as delta has them"][0 if IS_WHOLE else 1 :])
def conflicts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What converts a Java exception: PySpark, or what a program that imports `delta` puts in its place."""
    from delta.exceptions import captured as of_delta
    from pyspark.errors.exceptions import captured

    def converted(error: Any) -> Any:
        found = of_delta._convert_delta_exception(error) if request.param == "as delta has them" else None
        return found or plain(error)

    plain: Any = inspect.getclosurevars(captured.convert_exception).nonlocals.get("original_convert_sql_exception")
    assert plain is not None, "delta has another way to put itself in"
    monkeypatch.setattr(captured, "convert_exception", converted)


@pytest.mark.usefixtures("conflicts")
@pytest.mark.parametrize("retry", [0, 1] if IS_WHOLE else [1])
def test_a_conflict_is_named_and_a_retry_plans_afresh(retry: int, spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 2)
    gate = slow_function(spark, tmp_path)
    plan = lakeprune.update(table, {"v": "slowly(v)"}, where="id = 5", spark=spark)
    found: list[Execution] = []
    ours = threading.Thread(target=lambda: found.append(plan.execute(retry=retry)))
    ours.start()
    wait_until(lambda: gate.started.exists() or not ours.is_alive())
    by_sql(spark, table, "id BETWEEN 1 AND 10", {"v": "v + 100"})
    gate.free.touch()
    ours.join(PATIENCE)
    (done,) = found
    check_conflict(done, retry)
    changed = spark.read.format("delta").load(str(table)).where("v <> id").selectExpr("id", "v - id").collect()
    expected = dict.fromkeys(range(1, 11), 100.0) | ({5: 101.0} if retry else {})
    assert dict(map(tuple, changed)) == expected


@only_whole
def test_overlapping_updates_at_once_lose_nothing(spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 4)

    def add_one(retry: int) -> Execution:
        return lakeprune.update(table, {"v": "v + 1"}, where="id % 100 < 3", spark=spark).execute(retry=retry)

    done = all_at_once(add_one, [0, 0, 20, 20])
    total = spark.read.format("delta").load(str(table)).selectExpr("sum(v - id)", "count(*)").collect()[0]
    assert tuple(total) == (12.0 * len(done), 400)


@only_whole
def test_a_writer_that_appends_throughout_disturbs_nothing(spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 4, by="p")
    with appending(spark, table) as appended:
        for where in ("p = 2 AND id % 2 = 0", "p = 3 AND id % 5 = 0", "p = 0 AND id < 7"):
            execution = lakeprune.update(table, {"v": "-5"}, where=where, spark=spark).execute(retry=20)
            assert execution.passed, execution.to_text()
    after = spark.read.format("delta").load(str(table))
    assert after.where("v = -5").count() == 50 + 20 + 7
    assert after.count() == 400 + 10 * appended[0]


def test_a_commit_that_spark_failed_after_is_found_by_its_mark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lakeprune.apps.statements.update_delete import spark_steps

    table = events(spark, tmp_path / "events", 2)
    real = spark_steps.run_statement

    def fails_afterwards(session: SparkSession, *given: Any) -> None:
        real(session, *given)
        session.sql("SELECT raise_error('the network went away')").collect()

    monkeypatch.setattr(spark_steps, "run_statement", fails_afterwards)
    done = lakeprune.delete(table, where="id = 5", spark=spark).execute()
    assert done.passed, done.to_text()
    assert "the commit was written, then Spark reported" in done.notes[0]
    assert "the network went away" in done.notes[0]


def test_a_commit_that_did_something_else_is_reported_with_exit_1(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lakeprune.apps.statements.update_delete import spark_steps

    table = events(spark, tmp_path / "events", 2)
    real = spark_steps.run_statement
    monkeypatch.setattr(spark_steps, "run_statement", lambda session, place, *_: real(session, place, "id IN (5, 6, 150)", ()))
    done = lakeprune.delete(table, where="id IN (5, 7)", spark=spark).execute()
    assert (done.status, done.exit_code) == (Status.COMMITTED, 1)
    assert done.reconciliation is not None
    differing = {check.name: (check.expected, check.found) for check in done.reconciliation.differences}
    assert differing["numDeletedRows"] == (2, 3)
    assert differing["files removed"] == (1, 2)
    assert "found, not expected: part-" in done.to_text()
    assert "DIFFERS from the plan" in done.to_text()
    jsonschema.validate(done.to_dict(), SCHEMA)


@only_whole
@pytest.mark.parametrize("moment", MOMENTS if IS_WHOLE else [])
def test_a_process_that_is_killed_leaves_the_table_whole(moment: str, spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 3)
    before = rows(spark, table)
    is_done = killed(table, tmp_path, moment, "update")
    content = rows(spark, table)
    assert len(content) == len(before)
    assert len(set(content) ^ set(before)) == (6 if is_done else 0), "unchanged, or three rows and no other"
    check_vacuum(spark, table)
    again = lakeprune.update(table, {"v": "-2"}, where="id % 100 = 5", spark=spark).execute()
    assert again.passed, again.to_text()
