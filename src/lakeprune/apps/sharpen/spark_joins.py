"""Conditions from the small side of a join: rows of a table whose key the other side does not have cannot come out of it.

In: an optimised plan, its analysed plan, the conditions so far. Out: the plan and the conditions with the ranges of keys beside
them. The small side is read once, here. Its rows stand in the plan afterwards, so that the rows that were measured are the rows
that are joined, also when its table changes before the query runs; rows that were made in memory stay as they are. Where a row of
the table would survive without a partner, nothing is added.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession

from lakeprune.apps.dataframes.spark_plans import QueryPlan
from lakeprune.apps.sharpen.implied import Conditions
from lakeprune.apps.sharpen.model import Refused
from lakeprune.apps.sharpen.spark_leaves import Leaf, Occurrence, ids_of
from lakeprune.apps.statements.merge.keys import Key, compares_exactly, delta_condition
from lakeprune.apps.statements.merge.spark_source import Source, measure
from lakeprune.engines.spark.lines import column_of, frame_of, seq_of_array
from lakeprune.engines.spark.nodes import class_name, descendants, elements, option
from lakeprune.engines.spark.session import active
from lakeprune.predicate.read.catalyst.types import data_type
from lakeprune.predicate.schema import Schema
from lakeprune.predicate.tree import Column

MOST_ROWS = 10_000  # of a small side
MOST_BYTES = 10 << 20  # of a small side by Spark's estimate, where the session does not say what it broadcasts
_IN_MEMORY = frozenset({"LocalRelation", "Range", "OneRowRelation"})
# The sides whose rows come out only with a partner, by Spark's name of the join.
_FILTERED = {
    "INNER": ("left", "right"), "LEFT SEMI": ("left", "right"), "LEFT OUTER": ("right",), "RIGHT OUTER": ("left",),
    "LEFT ANTI": ("right",),
}  # fmt: skip
# The sides whose rows come out as they are or not at all: a condition on them may be asked before the join.
_THROUGH = {
    "INNER": ("left", "right"), "CROSS": ("left", "right"), "LEFT SEMI": ("left",), "LEFT ANTI": ("left",),
    "LEFT OUTER": ("left",), "RIGHT OUTER": ("right",),
}  # fmt: skip


class _Pair(Struct, frozen=True):
    """`column` of a leaf equals `key`, an expression over the rows of `small`."""

    leaf: Leaf
    column: str
    key: Any
    small: Any


class Keyed(Struct, frozen=True):
    plan: Any
    wanted: dict[Leaf, Conditions]
    refused: tuple[Refused, ...]


def with_keys(
    query: QueryPlan,
    spark: SparkSession,
    wanted: Mapping[Leaf, Conditions],
    met: Sequence[Occurrence],
    schemas: Mapping[Leaf, Schema],
) -> Keyed:
    """The analysed plan and the conditions, with those that joins give."""
    found = Keyed(query.analyzed, dict(wanted), ())
    small_sides = _SmallSides(query, spark)
    for pair in _pairs(query, wanted, met):
        text, why = _condition(pair, schemas[pair.leaf], small_sides)
        if text is None:
            found = replace(found, refused=(*found.refused, Refused(pair.leaf.table, f"{pair.column} = {pair.key.sql()}", why)))
            continue
        before = found.wanted[pair.leaf]
        added = tuple(dict.fromkeys((*before.added, text)))
        branches = tuple((*branch, text) for branch in before.branches)
        found.wanted[pair.leaf] = replace(before, added=added, branches=branches)
    frozen = small_sides.frozen_ids
    kept = {leaf: conditions for leaf, conditions in found.wanted.items() if not leaf.ids & frozen}
    return replace(found, plan=small_sides.frozen_plan(), wanted=kept)


def _condition(pair: _Pair, schema: Schema, small_sides: _SmallSides) -> tuple[str | None, str]:
    field = next((field for field in schema.fields if field.name == pair.column), None)
    if field is None:
        return None, "the column is not the table's own"
    column = Column.at((field,))
    type_ = data_type(json.loads(pair.key.dataType().json()))
    if type_ is None or not compares_exactly(column.type, type_):
        return None, "the keys are not compared as values of one type"
    rows, why = small_sides.keys(pair)
    if rows is None:
        return None, why
    (values,) = measure(Source(rows, "the small side of a join"), [Key(pair.column, column, "k", is_null_safe=False)]).keys
    if values.refusal is not None:
        return None, values.refusal
    return delta_condition(values, None, "UTC"), ""


class _SmallSides:
    """Reads small sides, each once, and remembers what stands for them in the plan."""

    def __init__(self, query: QueryPlan, spark: SparkSession) -> None:
        self._query, self._spark = query, spark
        self._leaves = [node for node in descendants(query.analyzed) if not elements(node.children())]
        self._in_use = [node for node in descendants(query.optimized) if not elements(node.children())]
        # What a WITH names is copied where it is used, and the copies have columns of their own.
        self._has_names = any(class_name(node) == "WithCTE" for node in descendants(query.analyzed))
        self._rows: dict[frozenset[int], Any] = {}
        jvm = query.jvm
        self._changes = getattr(getattr(jvm.scala.collection.immutable, "Map$"), "MODULE$").empty()
        self._logical = jvm.org.apache.spark.sql.catalyst.plans.logical

    @property
    def frozen_ids(self) -> frozenset[int]:
        return frozenset().union(*self._rows) if self._rows else frozenset()

    def frozen_plan(self) -> Any:
        plan = self._query.analyzed.transformUpWithSubqueries(self._changes)
        plan.setAnalyzed()
        return plan

    def keys(self, pair: _Pair) -> tuple[DataFrame | None, str]:
        """The values of the key, as the column k; None, and why, where the side is not small or cannot be kept."""
        size, most = _size(pair.small), self._most_bytes()
        if size is not None and size > most:
            return None, f"the other side has {size:,} bytes by Spark's estimate, more than the {most:,} of a small side"
        leaves = [node for node in descendants(pair.small) if not elements(node.children())]
        if all(class_name(node) in _IN_MEMORY for node in leaves):
            return self._picked(pair.small, pair.key), ""
        rows, why = self._frozen(pair.small)
        return (None, why) if rows is None else (self._picked(rows, pair.key), "")

    def _frozen(self, small: Any) -> tuple[Any, str]:
        """The small side over rows that were collected: its projections above, its filters applied."""
        match = option(self._query.jvm.org.apache.spark.sql.catalyst.planning.PhysicalOperation.unapply(small))
        base = None if match is None else match.productElement(2)
        if base is None or elements(base.children()):
            return None, "the other side is more than one table with conditions; only such a side is kept"
        ids = ids_of(base)
        here = [node for node in self._leaves if ids_of(node) & ids]
        copies = [node for node in self._in_use if ids_of(node) & ids]
        if len(here) != 1 or len(copies) != 1 or self._has_names:
            return None, "the other side stands at several places of the plan, or comes from a cache"
        (leaf,) = here
        if ids not in self._rows:
            rows = leaf
            for condition in elements(match.productElement(1)):
                if {int(one.exprId().id()) for one in elements(condition.references())} <= ids_of(leaf):
                    rows = self._logical.Filter(condition, rows)
            rows.setAnalyzed()
            limited = self._frame(rows)._jdf.limit(MOST_ROWS + 1)  # noqa: SLF001
            collected = limited.queryExecution().executedPlan().executeCollect()
            if len(collected) > MOST_ROWS:
                return None, f"the other side has more than {MOST_ROWS:,} rows"
            data = seq_of_array(collected, self._query.jvm)
            none = getattr(getattr(self._query.jvm.scala, "None$"), "MODULE$")
            kept = self._logical.LocalRelation(leaf.output(), data, False, none)
            self._rows[ids] = kept
            self._changes = self._changes.updated(leaf, kept)
        return self._logical.Project(match.productElement(0), self._rows[ids]), ""

    def _picked(self, rows: Any, key: Any) -> DataFrame:
        rows.setAnalyzed()
        return self._frame(rows).select(column_of(key, self._query.jvm).alias("k"))

    def _frame(self, plan: Any) -> DataFrame:
        with active(self._spark):
            return frame_of(plan, self._spark)

    def _most_bytes(self) -> int:
        stated = int(self._spark._jsparkSession.sessionState().conf().autoBroadcastJoinThreshold())  # noqa: SLF001
        return stated if stated > 0 else MOST_BYTES


def _pairs(query: QueryPlan, wanted: Mapping[Leaf, Conditions], met: Sequence[Occurrence]) -> Iterator[_Pair]:
    known = frozenset().union(*(leaf.ids for leaf in wanted))
    copied = {one.table for one in met if not one.ids & known}  # by the optimiser: which leaf they are of is not known
    single = [leaf for leaf in wanted if leaf.table not in copied and sum(bool(one.ids & leaf.ids) for one in met) == 1]
    for node in descendants(query.optimized):
        condition = option(node.condition()) if class_name(node) == "Join" else None
        if condition is None:
            continue
        for side in _FILTERED.get(str(node.joinType().sql()), ()):
            table, small = (node.left(), node.right()) if side == "left" else (node.right(), node.left())
            sizes = _size(table), _size(small)
            if sizes[0] is None or (sizes[1] is not None and sizes[1] >= sizes[0]):
                continue  # the larger side is the one that is read
            for own, other in _equalities(condition, ids_of(table), ids_of(small)):
                for leaf in single:
                    if (column := _column(table, own, leaf)) is not None:
                        yield _Pair(leaf, column, other, small)


def _size(plan: Any) -> int | None:
    """Spark's estimate, in bytes; None for rows of Python, of which it has none."""
    if any(class_name(node) in ("LogicalRDD", "ExternalRDD") for node in descendants(plan)):
        return None
    return int(plan.stats().sizeInBytes())


def _equalities(condition: Any, own: frozenset[int], other: frozenset[int]) -> Iterator[tuple[int, Any]]:
    """The id of a column of one side and the expression of the other side that it equals, for each such conjunct."""
    waiting = [condition]
    while waiting:
        node = waiting.pop()
        if class_name(node) == "And":
            waiting += [node.left(), node.right()]
        elif class_name(node) == "EqualTo":
            for left, right in ((node.left(), node.right()), (node.right(), node.left())):
                used = {int(one.exprId().id()) for one in elements(right.references())}
                if class_name(left) == "AttributeReference" and int(left.exprId().id()) in own and used and used <= other:
                    yield int(left.exprId().id()), right


def _column(node: Any, wanted: int, leaf: Leaf) -> str | None:
    """The name of the leaf's own column that a column of this plan is, when conditions on it may be asked at the leaf."""
    while wanted not in leaf.ids or not ids_of(node) >= {wanted} or elements(node.children()):
        match class_name(node):
            case "Filter":
                node = node.child()
            case "Project":
                stated = next((one for one in elements(node.projectList()) if int(one.exprId().id()) == wanted), None)
                if stated is not None and class_name(stated) == "Alias":
                    if class_name(stated.child()) != "AttributeReference":
                        return None
                    wanted = int(stated.child().exprId().id())
                node = node.child()
            case "Join":
                sides = _THROUGH.get(str(node.joinType().sql()), ())
                below = [each for side in sides if wanted in ids_of(each := getattr(node, side)())]
                if not below:
                    return None
                node = below[0]
            case _:
                return None
    return next(str(one.name()) for one in elements(leaf.node.output()) if int(one.exprId().id()) == wanted)
