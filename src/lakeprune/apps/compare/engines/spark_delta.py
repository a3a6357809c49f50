"""Spark with Delta's own connector."""

from __future__ import annotations

import re

from lakeprune.apps.compare.engines.ran import Asked, Ran

_SETTINGS = (
    ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"),
    ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
    ("spark.sql.session.timeZone", "UTC"),
    ("spark.ui.enabled", "false"),
    ("spark.sql.maxMetadataStringLength", "100000"),  # filters are shown whole
)


def run(asked: Asked) -> Ran:
    from lakeprune.engines.spark.packages import delta_package
    from lakeprune.engines.spark.session import SparkSettings, open_session

    spark = open_session(SparkSettings("local[2]", conf=_SETTINGS, packages=delta_package()))
    try:
        frame = spark.read.format("delta").load(asked.location).where(asked.predicate)
        rows = len(frame.collect())
        plan = frame._jdf.queryExecution().executedPlan().toString()  # noqa: SLF001  # PySpark has no other way to its plans
        return Ran(spark.version, rows, pushed_in(plan))
    finally:
        spark.stop()


def pushed_in(plan: str) -> tuple[str, ...]:
    """The filters that Spark gives to its scan.

    >>> pushed_in("PartitionFilters: [], PushedFilters: [IsNotNull(id), EqualTo(id,23)], ReadSchema: struct<id:bigint>")
    ('IsNotNull(id), EqualTo(id,23)',)
    """
    found = re.findall(r"(?:PartitionFilters|PushedFilters): \[(.*?)\](?:,|$)", plan)
    return tuple(dict.fromkeys(text for text in found if text))
