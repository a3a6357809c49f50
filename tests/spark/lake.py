"""A small lake that Delta Spark wrote: a partitioned table, one with deletion vectors and renamed columns, plain Parquet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

_ORDERS = (
    "id", "cast(id DIV 100 AS int) AS batch", "cast(id DIV 100 % 2 AS int) AS p",
    "concat(chr(97 + cast(id DIV 100 AS int)), id) AS s",
    "timestamp'2023-01-01 00:00:00' + make_dt_interval(cast(id DIV 100 * 70 AS int), 0, 0, id % 100) AS ts",
    "cast(date'2023-01-01' + cast(id DIV 100 * 70 AS int) AS date) AS d", "cast(id AS decimal(10, 2)) AS price",
    "named_struct('x', id, 'y', 'f') AS st", "if(id % 3 = 0, null, id) AS n",
)  # fmt: skip

_T20 = (
    "id", "CAST(id DIV 100 % 4 AS INT) AS p", "CAST(id DIV 100 AS INT) AS i", "CAST(id AS DOUBLE) / 10 AS v", "id AS a",
    "TIMESTAMP'2023-01-01' + make_dt_interval(CAST(37 * (id DIV 100) AS INT), 0, 0, id % 100) AS ts",
    "CAST(TIMESTAMP'2023-01-01' + make_dt_interval(CAST(37 * (id DIV 100) AS INT)) AS TIMESTAMP_NTZ) AS tn",
    "DATE'2023-01-01' + CAST(37 * (id DIV 100) AS INT) AS d", "CAST(id AS DECIMAL(12, 2)) AS dec",
    "concat(chr(97 + CAST(id DIV 100 AS INT)), lpad(id % 100, 2, '0')) AS s", "id % 2 = 0 AS bb",
    "CASE WHEN id DIV 100 % 5 <> 0 THEN id END AS n", "named_struct('x', id, 'y', chr(97 + CAST(id DIV 100 AS INT))) AS st",
    "CASE WHEN id DIV 100 % 5 <> 0 THEN concat('w', id) END AS ns", "id AS z",
)  # fmt: skip


@dataclass(frozen=True)
class Lake:
    orders: str  # ten files of 100 rows in two partitions; a second version appends two more
    customers: str  # two files, one with a deletion vector, and a column that was renamed
    events: str  # plain Parquet, partitioned by p

    def frame(self, spark: SparkSession) -> DataFrame:
        return spark.read.format("delta").load(self.orders)


def write_lake(spark: SparkSession, folder: Path) -> Lake:
    lake = Lake(str(folder / "orders"), str(folder / "customers"), str(folder / "events"))
    rows = spark.range(1000).selectExpr(*_ORDERS)
    rows.repartitionByRange(10, "id").write.format("delta").partitionBy("p").save(lake.orders)
    more = spark.range(1000, 1200).selectExpr(*_ORDERS).repartitionByRange(2, "id")
    more.write.format("delta").mode("append").save(lake.orders)
    rows.repartitionByRange(4, "id").write.partitionBy("p").parquet(lake.events)
    properties = "'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true'"
    spark.sql(f"CREATE TABLE delta.`{lake.customers}` (id BIGINT, nick STRING) USING delta TBLPROPERTIES ({properties})")
    people = spark.range(200).selectExpr("id", "concat('c', id) AS nick").repartitionByRange(2, "id")
    people.write.format("delta").mode("append").save(lake.customers)
    spark.sql(f"DELETE FROM delta.`{lake.customers}` WHERE id = 7")
    spark.sql(f"ALTER TABLE delta.`{lake.customers}` RENAME COLUMN nick TO name")
    return lake


def write_t20(spark: SparkSession, place: Path) -> Path:
    """20 files of 100 rows, in order; `z` lies behind the indexed columns."""
    indexed = "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '15')"
    nothing = f"SELECT {', '.join(_T20)} FROM range(0, 1) WHERE false"
    spark.sql(f"CREATE TABLE delta.`{place}` USING delta PARTITIONED BY (p) {indexed} AS {nothing}")
    spark.range(0, 2000, 1, 20).selectExpr(*_T20).write.format("delta").mode("append").save(str(place))
    return place
