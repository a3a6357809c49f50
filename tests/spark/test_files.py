"""Chosen files of a Delta table: exactly their live rows, under the table's names, and no other file is opened."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.engines.spark.engine import clone
from lakeprune.engines.spark.failures import row_errors
from lakeprune.errors import TableError
from lakeprune.formats.delta.spark_files import read_files

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def visits(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four files in two partitions whose names need escaping; deletion vectors, mapped and renamed columns."""
    path = tmp_path_factory.mktemp("files") / "the visits"
    properties = "'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true'"
    spark.sql(
        f"CREATE TABLE delta.`{path}` (id BIGINT, ts TIMESTAMP, place STRING) USING delta "
        f"PARTITIONED BY (place) TBLPROPERTIES ({properties})"
    )
    for start in (0, 100):
        columns = ("id", "timestamp_seconds(id) AS ts", "if(id % 2 = 0, 'a b', 'x%25/ü') AS place")
        spark.range(start, start + 100).selectExpr(*columns).coalesce(1).write.format("delta").mode("append").save(str(path))
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id IN (3, 5, 104)")
    spark.sql(f"ALTER TABLE delta.`{path}` RENAME COLUMN id TO number")
    return path


def test_chosen_files_give_their_live_rows_and_are_the_only_ones_opened(visits: Path, spark: SparkSession) -> None:
    version, paths = 4, recorded(visits)
    assert len(paths) == 4
    table = spark.read.format("delta").load(str(visits))
    for chosen in ([paths[0]], paths[1:3], paths):
        rows = read_files(spark, str(visits), version, chosen)
        assert rows.columns == ["number", "ts", "place"]
        expected = table.where(table["_metadata.file_name"].isin([path.rsplit("/", 1)[-1] for path in chosen]))
        assert sorted(rows.collect()) == sorted(expected.collect())
    broken = visits / unquote(paths[0])
    whole = broken.read_bytes()
    try:
        broken.unlink()
        assert read_files(spark, str(visits), version, paths[1:]).count() > 0
        with pytest.raises(TableError) as gone, row_errors(str(visits)):
            read_files(spark, str(visits), version, paths).select("number").collect()
        assert gone.value.code == "LP340"
        assert unquote(paths[0]).rsplit("/", 1)[-1] in str(gone.value.where)
    finally:
        broken.write_bytes(whole)


def test_the_frame_lives_in_the_session_it_was_asked_of(visits: Path, spark: SparkSession) -> None:
    there = clone(spark)
    there.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    rows = read_files(there, str(visits), 4, recorded(visits))
    assert rows.selectExpr("hour(min(ts))").collect()[0][0] == 5
    assert spark.read.format("delta").load(str(visits)).selectExpr("hour(min(ts))").collect()[0][0] == 0


def test_a_file_that_the_version_does_not_have_is_refused(visits: Path, spark: SparkSession) -> None:
    with pytest.raises(TableError, match="1 of the 2 files"):
        read_files(spark, str(visits), 4, [recorded(visits)[0], "no-such.parquet"])


def recorded(table: Path) -> list[str]:
    """The paths of the table's files as its log has them."""
    return [file.path for file in lakeprune.explain(table).files]
