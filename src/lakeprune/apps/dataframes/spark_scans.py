"""The scans of an optimised plan: which table at which version, the filters left on it, and what Spark itself would read.

In: a plan. Out: a `Reading`. Delta's own decision is in the plan already; of plain Parquet Spark's listing is asked. Scans that
feed a cache are marked as such: their filters are those of the cached query. No data file is opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from pyspark.sql import SparkSession

from lakeprune.apps.dataframes.scan import Planned, Reading, Scan
from lakeprune.apps.dataframes.spark_filters import filters_of
from lakeprune.apps.dataframes.spark_iceberg import iceberg_scan, is_table
from lakeprune.apps.dataframes.spark_plans import QueryPlan, plan_of_frame, query_errors
from lakeprune.apps.dataframes.spark_sources import described, is_delta, is_files, is_parquet, location_of
from lakeprune.engines.spark.nodes import class_name, descendants, elements, full_class_name, option
from lakeprune.engines.spark.planned import is_iceberg_scan
from lakeprune.errors import LakepruneError

_LOGICAL = (
    "org.apache.spark.sql.catalyst.plans.logical.",
    "org.apache.spark.sql.execution.datasources.LogicalRelation",
    "org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation",
)


class Found(Struct, frozen=True):
    """A relation of files in the plan, with the expressions on it; `node` is the part of the plan that is this scan."""

    node: Any
    leaf: Any
    expressions: list[Any]
    is_cached: bool

    @property
    def is_iceberg(self) -> bool:
        return class_name(self.leaf) in ("DataSourceV2ScanRelation", "BatchScanExec")

    @property
    def relation(self) -> Any:
        return self.leaf.relation()

    @property
    def index(self) -> Any:
        return self.relation.location()


def reading_of(query: QueryPlan) -> Reading:
    """Everything the plan reads."""
    with query_errors(query.text):
        scans = [scan for found in _relations(query) if (scan := scan_of(query, found)) is not None]
        named, unexplained = described(query)
        read = {place for scan in scans for place in scan.locations}
        unread = tuple(place for place in named if place not in read)
        return Reading(tuple(scans), unread, unexplained, query.zone)


def scan_of(query: QueryPlan, found: Found) -> Scan | None:
    """The scan that a relation of the plan is, with everything above it that Spark makes part of it; None for other files."""
    if found.is_iceberg:
        return iceberg_scan(query, found.leaf, found.expressions, is_cached=found.is_cached)
    if is_delta(found.index):
        return _delta_scan(query, found)
    return _parquet_scan(query, found) if is_parquet(found.relation) else None


def planned_with(query: QueryPlan, scan: Scan, where: str) -> int | None:
    """How many files Delta plans at the scan's version for another condition; None for one that Spark does not take."""
    table = query.spark.read.format("delta").option("versionAsOf", scan.version)
    place = f"file://{scan.location}" if scan.location.startswith("/") else scan.location
    try:
        with query_errors(where):
            other = plan_of_frame(table.load(place).where(where))
            found = [
                _delta_plan(other.spark, one.index) for one in _relations(other) if not one.is_iceberg and is_delta(one.index)
            ]
    except LakepruneError:
        return None
    return found[0].files if len(found) == 1 and found[0] is not None else None


def _relations(query: QueryPlan) -> Iterator[Found]:
    """Every relation of files, once: from the top of the part of the plan that Spark makes one scan of."""
    matcher = query.jvm.org.apache.spark.sql.catalyst.planning.PhysicalOperation
    identity = query.jvm.java.lang.System.identityHashCode
    done = set()
    for node in descendants(query.optimized):
        if class_name(node) == "FileSourceScanExec":  # these are met below a cached plan only
            if is_files(node.relation()):
                yield Found(node, node, [*elements(node.partitionFilters()), *elements(node.dataFilters())], is_cached=True)
        elif class_name(node) == "BatchScanExec":
            if is_iceberg_scan(node.scan()) and is_table(node.table()):
                yield Found(node, node, [], is_cached=True)
        elif full_class_name(node).startswith(_LOGICAL):
            match = option(matcher.unapply(node))  # projections, filters with aliases resolved, leaf
            leaf = None if match is None else match.productElement(2)
            if leaf is None or class_name(leaf) not in ("LogicalRelation", "DataSourceV2ScanRelation"):
                continue
            if identity(leaf) not in done and _is_known(leaf):
                done.add(identity(leaf))
                yield Found(node, leaf, elements(match.productElement(1)), is_cached=False)


def _is_known(leaf: Any) -> bool:
    """Whether it is a relation of files, or a table of Iceberg."""
    if class_name(leaf) == "LogicalRelation":
        return is_files(leaf.relation())
    return is_iceberg_scan(leaf.scan()) and is_table(leaf.relation().table())


def _delta_scan(query: QueryPlan, found: Found) -> Scan:
    index = found.index
    plan = _delta_plan(query.spark, index)
    expressions = found.expressions
    if plan is not None and found.is_cached:
        # The scan node of a physical plan leaves out conditions that mix partition and data columns; Delta's own record has them.
        scan = index.preparedScan()
        kinds = (scan.partitionFilters(), scan.dataFilters(), scan.unusedFilters())
        expressions = [expression for kind in kinds for expression in elements(kind)]
    filters = filters_of(query.spark, expressions)
    version = index.preparedScan().version() if plan is not None else index.version()
    location = (location_of(index.path()),)
    return Scan("delta", _name_of(found), location, int(version), filters, found.is_cached, plan, _columns(found.leaf))


def _delta_plan(spark: SparkSession, index: Any) -> Planned | None:
    if class_name(index) != "PreparedDeltaFileIndex":
        return None
    scan = index.preparedScan()
    total, scanned = scan.total(), scan.scanned()
    return Planned(
        files=int(scan.files().size()),
        bytes=int(option(scanned.bytesCompressed()) or 0),
        total_files=option(total.files()),
        total_bytes=option(total.bytesCompressed()),
        kind=str(scan.dataSkippingType().toString()),
        unused_filters=_texts(spark, elements(scan.unusedFilters())),
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


def _name_of(found: Found) -> str | None:
    source = found.leaf.tableIdentifier() if found.is_cached else found.leaf.catalogTable()
    named = option(source)
    identifier = named if named is None or found.is_cached else named.identifier()
    if identifier is None or option(identifier.database()) == "delta":  # delta.`path` is its location once more
        return None
    return str(identifier.unquotedString())


def _parquet_scan(query: QueryPlan, found: Found) -> Scan:
    index = found.index
    files = size = total_files = total_bytes = None
    scan = found.node if found.is_cached else _scan_node(query, found.node)
    if not found.is_cached and scan is not None:  # a cached plan is the user's own, and asking would change its metrics
        listed = scan.selectedPartitions()
        files, size = int(listed.totalNumberOfFiles()), int(listed.totalFileSize())
    if class_name(index) == "InMemoryFileIndex":  # it has listed everything already
        total_files, total_bytes = int(index.allFiles().size()), int(index.sizeInBytes())
    used = () if scan is None else _texts(query.spark, elements(scan.partitionFilters()))
    pushed = None if scan is None else option(scan.metadata().get("PushedFilters"))
    spark = Planned(files, size, total_files, total_bytes, partition_filters=used, pushed_filters=pushed)
    locations = tuple(location_of(path) for path in elements(index.rootPaths()))
    filters = filters_of(query.spark, found.expressions)
    columns = _columns(found.leaf)
    return Scan("parquet", _name_of(found), locations, None, filters, found.is_cached, spark, columns)


def _scan_node(query: QueryPlan, node: Any) -> Any:
    """The physical scan of this part of the plan, made for asking."""
    planner = query.spark._jsparkSession.sessionState().planner()  # noqa: SLF001  # PySpark has no other way
    physical = planner.plan(node).next()
    return next((one for one in descendants(physical) if class_name(one) == "FileSourceScanExec"), None)
