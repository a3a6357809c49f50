"""Delta Spark records NaN as the maximum whatever writes a file, so its own files need no assumption; those it takes over do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.formats.delta import nan_aware
from tests.scope import IS_WHOLE

pytestmark = pytest.mark.spark

COLUMNS = ("d", "f", "s.d")


def rows(low: int, high: int, nan: str) -> str:
    """Rows `low` to `high`; those that fulfil `nan` are NaN in every column."""
    d, f = f"if({nan}, double('NaN'), double(id))", f"if({nan}, float('NaN'), float(id))"
    return f"SELECT id, {d} AS d, {f} AS f, named_struct('d', {d}) AS s FROM range({low}, {high}, 1, 1)"


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nan") / "table"
    columns = "id BIGINT, d DOUBLE, f FLOAT, s STRUCT<d: DOUBLE>"
    name = f"delta.`{path}`"
    spark.sql(f"CREATE TABLE {name} ({columns}) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    for low, nan in ((0, "false"), (10, "id = 13"), (20, "true"), (30, "false"), (40, "id = 43")):
        spark.sql(f"INSERT INTO {name} {rows(low, low + 10, nan)}")
    spark.sql(f"DELETE FROM {name} WHERE id IN (3, 13)")  # deletion vectors; the second hides the only NaN of its file
    spark.sql(f"UPDATE {name} SET d = double('NaN'), f = 1, s = named_struct('d', 1D) WHERE id = 31")
    source = "SELECT 45 AS id UNION ALL SELECT 91"
    values = "double('NaN'), float('NaN'), named_struct('d', double('NaN'))"
    spark.sql(
        f"MERGE INTO {name} AS t USING ({source}) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET f = float('NaN') "
        f"WHEN NOT MATCHED THEN INSERT (id, d, f, s) VALUES (s.id, {values})"
    )
    return path


def adds(path: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every add of the log, with what its commit says of itself."""
    for commit in sorted((path / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        info = next(action["commitInfo"] for action in actions if "commitInfo" in action)
        yield from ((action["add"], info) for action in actions if "add" in action)


def truth(spark: SparkSession, path: Path, version: int, *wheres: str) -> list[set[str]]:
    """The files of a version, then those with a row that matches each condition, which is no filter that could skip them."""
    frame = spark.read.format("delta").option("versionAsOf", version).load(str(path))
    judged = [f"({where}) AS t{number}" for number, where in enumerate(wheres)]
    seen = frame.selectExpr("_metadata.file_name AS file", *judged).distinct().collect()
    return [{row.file for row in seen}, *({row.file for row in seen if row[f"t{n}"]} for n in range(len(wheres)))]


def dropped(path: Path | str, where: str, **options: Any) -> set[str]:
    report = lakeprune.explain(path, where, nan_policy="strict", **options)
    return {file.path.rsplit("/", 1)[-1] for file in report.files if not file.kept}


def test_a_file_with_nan_records_it_as_maximum_in_every_kind_of_write(table: Path, spark: SparkSession) -> None:
    seen = set()
    written = [*adds(table)]
    rows_written = spark.read.parquet(*{str(table / add["path"]) for add, _ in written})
    judged = [f"isnan({column}) AS `{column}`" for column in COLUMNS]
    found = rows_written.selectExpr("_metadata.file_name AS file", *judged).distinct().collect()
    for add, info in written:
        assert info["operation"] in nan_aware.WRITES
        assert info["operationMetrics"].get(nan_aware.WRITES[info["operation"]]) is not None
        stats = json.loads(add["stats"])
        for column in COLUMNS:
            has_nan = any(row[column] for row in found if row.file == add["path"])
            first, *rest = column.split(".")
            maximum = stats["maxValues"][first]
            for name in rest:
                maximum = maximum[name]
            assert (maximum == "NaN") == has_nan, (add, column)
            seen.add((info["operation"], has_nan))
    assert {("WRITE", True), ("WRITE", False), ("UPDATE", True), ("MERGE", True)} <= seen


@pytest.mark.parametrize("column", COLUMNS if IS_WHOLE else COLUMNS[-1:])
def test_no_file_with_a_match_is_dropped_and_all_without_nan_are(table: Path, spark: SparkSession, column: str) -> None:
    last = max(int(path.stem) for path in (table / "_delta_log").glob("*.json"))
    for version in range(5, last + 1):
        files, matching, with_nan = truth(spark, table, version, f"{column} > 1000", f"isnan({column})")
        assert matching, "some NaN is greater than everything"
        out = dropped(table, f"{column} > 1000", version=version)
        assert not out & matching
        assert out >= files - with_nan - _hides_nan(table)


def _hides_nan(path: Path) -> set[str]:
    """Files whose recorded maximum is NaN although no live row is."""
    return {add["path"] for add, _ in adds(path) if '"NaN"' in add["stats"]}


def test_optimize_reorg_and_overwrites_are_writes(spark: SparkSession, tmp_path: Path) -> None:
    name = f"delta.`{tmp_path / 'copy'}`"
    spark.sql(f"CREATE TABLE {name} USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true') AS {rows(0, 10, 'false')}")
    for step in (
        f"INSERT INTO {name} {rows(10, 20, 'false')}",
        f"OPTIMIZE {name}",
        f"DELETE FROM {name} WHERE id = 3",
        f"REORG TABLE {name} APPLY (PURGE)",
        f"INSERT OVERWRITE {name} {rows(0, 10, 'false')}",
        f"REPLACE TABLE {name} USING delta AS {rows(0, 10, 'false')}",
        f"CREATE OR REPLACE TABLE {name} USING delta AS {rows(0, 10, 'false')}",
    ):
        spark.sql(step)
        report = lakeprune.explain(tmp_path / "copy", "d > 1000 OR f > 1000 OR s.d > 1000", nan_policy="strict")
        assert (report.numbers.kept.files, report.numbers.total.files) == (0, report.numbers.total.files), step


def test_a_stream_is_a_write(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE delta.`{tmp_path / 'source'}` USING delta AS {rows(0, 10, 'false')}")
    stream = spark.readStream.format("delta").load(str(tmp_path / "source")).writeStream.format("delta")
    stream = stream.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
    stream.start(str(tmp_path / "sink")).awaitTermination()
    assert len(dropped(tmp_path / "sink", "d > 1000")) == 1


def test_what_delta_spark_takes_over_from_others_is_not_trusted(spark: SparkSession, tmp_path: Path) -> None:
    """deltalake leaves NaN out of the maximum; clones, deletions by vector and restores keep that."""
    data = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "d": pa.array([1.0, 2.0, float("nan")], pa.float64())})
    path, clone = tmp_path / "t", tmp_path / "clone"
    write_deltalake(str(path), data, configuration={"delta.enableDeletionVectors": "true"})
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id = 1")
    spark.sql(f"CREATE TABLE delta.`{clone}` SHALLOW CLONE delta.`{path}`")
    spark.sql(f"RESTORE TABLE delta.`{path}` TO VERSION AS OF 0")
    matching = truth(spark, path, 0, "isnan(d)")[1]  # for d > 1000 Delta Spark itself skips the file
    assert len(matching) == 1
    for version in range(3):
        assert not dropped(path, "d > 1000", version=version) & matching
    assert not dropped(clone, "d > 1000")
    operations = [info["operation"] for _, info in (*adds(path), *adds(clone))]
    assert operations == ["WRITE", "DELETE", "RESTORE", "CLONE"]


def test_the_control_bites_when_every_operation_counts(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the guard off, a clone of a table by deltalake loses the row that is NaN."""
    data = pa.table({"d": pa.array([1.0, 2.0, float("nan")], pa.float64())})
    write_deltalake(str(tmp_path / "t"), data)
    spark.sql(f"CREATE TABLE delta.`{tmp_path / 'clone'}` SHALLOW CLONE delta.`{tmp_path / 't'}`")
    monkeypatch.setitem(nan_aware.WRITES, "CLONE", "sourceNumOfFiles")
    assert dropped(tmp_path / "clone", "d > 1000")
