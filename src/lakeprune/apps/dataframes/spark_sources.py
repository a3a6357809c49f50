"""What a plan names before the optimiser folds anything away: relations of files, and sources that lakeprune does not explain."""

from __future__ import annotations

from typing import Any

from lakeprune.apps.dataframes.scan import Unexplained
from lakeprune.apps.dataframes.spark_iceberg import is_of_iceberg, is_table, table_place
from lakeprune.apps.dataframes.spark_plans import QueryPlan
from lakeprune.engines.spark.nodes import class_name, descendants, elements, full_class_name

_IN_MEMORY = {
    "LogicalRDD": "rows of an RDD or of Python",
    "ExternalRDD": "rows of an RDD",
    "LocalRelation": "rows in memory",
    "Range": "range()",
    "CommandResult": "the result of a command",
}
_SILENT = frozenset({"OneRowRelation", "CTERelationRef"})  # SELECT 1, and a name for a plan that is visited anyway
_DELTA_INDEXES = ("PreparedDeltaFileIndex", "TahoeLogFileIndex", "TahoeLogFileIndexWithCloudFetch")
_NO_STATISTICS = "it has no metadata of files that lakeprune reads"


def described(plan: QueryPlan) -> tuple[list[str], tuple[Unexplained, ...]]:
    """The locations of its Delta and Parquet tables, and the other sources; each once, in order."""
    tables: dict[str, None] = {}
    others: dict[Unexplained, None] = {}
    for node in descendants(plan.analyzed):
        if elements(node.children()) or class_name(node) in _SILENT:
            continue
        found = _described(node)
        if isinstance(found, Unexplained):
            others[found] = None
        else:
            tables.update(dict.fromkeys(found))
    return list(tables), tuple(others)


def is_files(relation: Any) -> bool:
    """Whether a relation is one of files; Delta's own is made from Spark's without a name."""
    kinds = (relation.getClass(), relation.getClass().getSuperclass())
    return any(kind is not None and str(kind.getSimpleName()) == "HadoopFsRelation" for kind in kinds)


def is_delta(index: Any) -> bool:
    """Whether files are those of a Delta table at a version, and not of its change feed or of a command."""
    return full_class_name(index).startswith("org.apache.spark.sql.delta.") and class_name(index) in _DELTA_INDEXES


def is_parquet(relation: Any) -> bool:
    return class_name(relation.fileFormat()) == "ParquetFileFormat"


def location_of(path: Any) -> str:
    """A Hadoop path as others write it: a plain path of this machine, or a URL."""
    uri = path.toUri()
    return str(uri.getPath()) if uri.getScheme() in (None, "file") else str(path.toString())


def _described(leaf: Any) -> list[str] | Unexplained:
    name = class_name(leaf)
    if name in _IN_MEMORY:
        return Unexplained(_IN_MEMORY[name], "it is made in memory, so there is no file to skip")
    if name == "LogicalRelation" and is_files(leaf.relation()):
        relation = leaf.relation()
        index, kind = relation.location(), str(relation.fileFormat().toString())
        if is_delta(index):
            return [location_of(index.path())]
        places = [location_of(path) for path in elements(index.rootPaths())]
        if is_parquet(relation):
            return places
        if full_class_name(index).startswith("org.apache.spark.sql.delta."):
            return Unexplained(f"Delta {', '.join(places)}", f"it is read through {class_name(index)}, not as a table")
        return Unexplained(f"{kind} {', '.join(places)}", _NO_STATISTICS)
    if name == "LogicalRelation":
        kind = class_name(leaf.relation()).removesuffix("Relation")
        why = "a change feed is not a table" if "CDF" in kind else _NO_STATISTICS
        return Unexplained(kind or "an unnamed source", why)
    if name.startswith("DataSourceV2"):
        return _second_kind(leaf)
    if leaf.isStreaming():
        return Unexplained(name, "it is a stream")
    return Unexplained(name, _NO_STATISTICS)


def _second_kind(leaf: Any) -> list[str] | Unexplained:
    """A table of Spark's newer kind of connector."""
    table = leaf.table()
    source = str(table.name())
    if is_of_iceberg(table):
        if is_table(table):
            return [table_place(table)]
        return Unexplained(f"Iceberg {source}", "it is not a table of rows")
    if full_class_name(table).startswith("io.delta."):
        why = "it is read by Delta's V2 connector; spark.databricks.delta.v2.enableMode=NONE changes that"
        return Unexplained(f"Delta {source}", why)
    return Unexplained(source, _NO_STATISTICS)
