"""Where a plan reads tables: the leaves of the analysed plan, and what the optimised plan asks of each.

In: a plan. Out: `Leaf`s. Why a condition may be put above a leaf of the analysed plan when the optimised plan implies it: the two
are equal whatever rows the leaf has, so they are equal when it has only the rows that pass the condition; and the optimised plan
has the same answer then, because it filters every occurrence of the leaf by something that implies the condition. So every
occurrence must be found, and nothing may have been optimised away by looking at the rows. A leaf of which that is not known is
left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from lakeprune.apps.dataframes.scan import Scan
from lakeprune.apps.dataframes.spark_iceberg import is_table
from lakeprune.apps.dataframes.spark_plans import QueryPlan
from lakeprune.apps.dataframes.spark_scans import Found, scan_of
from lakeprune.apps.dataframes.spark_sources import is_delta, is_files, location_of
from lakeprune.engines.spark.nodes import class_name, descendants, elements, option

_LEAVES = ("LogicalRelation", "DataSourceV2ScanRelation", "DataSourceV2Relation")


class Leaf(Struct, frozen=True):
    """A table in the analysed plan. `node` is the handle of the JVM; `ids` are Catalyst's, of its columns."""

    node: Any
    ids: frozenset[int]
    table: str
    is_delta: bool


class Occurrence(Struct, frozen=True):
    """A place in the optimised plan where files are read; `node` is the part of the plan that is this scan."""

    node: Any
    leaf: Any
    match: Any  # what Spark's PhysicalOperation found: projections, filters, leaf
    ids: frozenset[int]
    table: str | None

    @property
    def filters(self) -> list[Any]:
        return elements(self.match.productElement(1))

    def scan(self, query: QueryPlan) -> Scan | None:
        return scan_of(query, Found(self.node, self.leaf, self.filters, is_cached=False))


def ids_of(node: Any) -> frozenset[int]:
    return frozenset(int(attribute.exprId().id()) for attribute in elements(node.output()))


def leaves_of(query: QueryPlan, session: Any) -> tuple[list[Leaf], list[tuple[str, str]]]:
    """The Delta and Iceberg tables of the analysed plan that may be given conditions, and the others with the reason."""
    found: list[Leaf] = []
    others: list[tuple[str, str]] = []
    cached: set[int] = set()
    for node, is_cached in _with_caches(query.analyzed, session):
        leaf = _leaf(node)
        if leaf is None:
            continue
        if is_cached:
            cached |= leaf.ids
            others.append((leaf.table, "its rows come from a cache"))
        else:
            found.append(leaf)
    alone = [leaf for leaf in found if not leaf.ids & cached and sum(bool(leaf.ids & other.ids) for other in found) == 1]
    others += [(leaf.table, "it stands at several places of the plan as one") for leaf in found if leaf not in alone]
    return alone, others


def _with_caches(plan: Any, session: Any) -> Iterator[tuple[Any, bool]]:
    """Every node, and whether it is part of what Spark keeps in its cache."""
    waiting = [(plan, False)]
    caches = session.sharedState().cacheManager()
    is_any = not caches.isEmpty()
    while waiting:
        here, inside = waiting.pop()
        inside = inside or (is_any and caches.lookupCachedData(session, here).isDefined())
        yield here, inside
        waiting.extend((below, inside) for below in (*elements(here.children()), *elements(here.subqueries())))


def _leaf(node: Any) -> Leaf | None:
    table = table_of(node)
    return None if table is None else Leaf(node, ids_of(node), table, is_delta=class_name(node) == "LogicalRelation")


def table_of(node: Any) -> str | None:
    """The location of a Delta table or the name of an Iceberg table that a leaf is; None for any other."""
    match class_name(node):
        case "LogicalRelation" if is_files(node.relation()) and is_delta(node.relation().location()):
            return location_of(node.relation().location().path())
        case "DataSourceV2Relation" if is_table(node.table()):
            return str(node.table().name())
    return None


def occurrences(query: QueryPlan, plan: Any) -> list[Occurrence]:
    """Every place where an optimised plan reads a relation; one that stands twice is met twice, with its filters at each."""
    matcher = query.jvm.org.apache.spark.sql.catalyst.planning.PhysicalOperation
    found: list[Occurrence] = []
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        match = option(matcher.unapply(node))
        leaf = None if match is None else match.productElement(2)
        if leaf is None or class_name(leaf) not in _LEAVES:
            waiting.extend((*elements(node.children()), *elements(node.subqueries())))
            continue
        base = leaf.relation() if class_name(leaf) == "DataSourceV2ScanRelation" else leaf
        found.append(Occurrence(node, leaf, match, ids_of(base) | ids_of(leaf), table_of(base)))
        waiting.extend(query for part in descendants(node) for query in elements(part.subqueries()))
    return found
