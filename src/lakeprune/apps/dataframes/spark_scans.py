"""The scans of an optimised plan: which table at which version, the filters left on it, and what Spark itself would read.

In: a plan. Out: a `Reading`. Delta's own decision is in the plan already; of plain Parquet Spark's listing is asked. Scans that
feed a cache are marked as such: their filters are those of the cached query. No data file is opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from pyspark.sql import SparkSession

from lakeprune.apps.dataframes.scan import DeltaPlan, DeltaScan, ParquetScan, Reading
from lakeprune.apps.dataframes.spark_filters import filters_of
from lakeprune.apps.dataframes.spark_plans import Planned, plan_of_frame, query_errors
from lakeprune.apps.dataframes.spark_relations import is_delta, is_files, is_parquet, location_of
from lakeprune.apps.dataframes.spark_sources import described
from lakeprune.engines.spark.nodes import class_name, descendants, elements, full_class_name, option
from lakeprune.errors import LakepruneError

_LOGICAL = ("org.apache.spark.sql.catalyst.plans.logical.", "org.apache.spark.sql.execution.datasources.LogicalRelation")


class _Found(Struct, frozen=True):
    """A relation of files in the plan, with the expressions on it; `node` is the part of the plan that is this scan."""

    node: Any
    leaf: Any
    expressions: list[Any]
    is_cached: bool

    @property
    def relation(self) -> Any:
        return self.leaf.relation()

    @property
    def index(self) -> Any:
        return self.relation.location()


def reading_of(planned: Planned) -> Reading:
    """Everything the plan reads."""
    with query_errors(planned.text):
        scans: list[DeltaScan | ParquetScan] = []
        for found in _relations(planned):
            if is_delta(found.index):
                scans.append(_delta_scan(planned, found))
            elif is_parquet(found.relation):
                scans.append(_parquet_scan(planned, found))
        named, unexplained = described(planned)
        read = {place for scan in scans for place in ([scan.location] if isinstance(scan, DeltaScan) else scan.locations)}
        unread = tuple(place for place in named if place not in read)
        return Reading(tuple(scans), unread, unexplained, planned.zone)


def planned_with(planned: Planned, scan: DeltaScan, where: str) -> DeltaPlan | None:
    """What Delta plans for the table at the scan's version with another condition; None for one that Spark does not take."""
    table = planned.spark.read.format("delta").option("versionAsOf", scan.version)
    place = f"file://{scan.location}" if scan.location.startswith("/") else scan.location
    try:
        with query_errors(where):
            other = plan_of_frame(table.load(place).where(where))
            found = [_delta_plan(other.spark, one.index) for one in _relations(other) if is_delta(one.index)]
    except LakepruneError:
        return None
    return found[0] if len(found) == 1 else None


def _relations(planned: Planned) -> Iterator[_Found]:
    """Every relation of files, once: from the top of the part of the plan that Spark makes one scan of."""
    matcher = planned.jvm.org.apache.spark.sql.catalyst.planning.PhysicalOperation
    identity = planned.jvm.java.lang.System.identityHashCode
    done = set()
    for node in descendants(planned.optimized):
        if class_name(node) == "FileSourceScanExec":  # these are met below a cached plan only
            if is_files(node.relation()):
                yield _Found(node, node, [*elements(node.partitionFilters()), *elements(node.dataFilters())], is_cached=True)
        elif full_class_name(node).startswith(_LOGICAL):
            match = option(matcher.unapply(node))  # projections, filters with aliases resolved, leaf
            if match is None or class_name(match.productElement(2)) != "LogicalRelation":
                continue
            leaf = match.productElement(2)
            if identity(leaf) not in done and is_files(leaf.relation()):
                done.add(identity(leaf))
                yield _Found(node, leaf, elements(match.productElement(1)), is_cached=False)


def _delta_scan(planned: Planned, found: _Found) -> DeltaScan:
    index = found.index
    plan = _delta_plan(planned.spark, index)
    expressions = found.expressions
    if plan is not None and found.is_cached:
        # The scan node of a physical plan leaves out conditions that mix partition and data columns; Delta's own record has them.
        scan = index.preparedScan()
        kinds = (scan.partitionFilters(), scan.dataFilters(), scan.unusedFilters())
        expressions = [expression for kind in kinds for expression in elements(kind)]
    filters = filters_of(planned.spark, expressions)
    version = index.preparedScan().version() if plan is not None else index.version()
    return DeltaScan(
        table=_name_of(found),
        location=location_of(index.path()),
        version=int(version),
        filters=filters,
        columns=_columns(found.leaf),
        is_cached=found.is_cached,
        plan=plan,
    )


def _delta_plan(spark: SparkSession, index: Any) -> DeltaPlan | None:
    if class_name(index) != "PreparedDeltaFileIndex":
        return None
    scan = index.preparedScan()
    total, scanned = scan.total(), scan.scanned()
    return DeltaPlan(
        files=int(scan.files().size()),
        bytes=int(option(scanned.bytesCompressed()) or 0),
        total_files=option(total.files()),
        total_bytes=option(total.bytesCompressed()),
        kind=str(scan.dataSkippingType().toString()),
        unused=_texts(spark, elements(scan.unusedFilters())),
    )


def _texts(spark: SparkSession, expressions: list[Any]) -> tuple[str, ...]:
    return tuple(one.sql for one in filters_of(spark, expressions))


def _columns(leaf: Any) -> dict[int, str]:
    """The relation's columns by Catalyst's ids; what Spark adds about a row's file is none of the table's."""
    return {
        int(attribute.exprId().id()): str(attribute.name())
        for attribute in elements(leaf.output())
        if not attribute.metadata().contains("__metadata_col")
    }


def _name_of(found: _Found) -> str | None:
    source = found.leaf.tableIdentifier() if found.is_cached else found.leaf.catalogTable()
    named = option(source)
    identifier = named if named is None or found.is_cached else named.identifier()
    if identifier is None or option(identifier.database()) == "delta":  # delta.`path` is its location once more
        return None
    return str(identifier.unquotedString())


def _parquet_scan(planned: Planned, found: _Found) -> ParquetScan:
    index = found.index
    numbers: dict[str, Any] = dict.fromkeys(("files", "bytes", "total_files", "total_bytes"))
    scan = found.node if found.is_cached else _scan_node(planned, found.node)
    if not found.is_cached and scan is not None:  # a cached plan is the user's own, and asking would change its metrics
        listed = scan.selectedPartitions()
        numbers |= {"files": int(listed.totalNumberOfFiles()), "bytes": int(listed.totalFileSize())}
    if class_name(index) == "InMemoryFileIndex":  # it has listed everything already
        numbers |= {"total_files": int(index.allFiles().size()), "total_bytes": int(index.sizeInBytes())}
    return ParquetScan(
        table=_name_of(found),
        locations=tuple(location_of(path) for path in elements(index.rootPaths())),
        filters=_texts(planned.spark, found.expressions),
        partition_filters=() if scan is None else _texts(planned.spark, elements(scan.partitionFilters())),
        pushed_filters=None if scan is None else option(scan.metadata().get("PushedFilters")),
        is_cached=found.is_cached,
        **numbers,
    )


def _scan_node(planned: Planned, node: Any) -> Any:
    """The physical scan of this part of the plan, made for asking."""
    planner = planned.spark._jsparkSession.sessionState().planner()  # noqa: SLF001  # PySpark has no other way
    physical = planner.plan(node).next()
    return next((one for one in descendants(physical) if class_name(one) == "FileSourceScanExec"), None)
