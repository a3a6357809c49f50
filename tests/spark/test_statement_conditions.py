"""Conditions as people write them: names without an alias, what fails on a row, long lists, relative paths."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.dml import spark_analysis
from lakeprune.errors import LakepruneError
from tests.spark.merges import merge_sql
from tests.spark.statements import actions, commits, copied, events, rows

pytestmark = pytest.mark.spark
SOURCE = "SELECT * FROM VALUES (3, 100D), (150, 200D), (500, 300D), (501, 1D) AS x(id, v)"
CLAUSES = (
    ("when_matched_delete", "AND s.v = 200"),
    ("when_matched_update", "v = s.v + t.v"),
    ("when_not_matched_insert", "AND v > 100 THEN id = s.id, v = v"),
    ("when_not_matched_insert", "AND id = 501 THEN id = -id"),
    ("when_not_matched_by_source_update", "AND v > 160 THEN v = 0"),
    ("when_not_matched_by_source_delete", "AND id = 2"),
)


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return events(spark, tmp_path_factory.mktemp("conditions") / "events", 2)


def test_a_condition_about_one_side_needs_no_alias(spark: SparkSession, table: Path) -> None:
    """`v` is a column of both sides, and yet no question where a clause sees one side alone."""
    ours, plain = copied(table, "ours"), copied(table, "plain")
    done = lakeprune.merge(ours, SOURCE, on="t.id = s.id", spark=spark, clauses=CLAUSES).execute()
    assert done.passed, done.to_text()
    spark.sql(SOURCE).createOrReplaceTempView("source_rows")
    spark.sql(merge_sql(plain, "t.id = s.id", CLAUSES))
    assert rows(spark, ours) == rows(spark, plain)
    assert {a["path"] for a in actions(ours, "remove")} == {a["path"] for a in actions(plain, "remove")}


def test_a_condition_that_fails_on_a_row_is_no_fault_of_the_table(
    spark: SparkSession, table: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = len(commits(table))
    with pytest.raises(LakepruneError) as refused:
        lakeprune.delete(table, where="1 / (id - 5) > 0", spark=spark)
    assert (refused.value.code, refused.value.exit_code) == ("LP107", 2)
    assert "Division by zero" in str(refused.value)
    assert "data file" not in str(refused.value)
    on = "t.id = s.id AND 1 / (t.id - 3) > 0"
    with pytest.raises(LakepruneError) as refused:
        lakeprune.merge(table, SOURCE, on=on, spark=spark, when_matched_delete=True)
    assert refused.value.code == "LP107"
    assert on in str(refused.value)
    assert len(commits(table)) == before
    assert "\tat " not in capfd.readouterr().err, "PySpark logs the stack of a JVM by itself"


def test_a_long_list_is_not_asked_for_clocks_value_by_value(
    spark: SparkSession, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every node of a condition costs several calls to the JVM: with 100,000 values, minutes."""

    def never(condition: object) -> None:
        raise AssertionError(condition)

    monkeypatch.setattr(spark_analysis, "_nodes", never)
    listed = ", ".join(str(number) for number in range(50, 3050))
    assert lakeprune.delete(table, where=f"id IN ({listed})", spark=spark).effects.deleted == 150


def test_a_relative_source_is_found_where_this_process_is(
    spark: SparkSession, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The JVM keeps the directory in which it was started."""
    spark.sql(SOURCE).write.parquet(str(tmp_path / "changes"))
    monkeypatch.chdir(tmp_path)
    plan = lakeprune.merge(table, "changes", on="t.id = s.id", spark=spark, when_matched_delete=True)
    assert plan.effects.deleted == 2
