"""Run with the Python of another line of Spark: what lakeprune does there, as JSON in found.json.

In: an empty folder, where that is written. Out: for each part of lakeprune that meets Spark "ok", or the error that says why
not; anything else that is raised stops the run. Needs nothing of the tests: its environment has lakeprune, PySpark and Delta.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyspark
from delta import DeltaTable, configure_spark_with_delta_pip
from pyspark.sql import SparkSession

import lakeprune
import lakeprune.spark

WHERE = "region = 'EU' AND id + 1 > 60"


def session() -> SparkSession:
    builder: Any = SparkSession.builder
    settings = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark: SparkSession = configure_spark_with_delta_pip(builder.master("local[2]")).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def write(spark: SparkSession, place: Path) -> str:
    """Ten files of ten rows: five of EU with ids from 0 to 99 in tens, five of US."""
    for start in range(0, 100, 10):
        region = "EU" if start % 20 == 0 else "US"
        rows = spark.range(start, start + 10, numPartitions=1).selectExpr("id", f"'{region}' AS region", "id * 1.5D AS v")
        rows.write.format("delta").mode("append").partitionBy("region").save(str(place))
    return str(place)


def explained(spark: SparkSession, table: str) -> None:
    here, there = lakeprune.explain(table, WHERE), lakeprune.explain(table, WHERE, spark=spark)
    assert (here.kept_files, there.kept_files, there.total_files) == (2, 2, 10)
    assert [file.path for file in here.kept] == [file.path for file in there.kept]


def conditions(spark: SparkSession, table: str) -> None:
    """What lakeprune does not know on partition columns, Spark evaluates."""
    assert lakeprune.explain(table, "soundex(region) = soundex('EU')", spark=spark).kept_files == 5


def frames(spark: SparkSession, table: str) -> None:
    frame = spark.read.format("delta").load(table).where(WHERE)
    (report,) = lakeprune.spark.explain(frame).reports
    assert (report.kept_files, report.total_files) == (2, 10)


def verified(spark: SparkSession, table: str) -> None:
    assert lakeprune.verify(table, WHERE, spark=spark).passed


def sharpened(spark: SparkSession, table: str) -> None:
    frame = spark.read.format("delta").load(table).where(WHERE)
    assert sorted(lakeprune.spark.sharpen(frame).collect()) == sorted(frame.collect())


def planned(spark: SparkSession, table: str) -> None:
    rows = lakeprune.plan(table, WHERE).to_spark(spark)
    assert rows.count() == 20


def updated(spark: SparkSession, table: str) -> None:
    done = lakeprune.update(table, {"v": "-1"}, where="region = 'EU' AND id >= 85", spark=spark).execute()
    assert done.result == "committed"
    assert DeltaTable.forPath(spark, table).toDF().where("v = -1").count() == 5


def deleted(spark: SparkSession, table: str) -> None:
    lakeprune.delete(table, where="id = 7", spark=spark).execute()
    assert DeltaTable.forPath(spark, table).toDF().count() == 99


def merged(spark: SparkSession, table: str) -> None:
    source = spark.createDataFrame([(8, "EU", 0.0), (1000, "EU", 0.0)], "id BIGINT, region STRING, v DOUBLE")
    clauses = [("when_matched_update", {"v": "s.v"}), ("when_not_matched_insert", "all")]
    lakeprune.merge(table, source, on="t.id = s.id AND t.region = s.region", spark=spark, clauses=clauses).execute()
    assert DeltaTable.forPath(spark, table).toDF().count() == 100


PARTS: dict[str, Callable[[SparkSession, str], None]] = {
    "explain on the Spark engine": explained,
    "conditions that Spark evaluates": conditions,
    "spark.explain(df)": frames,
    "verify": verified,
    "spark.sharpen(df)": sharpened,
    "plan to Spark": planned,
    "update": updated,
    "delete": deleted,
    "merge": merged,
}


def main(folder: str) -> None:
    spark = session()
    table = write(spark, Path(folder) / "table")
    found = {"spark": pyspark.__version__}
    for name, part in PARTS.items():
        try:
            part(spark, table)
        except lakeprune.LakepruneError as error:
            found[name] = str(error)
        else:
            found[name] = "ok"
    spark.stop()
    Path(folder, "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
