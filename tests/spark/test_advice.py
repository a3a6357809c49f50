"""Every statement and condition that a diagnosis proposes is run on a copy of its table, and what it promises is reached."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

import lakeprune
from demo.tables import orders
from lakeprune.report.model import Diagnosis
from lakeprune.spark import explain
from tests.report.diagnosis.asking import found_diagnoses, one
from tests.scope import IS_WHOLE, only_whole

pytestmark = pytest.mark.spark
FULL = 20_000  # bytes that OPTIMIZE puts into a file here


@pytest.fixture(scope="module")
def sales(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six files per region: EU is written in order of x, US in none; `note` is text, `z` lies beyond the indexed columns."""
    path = tmp_path_factory.mktemp("advice") / "sales"
    rows = spark.range(12_000).selectExpr(
        "id", "IF(id % 2 = 0, 'EU', 'US') AS region", "(id * 7919) % 12000 AS x", "concat('n', id % 97) AS note", "id % 13 AS z"
    )
    eu = rows.where("region = 'EU'").repartitionByRange(6, "x")
    us = rows.where("region = 'US'").repartition(6)
    for number, frame in enumerate((eu, us)):
        writer = frame.write.format("delta").partitionBy("region").mode("append")
        if number == 0:
            writer = writer.option("delta.dataSkippingNumIndexedCols", "3")
        writer.save(str(path))
    return path


@pytest.fixture
def table(sales: Path, tmp_path: Path) -> Path:
    return shutil.copytree(sales, tmp_path / "sales")


def kept(table: Path, where: str) -> tuple[int, int]:
    """Files and bytes that metadata allows."""
    amount = lakeprune.explain(table, where).numbers.kept
    return amount.files, amount.bytes


def planned(spark: SparkSession, table: Path, where: str) -> int:
    """The files that Delta Spark plans to read."""
    frame = spark.read.format("delta").load(str(table)).where(where)
    (report,) = explain(frame, explain_why=False).reports
    (engine,) = report.engines
    assert engine.basis == "planned"
    return engine.files


def rows(spark: SparkSession, table: Path, where: str) -> tuple[int, int | None]:
    found = spark.read.format("delta").load(str(table)).where(where).agg(sql.count("*"), sql.sum("id")).first()
    assert found is not None
    return found[0], found[1]


def test_merged_files_are_as_few_as_promised(spark: SparkSession, table: Path) -> None:
    where = "region = 'US' AND x >= 0"
    found = one(table, where, "SMALL_FILES")
    before = rows(spark, table, where)
    assert found.rewrite is not None
    assert kept(table, where)[0] == found.numbers["kept_files"] == 6
    spark.sql(found.rewrite)
    assert kept(table, where)[0] <= int(found.numbers["files_after"])
    assert planned(spark, table, where) <= int(found.numbers["files_after"])
    assert kept(table, "region = 'EU' AND x = 5")[0] == 1, "the other partition was left alone"
    assert rows(spark, table, where) == before


def test_ordered_files_are_read_less_and_the_ordered_region_is_left_alone(spark: SparkSession, table: Path) -> None:
    session = spark.newSession()
    session.conf.set("spark.databricks.delta.allowArbitraryProperties.enabled", "true")
    session.conf.set("spark.databricks.delta.optimize.maxFileSize", str(FULL))
    session.conf.set("spark.databricks.delta.optimize.minFileSize", str(FULL))
    session.sql(f"ALTER TABLE delta.`{table}` SET TBLPROPERTIES ('delta.targetFileSize' = '{FULL}')")
    where = "x = 5000"
    found = one(table, where, "WEAK_DATA_SKIPPING")
    assert found.rewrite == f"OPTIMIZE delta.`{table}` WHERE region = 'US' ZORDER BY (x)"
    before = kept(table, where)
    ordered = {file.path for file in lakeprune.explain(table).files if "region=EU" in file.path}
    session.sql(found.rewrite)
    after = kept(table, where)
    assert after[1] < before[1], "fewer bytes"
    assert after[0] < before[0]
    assert {file.path for file in lakeprune.explain(table).files if "region=EU" in file.path} == ordered
    assert found_diagnoses(table, where, "WEAK_DATA_SKIPPING") == [], "the advice was good for one time"


@pytest.mark.parametrize(
    ("where", "code", "same_rows"),
    [
        ("x IN (5, 11990) AND region = 'EU'", "ENGINE_DIFFERS", True),
        ("x + 1 > 11900", "ENGINE_DIFFERS", True),
        ("region != 'EU'", "EXCLUDES_LITTLE", True),
        ("region = 'eu'", "NOTHING_LEFT", False),
        ("x = NULL", "NOTHING_LEFT", False),
        ("\"region\" = 'EU'", "CONTRADICTION", False),
        ("x >= 0", "ALWAYS_TRUE", True),
        ("CAST(x AS STRING) = '504'", "OPAQUE_EXPRESSION", True),
        ("x > 6000", "NO_PARTITION_FILTER", False),
    ][:: 1 if IS_WHOLE else 2],
)
def test_proposed_conditions_keep_what_is_promised(
    where: str, code: str, same_rows: bool, spark: SparkSession, sales: Path
) -> None:
    found = one(sales, where, code)
    assert found.rewrite is not None
    whole = f"({where}) AND {found.rewrite}" if code == "NO_PARTITION_FILTER" else found.rewrite
    if same_rows:
        assert rows(spark, sales, whole) == rows(spark, sales, where)
    for number, count in _promises(found):
        assert count == (planned(spark, sales, whole) if number.startswith("delta_spark") else kept(sales, whole)[0]), number


def _promises(found: Diagnosis) -> list[tuple[str, int]]:
    names = ("delta_spark_files_with_rewrite", "files_with_rewrite", "example_files")
    return [(name, int(found.numbers[name])) for name in names if name in found.numbers]


def test_branches_of_an_or_give_every_row_once(spark: SparkSession, sales: Path) -> None:
    where = "region = 'EU' OR x < 100"
    found = one(sales, where, "UNSPLITTABLE_OR")
    assert found.rewrite is not None
    assert spark.sql(found.rewrite).count() == rows(spark, sales, where)[0]
    for number in (1, 2):
        branch = str(found.numbers[f"branch_{number}"])
        assert found.numbers[f"branch_{number}_files"] == kept(sales, branch)[0] == planned(spark, sales, branch)


def test_excluding_nan_leaves_the_files_that_strict_keeps_for_it(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "floats"
    for values in ([1.0, 2.0], [3.0, float("nan")]):
        write_deltalake(path, pa.table({"id": [1, 2], "r": values}), mode="append")
    found = one(path, "r > 100", "UNDEFINED_NAN", nan_policy="strict")
    assert found.rewrite is not None
    assert lakeprune.explain(path, found.rewrite, nan_policy="strict").kept_files == found.numbers["files_with_rewrite"] == 0
    assert rows(spark, path, f"({found.rewrite}) OR isnan(r)") == rows(spark, path, "r > 2.5 AND id = 2")


@only_whole
def test_statistics_of_a_column_are_collected_after_the_setting_was_changed(spark: SparkSession, table: Path) -> None:
    found = one(table, "z = 5", "STATS_BEYOND_INDEXED_COLUMNS")
    assert found.rewrite is not None
    spark.sql(found.rewrite)
    spark.read.format("delta").load(str(table)).write.format("delta").mode("overwrite").save(str(table))
    assert found_diagnoses(table, "z = 5", "STATS_BEYOND_INDEXED_COLUMNS") == []
    assert found_diagnoses(table, "z = 5", "MISSING_STATS") == []


@only_whole
def test_bounds_are_tight_after_deleted_rows_are_purged(spark: SparkSession, table: Path) -> None:
    spark.sql(f"ALTER TABLE delta.`{table}` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    spark.sql(f"DELETE FROM delta.`{table}` WHERE region = 'EU' AND x > 1990 AND x < 9000 AND x % 3 = 0")
    found = one(table, "x = 5000", "WIDE_BOUNDS_DELETION_VECTORS")
    assert found.rewrite is not None
    spark.sql(found.rewrite)
    assert found_diagnoses(table, "x = 5000", "WIDE_BOUNDS_DELETION_VECTORS") == []


@only_whole
def test_a_clustered_table_is_clustered_by_the_proposed_column(spark: SparkSession, tmp_path: Path) -> None:
    table = tmp_path / "clustered"
    spark.sql(f"CREATE TABLE delta.`{table}` (id BIGINT, x BIGINT) USING delta CLUSTER BY (id)")
    spark.range(6000).selectExpr("id", "(id * 7919) % 6000 AS x").repartition(6).write.format("delta").mode("append").save(
        str(table)
    )
    session = spark.newSession()
    session.conf.set("spark.databricks.delta.allowArbitraryProperties.enabled", "true")
    session.sql(f"ALTER TABLE delta.`{table}` SET TBLPROPERTIES ('delta.targetFileSize' = '{FULL}')")
    found = one(table, "x = 3000", "WEAK_DATA_SKIPPING")
    assert found.rewrite == f"ALTER TABLE delta.`{table}` CLUSTER BY (x)"
    session.conf.set("spark.databricks.delta.optimize.maxFileSize", str(FULL))
    session.sql(found.rewrite)
    before = kept(table, "x = 3000")
    session.sql(f"OPTIMIZE delta.`{table}` FULL")
    assert kept(table, "x = 3000")[1] < before[1]


@only_whole
@pytest.mark.parametrize(
    "where", ["ordered_on = '2024-06-05'", "customer = 500", "region = 'eu'", "region != 'EU'", "total > 1e9"]
)
def test_both_engines_give_the_same_advice(where: str, spark: SparkSession, tmp_path: Path) -> None:
    table = orders(tmp_path / "orders")
    embedded = lakeprune.explain(table, where, explain_why=True)
    assert embedded.diagnoses
    assert lakeprune.explain(table, where, explain_why=True, spark=spark).diagnoses == embedded.diagnoses
