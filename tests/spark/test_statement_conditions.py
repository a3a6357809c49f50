"""Conditions as people write them: names without an alias, what fails on a row, long lists, relative paths."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.apps.statements import spark_analysis
from lakeprune.errors import LakepruneError
from tests.scope import only_whole
from tests.spark.merges import merge_sql
from tests.spark.statements import actions, by_sql, commits, copied, events, rows

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


@only_whole
def test_a_table_may_have_a_column_named_metadata(spark: SparkSession, tmp_path: Path) -> None:
    """Ingestion jobs store where a row came from under this name; the file that a row lies in is another."""
    table = tmp_path / "ingested"
    landed = spark.range(0, 20, 1, 2).selectExpr(
        "id", "id AS v", "named_struct('file_path', concat('/landing/', id)) AS _metadata"
    )
    landed.write.format("delta").save(str(table))
    assert lakeprune.verify(table, where="id + v = 8", spark=spark).passed
    assert lakeprune.delete(table, where="id + v = 8", spark=spark).execute().passed
    plan = lakeprune.merge(table, "SELECT 15L AS id", on="t.id = s.id", spark=spark, when_matched_update="v = 0")
    assert plan.execute().passed
    assert spark.read.format("delta").load(str(table)).selectExpr("count(*)", "sum(v)").collect() == [(19, 190 - 4 - 15)]


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


def test_a_merge_says_what_is_no_condition_and_no_source(spark: SparkSession, table: Path) -> None:
    wrong = [
        (SOURCE, "t.id = s.id", "AND s.id THEN id = s.id", "LP445", "s.id is of type int, not a condition"),
        (SOURCE, "NULL", "id = s.id", "LP445", "NULL is of type void"),
        (" ", "t.id = s.id", "all", "LP255", "the source is empty"),  # not the directory where this runs
    ]
    never = lakeprune.merge(table, SOURCE, on="t.id = s.id", spark=spark, when_not_matched_insert="AND NULL THEN id = s.id")
    assert never.is_empty
    for source, on, clause, code, words in wrong:
        with pytest.raises(LakepruneError) as refused:
            lakeprune.merge(table, source, on=on, spark=spark, when_not_matched_insert=clause)
        assert refused.value.code == code
        assert words in str(refused.value)
    said = "st.y = \"uuid(1)\" AND st.y <> 'rand()'"  # text in quotes calls nothing
    assert lakeprune.delete(table, where=said, spark=spark).is_empty


def test_a_relative_source_is_found_where_this_process_is(
    spark: SparkSession, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The JVM keeps the directory in which it was started."""
    spark.sql(SOURCE).write.parquet(str(tmp_path / "changes"))
    monkeypatch.chdir(tmp_path)
    plan = lakeprune.merge(table, "changes", on="t.id = s.id", spark=spark, when_matched_delete=True)
    assert plan.effects.deleted == 2


@only_whole
def test_char_columns_are_compared_with_their_blanks(spark: SparkSession, tmp_path: Path) -> None:
    """Delta's statistics of CHAR columns lack the blanks of its rows: its own UPDATE misses rows that a query finds."""
    first = tmp_path / "padded"
    spark.sql(f"CREATE TABLE delta.`{first}` (c CHAR(5), id INT, v INT) USING delta")
    for values in ("('ab', 1, 1), ('x', 2, 2)", "('abc', 3, 3)"):
        spark.sql(f"INSERT INTO delta.`{first}` VALUES {values}")
    assert spark.sql(f"SELECT id FROM delta.`{first}` WHERE c = 'ab'").collect() == [(1,)]
    updated, deleted, plain = (copied(first, name) for name in ("updated", "deleted", "plain"))
    by_sql(spark, plain, "id = 1", {"v": "0"})
    done = lakeprune.update(updated, "v = 0", where="c = 'ab' AND length(c) = 5", spark=spark).execute()
    assert done.passed, done.to_text()
    assert rows(spark, updated) == rows(spark, plain)

    with pytest.raises(LakepruneError, match="LP415"):
        lakeprune.delete(deleted, where="c = 'ab'", spark=spark)
    assert lakeprune.delete(deleted, where="id = 1", spark=spark).execute().passed
    assert [row for row in rows(spark, first) if '"id":1' not in row] == rows(spark, deleted)


def test_a_value_that_its_column_does_not_take_is_told(spark: SparkSession, tmp_path: Path) -> None:
    """Spark says that a task failed while writing; why stands in the cause of that."""
    table = tmp_path / "strict"
    spark.sql(f"CREATE TABLE delta.`{table}` (id INT, k STRING NOT NULL) USING delta")
    spark.sql(f"INSERT INTO delta.`{table}` VALUES (1, 'a')")
    plan = lakeprune.update(table, "k = NULL", where="id = 1", spark=spark)
    with pytest.raises(LakepruneError) as refused:
        plan.execute()
    assert refused.value.code == "LP410"
    assert "NULL value appeared in non-nullable field" in str(refused.value)
    assert len(commits(table)) == 2
