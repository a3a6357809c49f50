"""The demo on Spark: delta-spark writes a table, a DataFrame is explained, a plan is compared with the rows.

One session for all of it. Where there is no Java it says how to get one and leaves the rest of the demo as it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import lakeprune
from lakeprune.engines.spark.session import SparkSettings, open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"
SETTINGS = (
    ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"),
    ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
    ("spark.sql.shuffle.partitions", "2"),
    ("spark.databricks.delta.snapshotPartitions", "2"),
    ("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),  # small tables: start fast, compile little
)
MARCH = "city = 'Rome' AND year(started) = 2024 AND month(started) = 3"


def show_spark(folder: Path) -> bool:
    """Whether everything went as announced; also when there is no Spark to be had, which is said."""
    print(f"\n{'=' * 100}\nOn Spark: a session with Delta's connector (the first time it is fetched, about a minute)", flush=True)
    try:
        spark = open_session(SparkSettings("local[2]", conf=SETTINGS, packages=DELTA))
    except lakeprune.UsageError as error:
        print(f"{error}\nThe part on Spark is left out; everything above works without it.")
        return True
    try:
        return show_trips(spark, folder / "trips")
    finally:
        spark.stop()


def show_trips(spark: SparkSession, table: Path) -> bool:
    """Write the table, explain, verify; whether the rows agree with the plan."""
    from lakeprune.spark import explain

    print("  trips       twenty-four files of a year in two cities, written by delta-spark", flush=True)
    write_trips(spark, table)
    print(f'\nA DataFrame, explained without running it:\n\n>>> trips.where("{MARCH}").groupBy("city").count()\n', flush=True)
    frame = spark.read.format("delta").load(str(table)).where(MARCH).groupBy("city").count()
    print(explain(frame).to_text())
    print(f'The plan compared with the rows:\n\n>>> lakeprune.verify("./trips", "{MARCH}", spark=spark)\n', flush=True)
    found = lakeprune.verify(table, MARCH, spark=spark)
    print(found.to_text())
    return found.passed


def write_trips(spark: SparkSession, table: Path) -> None:
    """Twelve files per city, each of about a month: a day has 48 trips in each city."""
    started = "timestamp'2024-01-01 00:00:00' + make_interval(0, 0, 0, 0, 0, 30 * id) AS started"
    trips = spark.range(366 * 48).selectExpr(
        "id", started, "cast(2 + id % 40 AS int) AS kilometres", "array('Rome', 'Oslo') AS c"
    )
    by_month = trips.selectExpr("id", "started", "kilometres", "explode(c) AS city").repartitionByRange(12, "started")
    by_month.sortWithinPartitions("city", "started").write.format("delta").partitionBy("city").save(str(table))
