"""What a plan names before the optimiser folds anything away: tables of files, and sources that lakeprune does not explain."""

from __future__ import annotations

from typing import Any

from lakeprune.apps.dataframes.scan import Unexplained
from lakeprune.apps.dataframes.spark_plans import Planned
from lakeprune.apps.dataframes.spark_relations import is_delta, is_files, is_parquet, location_of
from lakeprune.engines.spark.nodes import class_name, descendants, elements, full_class_name

_IN_MEMORY = {
    "LogicalRDD": "rows of an RDD or of Python",
    "ExternalRDD": "rows of an RDD",
    "LocalRelation": "rows in memory",
    "Range": "range()",
    "CommandResult": "the result of a command",
}
_SILENT = frozenset({"OneRowRelation", "CTERelationRef"})  # SELECT 1, and a name for a plan that is visited anyway
_NO_STATISTICS = "it has no metadata of files that lakeprune reads"


def described(planned: Planned) -> tuple[list[str], tuple[Unexplained, ...]]:
    """The locations of its Delta and Parquet tables, and the other sources; each once, in order."""
    tables: dict[str, None] = {}
    others: dict[Unexplained, None] = {}
    for node in descendants(planned.analyzed):
        if elements(node.children()) or class_name(node) in _SILENT:
            continue
        found = _described(node)
        if isinstance(found, Unexplained):
            others[found] = None
        else:
            tables.update(dict.fromkeys(found))
    return list(tables), tuple(others)


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


def _second_kind(leaf: Any) -> Unexplained:
    """A table of Spark's newer kind of connector."""
    table = leaf.table()
    source = str(table.name())
    if full_class_name(table).startswith("org.apache.iceberg."):
        return Unexplained(f"Iceberg {source}", "Iceberg tables are not read yet")
    if full_class_name(table).startswith("io.delta."):
        why = "it is read by Delta's V2 connector; spark.databricks.delta.v2.enableMode=NONE changes that"
        return Unexplained(f"Delta {source}", why)
    return Unexplained(source, _NO_STATISTICS)
