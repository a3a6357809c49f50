"""MERGE on tables of every kind: what Delta's own SQL makes of a copy is what it makes, and the commit is as planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import DataFrame, SparkSession

import lakeprune
from lakeprune.apps.statements.execution import Execution
from lakeprune.apps.statements.model import Status
from lakeprune.cli.main import main
from lakeprune.errors import StatementError
from tests.scope import IS_WHOLE, only_whole
from tests.spark.merges import Clauses, merge_sql
from tests.spark.statements import EVENTS, actions, changes, commits, copied, events, rows

pytestmark = pytest.mark.spark
VECTORS = "'delta.enableDeletionVectors' = 'true'"
PLAIN = "'delta.enableDeletionVectors' = 'false'"
MAPPED = "'delta.columnMapping.mode' = 'name'"
FEED = "'delta.enableChangeDataFeed' = 'true'"
KINDS: dict[str, dict[str, Any]] = {
    "flat": {"properties": PLAIN},
    "flat with deletion vectors": {"properties": VECTORS},
    "partitioned": {"by": "p", "properties": PLAIN},
    "partitioned, mapped, with deletion vectors": {"by": "p", "properties": f"{MAPPED}, {VECTORS}"},
    "mapped": {"properties": f"{MAPPED}, {PLAIN}"},
    "with a change feed": {"by": "p", "properties": f"{FEED}, {PLAIN}"},
    "with a change feed and deletion vectors": {"properties": f"{FEED}, {VECTORS}"},
    "clustered": {"by": "CLUSTER BY (id)", "properties": PLAIN},
    "clustered by a field, with deletion vectors": {"by": "CLUSTER BY (st.x, p)", "properties": VECTORS},
}
ALL_CLAUSES: Clauses = (
    ("when_matched_delete", "AND s.op = 'd'"),
    ("when_matched_update", "AND s.op = 'u' THEN v = s.v + t.v, st.y = concat(t.st.y, '!'), n = NULL"),
    ("when_matched_update", "AND t.id % 2 = 0 THEN ts = s.ts + INTERVAL 1 DAY"),
    ("when_not_matched_insert", "AND s.op = 'u' THEN id = s.id, p = s.p, st = s.st"),
    ("when_not_matched_insert", "AND s.op = 'k' THEN all"),
)
BY_SOURCE: Clauses = (
    ("when_matched_update", "all"),
    ("when_not_matched_insert", "all"),
    ("when_not_matched_by_source_update", "AND t.id < 20 THEN v = 100, st.x = t.st.x + 1000"),
    ("when_not_matched_by_source_delete", "AND t.id > 390"),
)
MERGES: tuple[tuple[str, Clauses], ...] = (
    ("t.id = s.id", ALL_CLAUSES),
    ("t.st.x = s.st.x AND t.p = s.p", ALL_CLAUSES[:4]),
    ("t.st.x = s.id", BY_SOURCE),
)
SHARE = {"partitioned, mapped, with deletion vectors": MERGES[:1]}


def some_changes(spark: SparkSession, *ids: int) -> DataFrame:
    """A row for each id, to be deleted, updated or kept in turn, in one file."""
    op = "element_at(array('d', 'u', 'k'), CAST(id % 3 + 1 AS INT)) AS op"
    return spark.createDataFrame([(i,) for i in ids], "id BIGINT").coalesce(1).selectExpr(*EVENTS, op)


def both_ways(spark: SparkSession, table: Path, source: DataFrame, on: str, clauses: Clauses) -> Execution:
    """The MERGE through lakeprune, and by SQL on a copy: the same rows, files, numbers and change feed."""
    plain = copied(table, f"{table.name}_plain_{len(commits(table))}")
    source.createOrReplaceTempView("source_rows")
    spark.sql(merge_sql(plain, on, clauses))
    done = lakeprune.merge(table, source, on=on, spark=spark, clauses=clauses).execute()
    assert done.passed, done.to_text()
    assert done.status is Status.COMMITTED
    assert rows(spark, table) == rows(spark, plain)
    removed = {action["path"] for action in actions(table, "remove")}
    assert removed == {action["path"] for action in actions(plain, "remove")}
    assert len(removed) == done.plan.effects.touched.files > 0
    ours, theirs = (actions(path, "commitInfo")[0]["operationMetrics"] for path in (table, plain))
    reported = [
        name for name in ours if name.startswith("num") and not name.endswith("BytesAdded") and name != "numTargetFilesAdded"
    ]
    assert {name: ours[name] for name in reported} == {name: theirs[name] for name in reported}
    if actions(table, "cdc"):
        assert changes(spark, table) == changes(spark, plain)
    return done


@pytest.mark.parametrize("kind", KINDS if IS_WHOLE else SHARE)
def test_a_merge_does_what_sql_does(kind: str, spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "tab le é", 4, **KINDS[kind])
    if "mapped" in kind:
        spark.sql(f"ALTER TABLE delta.`{table}` RENAME COLUMN v TO other")
        spark.sql(f"ALTER TABLE delta.`{table}` RENAME COLUMN other TO v")
    for number, (on, clauses) in enumerate(MERGES if IS_WHOLE else SHARE[kind]):
        source = some_changes(spark, *range(95 + number, 105), *range(1000, 1006))
        done = both_ways(spark, table, source, on, clauses)
        if clauses is not BY_SOURCE:
            found, written = done.plan.strengthening.scanned, done.plan.strengthening.as_written
            assert found is not None
            assert written is not None
            assert found.files < written.files, "the keys are of two files"
        if "feed" in kind:
            assert changes(spark, table), "the feed has rows"


def made(spark: SparkSession, table: Path, identity: str) -> Path:
    """Two files of a table that makes some of its values itself, and refuses others."""
    columns = (
        "id BIGINT NOT NULL, d TIMESTAMP, g DATE GENERATED ALWAYS AS (CAST(d AS DATE)), "
        f"i BIGINT GENERATED {identity} AS IDENTITY, q INT"
    )
    spark.sql(f"CREATE TABLE delta.`{table}` ({columns}) USING delta PARTITIONED BY (g)")
    spark.sql(f"ALTER TABLE delta.`{table}` ADD CONSTRAINT positive CHECK (q > 0)")
    source = spark.range(0, 48, 1, 1).selectExpr("id", "timestamp_seconds(id * 3600) AS d", "CAST(id + 1 AS INT) AS q")
    source.write.format("delta").mode("append").save(str(table))
    return table


def hours(spark: SparkSession, *ids: int) -> DataFrame:
    """Rows whose moment lies on another day than that of the row with their id."""
    return spark.createDataFrame([(i,) for i in ids], "id BIGINT").coalesce(1).selectExpr(
        "id", "timestamp_seconds(id * 7200) AS d", "CAST(id + 5 AS INT) AS q"
    )  # fmt: skip


@only_whole
@pytest.mark.parametrize("identity", ["ALWAYS", "BY DEFAULT"] if IS_WHOLE else ["ALWAYS"])
def test_constraints_generated_and_identity_columns_are_kept_by_a_merge(
    identity: str, spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    table = made(spark, tmp_path / "made", identity)
    source = hours(spark, 3, 30, 100)
    on, version = "t.id = s.id", len(commits(table))
    before = rows(spark, table)

    def refusal(*clauses: tuple[str, str]) -> StatementError:
        with pytest.raises(StatementError) as caught:
            lakeprune.merge(table, source, on=on, spark=spark, clauses=clauses).execute()
        assert (rows(spark, table), len(commits(table))) == (before, version), "nothing was committed"
        assert "\tat " not in str(caught.value)
        return caught.value

    null = refusal(("when_not_matched_insert", "d = s.d, q = s.q"))
    assert (null.code, "NOT NULL constraint violated for column: id" in str(null)) == ("LP410", True), str(null)
    for column, word in (("g", "generated as CAST(d AS DATE)"), ("i", "an identity column")):
        assert f"{column} cannot be set: it is {word}" in str(refusal(("when_matched_update", f"{column} = NULL")))
    if identity == "ALWAYS":
        own = refusal(("when_not_matched_insert", "id = s.id, q = s.q, i = 7"))
        assert (own.code, "GENERATED ALWAYS AS IDENTITY column i" in str(own)) == ("LP406", True), str(own)

    changes_file = tmp_path / "changes"
    source.write.parquet(str(changes_file))
    command = ["merge", str(table), "--source", str(changes_file), "--on", on, "--execute"]
    assert main([*command, "--when-matched-update", "q = s.q", "--when-not-matched-insert", "id = s.id, q = -s.q"]) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert "error[LP410] the statement failed, and nothing was changed" in said.err
    assert "CHECK constraint positive (q > 0) violated by row with values: - q : -105" in said.err
    assert (rows(spark, table), len(commits(table))) == (before, version)

    insert = "id = s.id, d = s.d, q = s.q" + (", i = 7000" if identity == "BY DEFAULT" else "")
    both_ways(spark, table, source, on, (("when_matched_update", "d = s.d, q = t.q + 1"), ("when_not_matched_insert", insert)))
    after = spark.read.format("delta").load(str(table))
    assert after.where("g <> CAST(d AS DATE) OR q <= 0 OR i IS NULL").count() == 0
    assert after.count() == after.select("i").distinct().count() == 49


@only_whole
def test_a_merge_into_a_table_of_deltalake(spark: SparkSession, tmp_path: Path) -> None:
    table = tmp_path / "rust"
    for start in (0, 100, 200):
        data = pa.table({"id": range(start, start + 100), "place": [f"a b/{start}%é"] * 100, "v": [1.5] * 100})
        write_deltalake(table, data, mode="append", partition_by=["place"])
    source = spark.createDataFrame(
        [(50, "a b/0%é", 2.5), (250, "a b/200%é", 3.5), (900, "new", 4.5)], "id BIGINT, place STRING, v DOUBLE"
    )
    upsert: Clauses = (("when_matched_update", "all"), ("when_not_matched_insert", "all"))
    done = both_ways(spark, table, source.coalesce(1), "t.id = s.id AND t.place = s.place", upsert)
    assert done.plan.strengthening.scanned is not None
    assert done.plan.strengthening.scanned.files == 2
    both_ways(
        spark, table, source.limit(1), "t.id = s.id", (*BY_SOURCE[:2], ("when_not_matched_by_source_delete", "AND t.id > 290"))
    )
    assert DeltaTable(table).to_pyarrow_table().num_rows == 291
