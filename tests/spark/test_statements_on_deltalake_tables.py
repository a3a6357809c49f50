"""Statements on tables whose statistics deltalake recorded: with conditions beside them they touch the rows that Delta's own do.

deltalake leaves NaN out of a maximum and cuts the bounds of wide decimals at 64 bits. Delta Spark believes what is recorded, so a
condition that it can use would make it skip files whose rows the statement is about.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.apps.statements import strengthen
from lakeprune.apps.statements.merge.keys import Key, delta_condition
from lakeprune.apps.statements.merge.spark_source import Source, measure
from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.predicate.tree import Column, Profile
from tests.scope import IS_WHOLE
from tests.spark.merges import merge_sql
from tests.spark.statements import by_sql, copied, rows

pytestmark = pytest.mark.spark
NAN, TOP = float("nan"), 10**38 - 1
FILES: tuple[tuple[list[float], list[int | None]], ...] = (
    ([1.0, NAN], [TOP, TOP - 1]),
    ([1.0, 2.0], [-TOP, 1 - TOP]),
    ([9.0, 10.0], [2**63, 2**63 + 1]),
    ([-9.0, 3.0], [10**18 + 1, 10**18 + 3]),
    ([0.5, 0.25], [2**64 + 5, None]),
)
HIDDEN, WIDE = "abs(v) > 5", f"nullif(d, 0) >= {TOP - 1}"
SOURCE = f"SELECT * FROM VALUES (CAST({TOP} AS DECIMAL(38,0)), 1), (CAST({2**63 + 1} AS DECIMAL(38,0)), 2) AS x(d, n)"
CLAUSES = (("when_matched_update", "v = -s.n"), ("when_not_matched_insert", "d = s.d, v = -100"))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table"
    for floats, decimals in FILES:
        wide = pa.array([None if value is None else Decimal(value) for value in decimals], pa.decimal128(38, 0))
        write_deltalake(path, pa.table({"v": floats, "d": wide}), mode="append")
    return path


STATEMENTS = [
    (HIDDEN, None, 4),
    (HIDDEN, {"d": "0"}, 4),
    (WIDE, None, 2),
    (f"{HIDDEN} OR {WIDE}", {"v": "v + 1000"}, 5),
    (f"{HIDDEN} AND d + 0 > 0", {"v": "0"}, 4),
]


@pytest.mark.parametrize(("where", "values", "touched"), STATEMENTS if IS_WHOLE else STATEMENTS[3:4])
def test_rows_are_those_that_the_statement_as_written_leaves(
    where: str, values: dict[str, str] | None, touched: int, table: Path, spark: SparkSession
) -> None:
    ours, plain = copied(table, "ours"), copied(table, "plain")
    assert spark.read.format("delta").load(str(ours)).where(where).count() == touched
    if values is None:
        done = lakeprune.delete(ours, where=where, spark=spark).execute()
    else:
        done = lakeprune.update(ours, values, where=where, spark=spark).execute()
    assert done.passed, done.to_text()
    by_sql(spark, plain, where, values)
    assert rows(spark, ours) == rows(spark, plain)


def test_a_merge_by_a_wide_key_updates_the_rows_that_delta_updates(table: Path, spark: SparkSession) -> None:
    ours, plain = copied(table, "ours"), copied(table, "plain")
    done = lakeprune.merge(ours, SOURCE, on="t.d = s.d", spark=spark, clauses=CLAUSES).execute()
    assert done.passed, done.to_text()
    spark.sql(SOURCE).createOrReplaceTempView("source_rows")
    spark.sql(merge_sql(plain, "t.d = s.d", CLAUSES))
    assert rows(spark, ours) == rows(spark, plain)


def test_conditions_that_believe_the_statistics_lose_rows(
    table: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control: what the guard keeps away from Delta makes it skip the file that hides a NaN, or a wide decimal."""
    monkeypatch.setattr(strengthen, "usable", lambda predicate: predicate)
    for where in (HIDDEN, WIDE):
        added = strengthen.added_conditions(*_asked(table, where))
        assert added
        condition = strengthen.strengthened(where, added)
        frame = spark.read.format("delta").load(str(table))
        assert frame.where(condition).count() < frame.where(where).count()


def _asked(table: Path, where: str) -> tuple[Any, SnapshotFacts, Profile]:
    planner = lakeprune.plan(table).planner
    assert planner is not None
    with planner.engine.awake():
        return planner.ask(where).parts, planner.facts, planner.profile


def test_the_range_of_wide_keys_would_lose_matches_and_is_refused(table: Path, spark: SparkSession) -> None:
    planner = lakeprune.plan(table).planner
    assert planner is not None
    column = Column.at((planner.facts.schema.fields[1],))
    (found,) = measure(Source(spark.sql(SOURCE), "the source"), [Key("t.d = s.d", column, "d", is_null_safe=False)]).keys
    assert found.refusal is not None
    frame = spark.read.format("delta").load(str(table))
    matching = f"string(d) IN ('{TOP}', '{2**63 + 1}')"  # in a form of which Delta knows nothing
    assert frame.where(matching).count() == 2
    assert frame.where(matching).where(delta_condition(found, None, "UTC")).count() < 2
