"""What Delta Spark itself plans to read for a condition: files and bytes, by its own decision and without running anything.

In: a session with a JVM, a table at a version, a condition. Out: a `DeltaScan`. Delta evaluates the log while it plans; no data
file is opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lakeprune.engines.spark.nodes import class_name, elements

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class DeltaScan(Struct, frozen=True):
    files: int
    bytes: int


NO_SCAN = DeltaScan(0, 0)


def scan_of(spark: SparkSession, location: str, version: int, where: str) -> DeltaScan:
    """What Delta would read of the table at this version to find the rows of a condition."""
    table = spark.read.format("delta").option("versionAsOf", version).load(location)
    return planned_scan(table.where(where))


def planned_scan(frame: DataFrame) -> DeltaScan:
    """What all Delta scans of a query read together; nothing for a query that was answered without a scan."""
    scans = list(_scans(frame._jdf.queryExecution().optimizedPlan()))  # noqa: SLF001  # PySpark has no other way
    return DeltaScan(sum(scan.files for scan in scans), sum(scan.bytes for scan in scans))


def _scans(node: Any) -> Iterator[DeltaScan]:
    if class_name(node) == "LogicalRelation" and class_name(node.relation()) == "HadoopFsRelation":
        index = node.relation().location()
        if class_name(index) == "PreparedDeltaFileIndex":
            prepared = index.preparedScan()
            size = prepared.scanned().bytesCompressed()
            yield DeltaScan(prepared.files().size(), size.get() if size.isDefined() else 0)
    for part in (*elements(node.children()), *elements(node.subqueries())):
        yield from _scans(part)
