"""A scan of an Iceberg table in a plan: the table and its snapshot, the filters on it, and the files that Iceberg plans to read.

In: a leaf of a plan. Out: a `Scan`. Iceberg reads manifests while it plans; no data file is opened.
"""

from __future__ import annotations

import json
from typing import Any

from lakeprune.apps.dataframes.scan import Planned, Scan
from lakeprune.apps.dataframes.spark_filters import filters_of
from lakeprune.apps.dataframes.spark_plans import QueryPlan
from lakeprune.engines.spark.nodes import class_name, elements, full_class_name
from lakeprune.engines.spark.planned import iceberg_tasks
from lakeprune.formats.iceberg.locate import plain

_MOST_ASKED = 10_000  # tasks that are asked for their size, each by a call to the JVM


def iceberg_scan(query: QueryPlan, leaf: Any, expressions: list[Any], *, is_cached: bool) -> Scan:
    """The scan that a leaf is."""
    scan, connected = leaf.scan(), leaf.table() if is_cached else leaf.relation().table()
    table = connected.table()
    tasks = iceberg_tasks(scan)
    size = sum(int(task.file().fileSizeInBytes()) for task in tasks) if len(tasks) <= _MOST_ASKED else None
    parser = query.jvm.org.apache.iceberg.expressions.ExpressionParser
    taken = tuple(json.loads(str(parser.toJson(each))) for each in elements(scan.filters()))
    snapshot, branch = scan.snapshotId(), _asked(connected, "branch")
    return Scan(
        "iceberg",
        None if "/" in str(table.name()) else str(table.name()),
        (_place(str(table.location())),),
        None if snapshot is None else int(snapshot),
        filters_of(query.spark, expressions),
        is_cached,
        Planned(len(tasks), size, None, None),
        {} if is_cached else _columns(leaf),
        metadata=_place(str(table.operations().current().metadataFileLocation())),
        ref=None if branch is None else str(branch),
        is_latest=branch is None and _asked(connected, "snapshotId") is None,
        taken=taken,
    )


def table_place(connected: Any) -> str:
    """Where a table of Iceberg lies."""
    return _place(str(connected.table().location()))


def is_table(connected: Any) -> bool:
    """Whether it is a table of Iceberg, and not one of its metadata tables or of changes."""
    return class_name(connected) == "SparkTable" and class_name(connected.table()) == "BaseTable"


def is_of_iceberg(table: Any) -> bool:
    return full_class_name(table).startswith("org.apache.iceberg.")


def _place(location: str) -> str:
    """A location as others write it: a plain path of this machine, or the URL that Spark reaches."""
    return plain(location) if location.lower().startswith(("file:", "/")) else location


def _asked(connected: Any, name: str) -> Any:
    """What the query asks the table for, None where it does not, or this version of the runtime has no such thing."""
    from py4j.protocol import Py4JError

    try:
        return getattr(connected, name)()
    except Py4JError:
        return None


def _columns(leaf: Any) -> dict[int, str]:
    return {int(attribute.exprId().id()): str(attribute.name()) for attribute in elements(leaf.output())}
