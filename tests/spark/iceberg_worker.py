"""Iceberg tables written by Iceberg's own Spark runtime, in a process of its own: its jar must be there when the session starts.

Prints one JSON object: per table its folder, and the live rows of each data file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

PACKAGE = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
TRANSFORMS = {
    "i": ("bucket(4, i)", "truncate(10, i)", "i"),
    "s": ("bucket(4, s)", "truncate(2, s)", "s"),
    "d": ("years(d)", "months(d)", "days(d)", "bucket(4, d)"),
    "ts": ("years(ts)", "months(ts)", "days(ts)", "hours(ts)", "ts"),
    "m": ("truncate(50, m)", "m"),
    "x": ("x",),
}
ROWS = """
  (1, -11, 'a', DATE'1969-12-31', TIMESTAMP'1969-12-31 23:59:59.999999', 1.25, CAST('NaN' AS DOUBLE)),
  (2, -1, 'ab', DATE'1970-01-01', TIMESTAMP'1970-01-01 00:00:00', -10.65, CAST('-0.0' AS DOUBLE)),
  (3, 0, 'abc', DATE'2024-02-29', TIMESTAMP'2024-02-29 12:30:00.123456', 10.65, 1.5),
  (4, 2147483647, 'zzzzzzzzzzzzzzzzzzzzzzzzz', DATE'2024-03-01', TIMESTAMP'2024-03-01 00:00:00', 99.99, -1.0e300),
  (5, NULL, NULL, NULL, NULL, NULL, NULL)
"""  # fmt: skip
_AS_FILES = "'write.delete.mode'='merge-on-read'"
COLUMNS = "n INT, i INT, s STRING, d DATE, ts TIMESTAMP_NTZ, m DECIMAL(9,2), x DOUBLE"


def main(folder: Path) -> None:
    settings = {
        "spark.jars.packages": PACKAGE,
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.local": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.local.type": "hadoop",
        "spark.sql.catalog.local.warehouse": str(folder),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    builder = SparkSession.builder.master("local[1]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    names = [*_by_transform(spark), *_by_history(spark)]
    found = {}
    for name in names:
        counts = spark.sql(f"SELECT _file, count(*) FROM local.db.{name} GROUP BY _file").collect()
        found[name] = {"folder": str(folder / "db" / name), "live": {row[0]: row[1] for row in counts}}
    sys.stdout.write("TABLES " + json.dumps(found))
    spark.stop()


def _by_transform(spark: SparkSession) -> list[str]:
    names = []
    for column, transforms in TRANSFORMS.items():
        for place, transform in enumerate(transforms):
            name = f"t_{column}_{place}"
            spark.sql(f"CREATE TABLE local.db.{name} ({COLUMNS}) USING iceberg PARTITIONED BY ({transform})")
            spark.sql(f"INSERT INTO local.db.{name} VALUES {ROWS}")
            names.append(name)
    return names


def _by_history(spark: SparkSession) -> list[str]:
    """One table through v1, v2 and v3, with specs, names and types that change; deletes; and an empty one."""
    history = [
        f"CREATE TABLE local.db.history ({COLUMNS}) USING iceberg TBLPROPERTIES ('format-version'='1')",
        f"INSERT INTO local.db.history VALUES {ROWS}",
        "ALTER TABLE local.db.history ADD PARTITION FIELD days(ts)",
        f"ALTER TABLE local.db.history SET TBLPROPERTIES ('format-version'='2', {_AS_FILES})",
        "ALTER TABLE local.db.history ALTER COLUMN i TYPE BIGINT",
        "ALTER TABLE local.db.history RENAME COLUMN s TO was_s",
        "ALTER TABLE local.db.history ADD COLUMN s INT",
        "INSERT INTO local.db.history SELECT n, i, was_s, d, ts, m, x, 7 FROM local.db.history",
        "ALTER TABLE local.db.history DROP PARTITION FIELD days(ts)",
        "ALTER TABLE local.db.history ADD PARTITION FIELD truncate(1, was_s)",
        "INSERT INTO local.db.history SELECT n, i, was_s, d, ts, m, x, 8 FROM local.db.history WHERE s = 7",
        "DELETE FROM local.db.history WHERE n = 3 AND s IS NULL",
        "ALTER TABLE local.db.history DROP COLUMN m",
        "ALTER TABLE local.db.history SET TBLPROPERTIES ('format-version'='3')",
        "INSERT INTO local.db.history SELECT n, i, was_s, d, ts, x, 9 FROM local.db.history WHERE s = 7",
        "DELETE FROM local.db.history WHERE n = 3 AND s = 9",
        f"CREATE TABLE local.db.vectors ({COLUMNS}) USING iceberg TBLPROPERTIES ('format-version'='3', {_AS_FILES})",
        f"INSERT INTO local.db.vectors SELECT /*+ COALESCE(1) */ * FROM VALUES {ROWS}",
        "DELETE FROM local.db.vectors WHERE n IN (2, 3)",
        f"CREATE TABLE local.db.nothing ({COLUMNS}) USING iceberg",
    ]
    for statement in history:
        spark.sql(statement)
    return ["history", "vectors", "nothing"]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
