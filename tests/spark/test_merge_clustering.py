"""What a MERGE says about a table that liquid clustering has laid out: which column ON lacks, and what it would save."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.apps.statements.merge.model import Obstacle, ObstacleKind
from tests.scope import IS_WHOLE, only_whole

pytestmark = pytest.mark.spark
SOURCE = "SELECT 5L AS id, '5' AS word, named_struct('x', 5L, 'y', 'new') AS st"
MAPPED = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"


def clustered(spark: SparkSession, path: Path, by: str, properties: str = "") -> Path:
    """2,000 rows in no order, then OPTIMIZE, which lays them out by the columns of CLUSTER BY in several files."""
    columns = "id BIGINT, word STRING, st STRUCT<x: BIGINT, y: STRING>"
    spark.sql(f"CREATE TABLE delta.`{path}` ({columns}) USING delta CLUSTER BY ({by}) {properties}")
    rows = spark.range(0, 2000, 1, 2).selectExpr("id * 7919 % 2000 AS id").selectExpr(
        "id", "CAST(id AS STRING) AS word", "named_struct('x', id, 'y', CAST(id AS STRING)) AS st"
    )  # fmt: skip
    rows.write.format("delta").mode("append").save(str(path))
    small = spark.newSession()
    for setting in ("minFileSize", "maxFileSize"):
        small.conf.set(f"spark.databricks.delta.optimize.{setting}", "4000")
    small.sql(f"OPTIMIZE delta.`{path}` FULL")
    return path


def obstacles(spark: SparkSession, table: Path, on: str, source: str = SOURCE) -> tuple[int, list[Obstacle]]:
    """What Delta scans for the statement that is executed, and the notes about the layout."""
    plan = lakeprune.merge(table, source, on=on, spark=spark, when_matched_update="word = 'new'")
    assert plan.merge is not None
    scanned = plan.strengthening.scanned or plan.strengthening.as_written
    assert scanned is not None
    return scanned.files, [obstacle for obstacle in plan.merge.obstacles if obstacle.kind is ObstacleKind.NO_LAYOUT_KEY]


@only_whole
@pytest.mark.parametrize(("by", "properties"), [("id", ""), ("st.x", ""), ("id", MAPPED)] if IS_WHOLE else [("st.x", "")])
def test_an_equality_on_the_clustering_column_is_asked_for_and_helps(
    by: str, properties: str, spark: SparkSession, tmp_path: Path
) -> None:
    table = clustered(spark, tmp_path / "clustered", by, properties)
    total = spark.read.format("delta").load(str(table)).select("_metadata.file_path").distinct().count()
    assert total > 3
    files, (note,) = obstacles(spark, table, "t.id + 0 = s.id")
    assert files == total
    assert note.message == f"ON has no equality on {by}, by which the files are laid out"
    assert note.fix == f"if a row never changes its {by}, add  AND t.{by} = s.{by}  to ON"
    assert (note.files_before, note.files_after) == (total, 1)

    assert obstacles(spark, table, f"t.id + 0 = s.id AND t.{by} = s.{by}") == (1, [])
    if not IS_WHOLE:
        return
    assert obstacles(spark, table, f"t.id + 0 = s.id AND t.{by} BETWEEN 5 AND 6") == (1, []), "ON says something else about it"
    _, (lacking,) = obstacles(spark, table, "t.id + 0 = s.other", "SELECT 5L AS other")
    assert (lacking.files_before, lacking.fix) == (None, "give the source such a column, and ON an equality with it")


@only_whole
def test_where_other_columns_exclude_as_much_nothing_is_asked_for(spark: SparkSession, tmp_path: Path) -> None:
    table = clustered(spark, tmp_path / "clustered", "id")
    assert obstacles(spark, table, "t.st.x = s.st.x") == (1, [])
