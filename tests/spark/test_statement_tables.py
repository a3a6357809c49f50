"""Statements on tables of every kind: what Delta's own SQL makes of a copy is what they make, and the commit is as planned."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.apps.statements.model import Status
from lakeprune.errors import StatementError
from tests.scope import IS_WHOLE, only_whole
from tests.spark.statements import actions, by_sql, commits, copied, events, rows

pytestmark = pytest.mark.spark
VECTORS = "'delta.enableDeletionVectors' = 'true'"
MAPPED = "'delta.columnMapping.mode' = 'name'"
FEED = "'delta.enableChangeDataFeed' = 'true'"
STATEMENTS: tuple[tuple[str, dict[str, str] | None], ...] = (
    ("year(ts) = 2023 AND id IN (3, 7, 150)", {"v": "v + 1", "st.x": "-id"}),
    ("n IS NULL AND id < 250", None),
    ("st.y LIKE 's2%' OR p = 3 AND v > 350", {"n": "NULL", "p": "p + 1"}),
)


def both_ways(spark: SparkSession, table: Path, where: str, values: dict[str, str] | None) -> None:
    """The statement through lakeprune, and by SQL on a copy: the same rows, and without deletion vectors the same files."""
    plain = copied(table, f"{table.name}_plain_{len(commits(table))}")
    by_sql(spark, plain, where, values)
    if values is None:
        done = lakeprune.delete(table, where=where, spark=spark).execute()
    else:
        done = lakeprune.update(table, values, where=where, spark=spark).execute()
    assert done.passed, done.to_text()
    assert done.status is Status.COMMITTED
    assert rows(spark, table) == rows(spark, plain)
    assert {a["path"] for a in actions(table, "remove")} == {a["path"] for a in actions(plain, "remove")}
    ours, theirs = (actions(path, "commitInfo")[0]["operationMetrics"] for path in (table, plain))
    reported = [name for name in ours if name.startswith("num") and not name.endswith("Bytes") and name != "numAddedFiles"]
    assert {name: ours[name] for name in reported} == {name: theirs[name] for name in reported}


KINDS = {
    "flat": {"properties": VECTORS},
    "partitioned and mapped": {"by": "p", "properties": f"{MAPPED}, {VECTORS}"},
    "partitioned with a change feed": {"by": "p", "properties": FEED},
}


@pytest.mark.parametrize("kind", KINDS if IS_WHOLE else ["partitioned and mapped"])
def test_statements_do_what_sql_does(kind: str, spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "tab le é", 4, **KINDS[kind])
    if "mapped" in kind:
        spark.sql(f"ALTER TABLE delta.`{table}` RENAME COLUMN n TO other")
        spark.sql(f"ALTER TABLE delta.`{table}` RENAME COLUMN other TO n")
        spark.sql(f"ALTER TABLE delta.`{table}` ADD COLUMN `odd. ``name` STRUCT<`in ner`: INT, z: INT>")
        odd = "`odd. ``name`.z IS NULL AND id < 3", {"`odd. ``name`.`in ner`": "5"}
        if not IS_WHOLE:  # two statements as one
            where, values = STATEMENTS[2]
            both_ways(spark, table, f"{odd[0]} OR {where}", {**odd[1], **(values or {})})
            return
        both_ways(spark, table, *odd)
    for where, values in STATEMENTS:
        both_ways(spark, table, where, values)


@only_whole
@pytest.mark.parametrize("properties", [FEED, f"{FEED}, {VECTORS}"])
def test_the_change_feed_has_the_rows_that_changed(properties: str, spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "feed", 3, properties=properties)
    updated = lakeprune.update(table, {"v": "-1"}, where="id BETWEEN 95 AND 104", spark=spark).execute()
    deleted = lakeprune.delete(table, where="id % 100 = 7 OR id >= 200", spark=spark).execute()
    assert updated.passed, updated.to_text()
    assert deleted.passed, deleted.to_text()
    feed = spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", 2).load(str(table))
    counted = {(row["_commit_version"], row["_change_type"]): row["count"] for row in
               feed.groupBy("_commit_version", "_change_type").count().collect()}  # fmt: skip
    assert counted == {(2, "update_preimage"): 10, (2, "update_postimage"): 10, (3, "delete"): 102}
    after = feed.where("_change_type = 'update_postimage'").selectExpr("id", "v").collect()
    assert sorted(map(tuple, after)) == [(number, -1.0) for number in range(95, 105)]


def test_constraints_generated_and_identity_columns_are_kept(spark: SparkSession, tmp_path: Path) -> None:
    table = tmp_path / "made"
    columns = "id BIGINT, d TIMESTAMP, g DATE GENERATED ALWAYS AS (CAST(d AS DATE)), i BIGINT GENERATED ALWAYS AS IDENTITY, q INT"
    spark.sql(f"CREATE TABLE delta.`{table}` ({columns}) USING delta PARTITIONED BY (g)")
    spark.sql(f"ALTER TABLE delta.`{table}` ADD CONSTRAINT positive CHECK (q > 0)")
    source = spark.range(0, 60, 1, 2).selectExpr("id", "timestamp_seconds(id * 3600) AS d", "CAST(id + 1 AS INT) AS q")
    source.write.format("delta").mode("append").save(str(table))
    before, version = rows(spark, table), len(commits(table))

    with pytest.raises(StatementError) as violated:
        lakeprune.update(table, {"q": "q - 5"}, where="id < 10", spark=spark).execute()
    assert violated.value.code == "LP410"
    assert "CHECK constraint positive (q > 0) violated by row with values: - q :" in str(violated.value)
    assert "\tat " not in str(violated.value)
    assert (rows(spark, table), len(commits(table))) == (before, version), "nothing was committed"

    for column, word in (("g", "generated as CAST(d AS DATE)"), ("i", "an identity column")):
        with pytest.raises(StatementError, match="cannot be set") as refused:
            lakeprune.update(table, {column: "NULL"}, where="id = 1", spark=spark)
        assert word in str(refused.value)
    done = lakeprune.update(table, {"d": "d + INTERVAL 10 DAYS"}, where="id = 5", spark=spark).execute()
    assert done.passed, done.to_text()
    moved = json.loads(next(row for row in rows(spark, table) if '"id":5,' in row))
    assert (moved["g"], moved["i"]) == ("1970-01-11", json.loads(next(row for row in before if '"id":5,' in row))["i"])


@only_whole
def test_tables_of_deltalake_and_files_without_statistics(spark: SparkSession, tmp_path: Path) -> None:
    table = tmp_path / "rust"
    for start in (0, 100, 200):
        data = pa.table({"id": range(start, start + 100), "place": [f"a b/{start}%é"] * 100, "v": [1.5] * 100})
        write_deltalake(table, data, mode="append", partition_by=["place"])
    both_ways(spark, table, "id IN (50, 250)", {"v": "v * 2"})
    both_ways(spark, table, "place LIKE 'a b/2%'", None)
    assert DeltaTable(table).to_pyarrow_table().num_rows == 200

    silent = spark.newSession()
    silent.conf.set("spark.databricks.delta.stats.collect", "false")
    bare = tmp_path / "bare"
    silent.range(0, 40, 1, 4).selectExpr("id", "id DIV 10 AS p").write.format("delta").partitionBy("p").save(str(bare))
    whole = lakeprune.delete(bare, where="p = 3", spark=spark, max_rows=100)
    assert (whole.effects.removed.files, whole.effects.deleted) == (1, None)
    assert "an unknown number of rows" in whole.to_text()
    assert not whole.passed, "a limit that cannot be checked is not kept"
    assert lakeprune.delete(bare, where="p = 3", spark=spark).execute().passed
    counted = lakeprune.delete(bare, where="p = 2 AND id >= 0", spark=spark)
    assert (counted.skipping.undecided.files, counted.effects.deleted) == (1, 10), "without statistics the file is read"
    assert counted.execute().passed


@only_whole
def test_a_table_of_another_file_system_is_planned_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    """Hadoop's own mount table stands for any store that only Spark reaches."""
    table = events(spark, tmp_path / "events", 3)
    mine = spark.newSession()
    mine.conf.set("fs.viewfs.mounttable.lake.link./here", f"file://{tmp_path}")
    location = "viewfs://lake/here/events"
    plan = lakeprune.update(location, {"v": "-1"}, where="id IN (5, 205)", spark=mine)
    assert plan.target.planner.engine.name == "spark"
    assert (plan.skipping.candidates.files, plan.effects.updated, plan.effects.copied) == (2, 2, 198)
    done = plan.execute()
    assert done.passed, done.to_text()
    assert spark.read.format("delta").load(str(table)).where("v = -1").count() == 2
    assert lakeprune.delete(location, where="v = -1 AND id + 1 = 6", spark=mine).execute().passed
