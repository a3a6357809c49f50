"""What Spark plans to read for a query over Iceberg or Parquet: files and bytes, by its own decision. Nothing is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeprune.engines.spark.nodes import class_name, descendants, elements, full_class_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOST_ASKED = 10_000  # tasks that are asked for their size, each by a call to the JVM


def planned_files(frame: DataFrame) -> tuple[int, int | None]:
    """The files and bytes of all scans of a query; nothing for a query that was answered without a scan."""
    files, size = 0, 0
    for node in descendants(frame._jdf.queryExecution().sparkPlan()):  # noqa: SLF001  # PySpark has no other way
        if class_name(node) == "FileSourceScanExec":
            listed = node.selectedPartitions()
            files, size = files + int(listed.totalNumberOfFiles()), size + int(listed.totalFileSize())
        elif class_name(node) == "BatchScanExec" and is_iceberg_scan(node.scan()):
            tasks = iceberg_tasks(node.scan())
            if len(tasks) > _MOST_ASKED:
                return files + len(tasks), None
            files, size = files + len(tasks), size + sum(int(task.file().fileSizeInBytes()) for task in tasks)
    return files, size


def is_iceberg_scan(scan: Any) -> bool:
    return full_class_name(scan).startswith("org.apache.iceberg.spark.source.") and class_name(scan) == "SparkBatchQueryScan"


def iceberg_tasks(scan: Any) -> list[Any]:
    """One task per file that the scan reads; planned now, from manifests."""
    return elements(scan.tasks())
