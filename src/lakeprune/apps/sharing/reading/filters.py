"""A predicate applied to Arrow rows, exactly as Spark would.

In: normalised clauses. Out: which rows they are TRUE on. Only sets of values, null tests and comparisons of columns are applied;
NaN equals itself and is above every number, text goes by its bytes, NULL by three-valued logic. All else is refused (LP112).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeprune.errors import PredicateError
from lakeprune.predicate import tree as t
from lakeprune.predicate.tree import Column, Expr
from lakeprune.predicate.walk import nodes
from lakeprune.predicate.write.show import show
from lakeprune.values.intervals import Interval, IntervalSet
from lakeprune.values.types import FLOATING_KINDS, TIME_KINDS, Kind

_EXACT = (t.And, t.Or, t.Not, t.Constant, t.Member, t.NullTest, t.ColumnCompare, t.IsNull)


def check_exact(clauses: Sequence[t.Clause]) -> None:
    """LP112 for a clause that only Spark evaluates as Spark does."""
    for clause in clauses:
        for node in nodes(clause.predicate):
            is_nested = isinstance(node, Column) and (len(node.path) > 1 or node.type.family is None)
            if is_nested or not isinstance(node, (*_EXACT, Column)) or (isinstance(node, t.NullTest) and node.leaves):
                why = "without Spark, only comparisons of top-level columns with values can be applied exactly"
                fix = "give spark=, or filter the rows yourself"
                raise PredicateError("LP112", f"`{clause.text}` cannot be applied to rows here", why=why, fix=fix)


def matching(batch: Any, clauses: Sequence[t.Clause]) -> Any:
    """The batch with the rows on which every clause is TRUE."""
    for clause in clauses:
        batch = batch.filter(_truth(clause.predicate, batch))  # NULL is not TRUE
    return batch


def _truth(expr: Expr, batch: Any) -> Any:
    """A boolean array with NULLs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    match expr:
        case t.And(parts) | t.Or(parts):
            join = pc.and_kleene if isinstance(expr, t.And) else pc.or_kleene
            found = _truth(parts[0], batch)
            for part in parts[1:]:
                found = join(found, _truth(part, batch))
            return found
        case t.Not(part):
            return pc.invert(_truth(part, batch))
        case t.IsNull(part):
            return pc.is_null(_truth(part, batch))
        case t.Constant(truth):
            return pa.array([truth] * batch.num_rows, pa.bool_())
        case t.NullTest(column):
            return pc.is_null(batch.column(column.path[0]))
        case t.Member(column, values):
            return _member(batch.column(column.path[0]), column, values)
        case t.ColumnCompare(op, left, right):
            return _columns(op, _carrier(batch, left), _carrier(batch, right), left.type.kind in FLOATING_KINDS)
        case _:
            raise AssertionError(f"{show(expr)} was not refused")


def _member(array: Any, column: Column, values: IntervalSet) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type.kind
    if kind is Kind.BOOLEAN:
        have = {value for value in (False, True) if values.contains(value)}
        known = pc.is_valid(array)
        answer = pa.array([True] * len(array)) if len(have) == 2 else pa.array([False] * len(array))
        if len(have) == 1:
            return array if True in have else pc.invert(array)
        return pc.if_else(known, answer, pa.scalar(None, pa.bool_()))
    carrier = _as_carrier(array, column)
    found = pc.if_else(pc.is_valid(carrier), False, pa.scalar(None, pa.bool_()))
    points = [interval.lo for interval in values.intervals if interval.is_point()]
    if points and kind not in FLOATING_KINDS:
        listed = pc.is_in(carrier, value_set=pa.array(points, carrier.type))
        found = pc.or_kleene(found, pc.if_else(pc.is_valid(carrier), listed, pa.scalar(None, pa.bool_())))
    for interval in values.intervals:
        if not interval.is_point() or kind in FLOATING_KINDS:
            found = pc.or_kleene(found, _within(carrier, interval, is_real=kind in FLOATING_KINDS))
    return pc.or_kleene(found, pc.is_nan(carrier)) if values.nan else found


def _within(carrier: Any, interval: Interval, *, is_real: bool) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.if_else(pc.is_valid(carrier), True, pa.scalar(None, pa.bool_()))
    if is_real:
        found = pc.invert(pc.is_nan(carrier))  # NaN is a member of its own
    if interval.lo is not None:
        above = pc.greater if interval.lo_open else pc.greater_equal
        found = pc.and_kleene(found, above(carrier, pa.scalar(interval.lo, carrier.type)))
    if interval.hi is not None:
        below = pc.less if interval.hi_open else pc.less_equal
        found = pc.and_kleene(found, below(carrier, pa.scalar(interval.hi, carrier.type)))
    return found


def _carrier(batch: Any, column: Column) -> Any:
    return _as_carrier(batch.column(column.path[0]), column)


def _as_carrier(array: Any, column: Column) -> Any:
    """The column as the canonical values of lakeprune: days and microseconds as numbers, every real as a double."""
    import pyarrow as pa

    kind = column.type.kind
    if kind is Kind.DATE:
        return array.cast(pa.int32()).cast(pa.int64())
    if kind in TIME_KINDS:
        return array.cast(pa.int64())
    if kind in FLOATING_KINDS:
        return array.cast(pa.float64())
    if kind in (Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG):
        return array.cast(pa.int64())
    if kind is Kind.DECIMAL:
        return array.cast(pa.decimal256(76, 38))
    return array


def _columns(op: t.Op, left: Any, right: Any, is_real: bool) -> Any:
    import pyarrow.compute as pc

    compare = {t.Op.EQ: pc.equal, t.Op.LT: pc.less, t.Op.LE: pc.less_equal}[op]
    found = compare(left, right)
    if not is_real:
        return found
    left_nan, right_nan = pc.is_nan(left), pc.is_nan(right)
    both, neither = pc.and_kleene(left_nan, right_nan), pc.invert(pc.or_kleene(left_nan, right_nan))
    with_nan = {t.Op.EQ: both, t.Op.LT: pc.and_kleene(pc.invert(left_nan), right_nan), t.Op.LE: right_nan}[op]
    return pc.or_kleene(pc.and_kleene(neither, found), with_nan)
