"""The change data feed by a plan: the rows of Delta Spark's own table_changes, of the commits that the plan keeps."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.apps.scan.options import ScanOptions
from lakeprune.errors import UsageError
from tests.spark.test_plan_to_spark import rows_of

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def feed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An insert, an update with cdc files, a delete by deletion vectors, whole files deleted."""
    place = tmp_path_factory.mktemp("feed") / "t"
    name = f"delta.`{place}`"
    on = "'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true'"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, p INT, v STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ({on})")
    spark.sql(f"INSERT INTO {name} SELECT id, CAST(id % 2 AS INT), 'old' FROM range(0, 40)")
    spark.sql(f"UPDATE {name} SET v = 'new' WHERE id = 3")
    spark.sql(f"DELETE FROM {name} WHERE id IN (4, 6)")
    spark.sql(f"DELETE FROM {name} WHERE p = 1")
    return place


@pytest.mark.parametrize(
    ("where", "first"),
    [(None, 1), ("_commit_version = 2", 1), ("id < 5 AND p = 0", 1), ("_change_type = 'delete' AND p = 1", 2), ("p = 7", 0)],
)
def test_rows_are_those_of_table_changes(where: str | None, first: int, feed: Path, spark: SparkSession) -> None:
    found = lakeprune.plan(feed, where, changes=True, from_version=first, to_version=4)
    whole = spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", first)
    expected = whole.option("endingVersion", 4).load(str(feed)).where(where or "TRUE")
    assert rows_of(found.to_spark(spark)) == rows_of(expected)
    assert [row["partition"]["_commit_timestamp"] is not None for row in found.files.select(["partition"]).to_pylist()].count(
        False
    ) == 0


def test_what_a_feed_cannot_say_is_refused(feed: Path, spark: SparkSession) -> None:
    found = lakeprune.plan(feed, changes=True, from_version=1)
    with pytest.raises(UsageError, match="which file a row comes from"):
        found.to_spark(spark, ScanOptions(file_column="file"))
