"""MERGE while others write, and in processes that die: no change is lost, none is half there, and all of it is said."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.apps.statements.execution import Execution
from tests.scope import IS_WHOLE, only_whole
from tests.spark.races import (
    MOMENTS,
    PATIENCE,
    all_at_once,
    appending,
    check_conflict,
    check_vacuum,
    killed,
    slow_function,
    wait_until,
)
from tests.spark.statements import by_sql, events, rows

pytestmark = [pytest.mark.spark, only_whole]


@pytest.mark.parametrize("retry", [0, 1])
def test_a_conflict_is_named_and_a_retry_plans_afresh(retry: int, spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 2)
    gate = slow_function(spark, tmp_path)
    clauses = [("when_matched_update", "v = slowly(t.v)"), ("when_not_matched_insert", "id = s.id, v = s.id")]
    source = "SELECT * FROM VALUES (5L), (900L) AS x(id)"
    plan = lakeprune.merge(table, source, on="t.id = s.id", spark=spark, clauses=clauses)
    found: list[Execution] = []
    ours = threading.Thread(target=lambda: found.append(plan.execute(retry=retry)))
    ours.start()
    wait_until(lambda: gate.started.exists() or not ours.is_alive())
    by_sql(spark, table, "id BETWEEN 1 AND 10", {"v": "v + 100"})
    gate.free.touch()
    ours.join(PATIENCE)
    (done,) = found
    check_conflict(done, retry)
    after = spark.read.format("delta").load(str(table))
    changed = after.where("v <> id").selectExpr("id", "v - id").collect()
    assert dict(map(tuple, changed)) == dict.fromkeys(range(1, 11), 100.0) | ({5: 101.0} if retry else {})
    assert after.count() == 200 + retry


def test_overlapping_merges_at_once_lose_nothing_and_insert_once(spark: SparkSession, tmp_path: Path) -> None:
    """Every one of them adds one to the rows it finds, and inserts the rows it does not find."""
    table = events(spark, tmp_path / "events", 3)
    source = "SELECT id FROM range(0, 400, 50) UNION ALL SELECT id FROM range(7000, 7003)"
    clauses = [("when_matched_update", "v = t.v + 1"), ("when_not_matched_insert", "id = s.id, v = s.id + 1")]

    def add_one(retry: int) -> Execution:
        return lakeprune.merge(table, source, on="t.id = s.id", spark=spark, clauses=clauses).execute(retry=retry)

    done = all_at_once(add_one, [0, 20, 20])
    total = spark.read.format("delta").load(str(table)).selectExpr("sum(v - id)", "count(*)", "count(DISTINCT id)").collect()[0]
    assert tuple(total) == (11.0 * len(done), 305, 305)


def test_a_writer_that_appends_throughout_disturbs_nothing(spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 4, by="p")
    clauses = [("when_matched_update", "v = -5"), ("when_not_matched_insert", "id = s.id, p = s.p, v = -6")]
    with appending(spark, table) as appended:
        for p in (2, 3):
            source = f"SELECT id, {p} AS p FROM range({100 * p}, {100 * p + 20}, 2) UNION ALL SELECT {9000 + p}L, {p}"
            on = "t.id = s.id AND t.p = s.p"
            execution = lakeprune.merge(table, source, on=on, spark=spark, clauses=clauses).execute(retry=20)
            assert execution.passed, execution.to_text()
    after = spark.read.format("delta").load(str(table))
    assert (after.where("v = -5").count(), after.where("v = -6").count()) == (20, 2)
    assert after.count() == 400 + 2 + 10 * appended[0]


@pytest.mark.parametrize("moment", MOMENTS if IS_WHOLE else [])
def test_a_process_that_is_killed_leaves_the_table_whole(moment: str, spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 3)
    before = rows(spark, table)
    is_done = killed(table, tmp_path, moment, "merge")
    content = rows(spark, table)
    assert len(content) == len(before) + is_done
    assert len(set(content) ^ set(before)) == (7 if is_done else 0), "unchanged, or three rows changed and one new"
    check_vacuum(spark, table)
    assert rows(spark, table) == content
    again = lakeprune.merge(table, "SELECT 5L AS id", on="t.id = s.id", spark=spark, when_matched_update="v = -2").execute()
    assert again.passed, again.to_text()
