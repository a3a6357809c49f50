"""Relations of files in a plan of the JVM: of which format they are, and where they lie."""

from __future__ import annotations

from typing import Any

from lakeprune.engines.spark.nodes import class_name, full_class_name

_DELTA_INDEXES = ("PreparedDeltaFileIndex", "TahoeLogFileIndex", "TahoeLogFileIndexWithCloudFetch")


def is_files(relation: Any) -> bool:
    """Whether a relation is one of files; Delta's own is made from Spark's without a name."""
    return any(class_name_of(kind) == "HadoopFsRelation" for kind in (relation.getClass(), relation.getClass().getSuperclass()))


def class_name_of(kind: Any) -> str:
    return "" if kind is None else str(kind.getSimpleName())


def is_delta(index: Any) -> bool:
    """Whether files are those of a Delta table at a version, and not of its change feed or of a command."""
    return full_class_name(index).startswith("org.apache.spark.sql.delta.") and class_name(index) in _DELTA_INDEXES


def is_parquet(relation: Any) -> bool:
    return class_name(relation.fileFormat()) == "ParquetFileFormat"


def location_of(path: Any) -> str:
    """A Hadoop path as others write it: a plain path of this machine, or a URL."""
    uri = path.toUri()
    return str(uri.getPath()) if uri.getScheme() in (None, "file") else str(path.toString())
