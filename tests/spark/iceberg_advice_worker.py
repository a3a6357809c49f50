"""The advice of diagnoses on Iceberg tables, executed as printed: by Iceberg's own Spark runtime, in a process of its own.

Prints one JSON object: per case what was diagnosed, and how many files the predicate keeps before and after; and the scan report
of one table as Iceberg's own parser writes it again. The catalog is called `catalog`, as the statements call it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import lakeprune
from tests.spark.iceberg_worker import PACKAGE

_TEXT = "concat('mission-of-the-day-', lpad(id, 4, '0')) AS s"
_FOUR = f"SELECT CAST(id AS INT) AS id, CAST(id DIV 250 AS INT) AS part, {_TEXT} FROM range(1000)"
_COLUMNS = "id INT, part INT, s STRING"
_NONE = "'write.metadata.metrics.default'='none'"
_VECTORS = "'format-version'='3', 'write.delete.mode'='merge-on-read'"
_MANIFESTS = "'commit.manifest-merge.enabled'='false', 'commit.manifest.target-size-bytes'='3000'"
_WIDE = ", ".join(f"c{number} INT" for number in range(103))
_SHUFFLED = "SELECT CAST(hash(id) AS BIGINT) AS k, sha2(CAST(id AS STRING), 256) AS pad FROM range({0}, {0} + 4000)"

# name: statements that make the table, the predicate, the diagnosis whose advice is followed
CASES: dict[str, tuple[list[str], str, str]] = {
    "bucketed": (
        [f"CREATE TABLE {{}} ({_COLUMNS}) USING iceberg PARTITIONED BY (bucket(4, id))", f"INSERT INTO {{}} {_FOUR}"],
        "id < 100",
        "TRANSFORM_HIDES_RANGE",
    ),
    "no_metrics": (
        [
            f"CREATE TABLE {{}} ({_COLUMNS}) USING iceberg PARTITIONED BY (part) TBLPROPERTIES ({_NONE})",
            f"INSERT INTO {{}} {_FOUR}",
        ],
        "id < 100",
        "METRICS_MISSING",
    ),
    "column_104": (
        [
            f"CREATE TABLE {{}} ({_WIDE}, {_COLUMNS}) USING iceberg PARTITIONED BY (part)",
            f"INSERT INTO {{}} (id, part, s) {_FOUR}",
        ],
        "id < 100",
        "METRICS_MISSING",
    ),
    "older": (
        [
            f"CREATE TABLE {{}} ({_COLUMNS}) USING iceberg PARTITIONED BY (part) TBLPROPERTIES ({_NONE})",
            f"INSERT INTO {{}} {_FOUR}",
            "ALTER TABLE {} UNSET TBLPROPERTIES ('write.metadata.metrics.default')",
        ],
        "id < 100",
        "METRICS_MISSING",
    ),
    "truncated": (
        [f"CREATE TABLE {{}} ({_COLUMNS}) USING iceberg PARTITIONED BY (part)", f"INSERT INTO {{}} {_FOUR}"],
        "s > 'mission-of-the-day-0900'",
        "METRICS_MISSING",
    ),
    "unordered": (
        [
            "CREATE TABLE {} (k BIGINT, pad STRING) USING iceberg TBLPROPERTIES ('write.target-file-size-bytes'='200000')",
            *(f"INSERT INTO {{}} {_SHUFFLED.format(4000 * number)}" for number in range(6)),
        ],
        "k > 2000000000",
        "WEAK_DATA_SKIPPING",
    ),
    "many_commits": (
        [
            f"CREATE TABLE {{}} ({_COLUMNS}) USING iceberg PARTITIONED BY (truncate(100, id)) TBLPROPERTIES ({_MANIFESTS})",
            *(f"INSERT INTO {{}} {_FOUR} WHERE id % 12 = {number}" for number in range(12)),
        ],
        "id < 100",
        "MANIFESTS_OVERLAP",
    ),
    "small": (
        [
            f"CREATE TABLE {{}} ({_COLUMNS}) USING iceberg",
            *(f"INSERT INTO {{}} {_FOUR} WHERE id % 6 = {number}" for number in range(6)),
        ],
        "id >= 0",
        "SMALL_FILES",
    ),
    "deleted": (
        [
            f"CREATE TABLE {{}} ({_COLUMNS}) USING iceberg PARTITIONED BY (part) TBLPROPERTIES ({_VECTORS})",
            f"INSERT INTO {{}} {_FOUR}",
            "DELETE FROM {} WHERE id BETWEEN 500 AND 600",
        ],
        "id BETWEEN 550 AND 599",
        "WIDE_BOUNDS_DELETION_VECTORS",
    ),
}


def main(folder: Path) -> None:
    settings = {
        "spark.jars.packages": PACKAGE,
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.catalog": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.catalog.type": "hadoop",
        "spark.sql.catalog.catalog.warehouse": str(folder),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    builder = SparkSession.builder.master("local[1]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    found = {name: _followed(spark, folder / "db" / name, *case) for name, case in CASES.items()}
    found["scan_report"] = _scan_report(spark, folder / "db" / "bucketed")
    sys.stdout.write("ADVICE " + json.dumps(found))
    spark.stop()


def _followed(spark: SparkSession, place: Path, statements: list[str], where: str, code: str) -> dict[str, Any]:
    for statement in statements:
        spark.sql(statement.format(f"catalog.db.{place.name}"))
    before = lakeprune.explain(str(place), where, explain_why=True)
    diagnosis = next((each for each in before.diagnoses or () if each.code == code), None)
    if diagnosis is None or diagnosis.rewrite is None:
        return {"codes": [each.code for each in before.diagnoses or ()], "before": _counts(before)}
    rows = spark.sql(f"SELECT count(*) FROM catalog.db.{place.name} WHERE {where}").collect()[0][0]
    for advice in diagnosis.rewrite.split("; "):
        spark.sql(advice)
    assert rows == spark.sql(f"SELECT count(*) FROM catalog.db.{place.name} WHERE {where}").collect()[0][0]
    after = lakeprune.explain(str(place), where, explain_why=True)
    return {
        "rows": rows,
        "before": _counts(before),
        "after": _counts(after),
        "manifests": [_manifests(before), _manifests(after)],
        "still": [each.code for each in after.diagnoses or ()],
        "numbers": diagnosis.numbers,
        "rewrite": diagnosis.rewrite,
        "messages": [f"{each.message} {each.suggestion} {each.rewrite or ''}" for each in before.diagnoses or ()],
    }


def _counts(report: lakeprune.Report) -> list[int]:
    return [report.numbers.kept.files, report.numbers.total.files]


def _manifests(report: lakeprune.Report) -> list[int | None]:
    return [report.summary.manifests_kept, report.summary.manifests_total]


def _scan_report(spark: SparkSession, place: Path) -> dict[str, Any]:
    text = lakeprune.explain(str(place), "id < 100 AND s LIKE 'mission%' AND part IN (1, 2)").to_scan_report()
    parser = spark._jvm.org.apache.iceberg.rest.requests.ReportMetricsRequestParser  # type: ignore[union-attr]  # py4j
    return {"ours": json.loads(text), "theirs": json.loads(parser.toJson(parser.fromJson(text)))}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
