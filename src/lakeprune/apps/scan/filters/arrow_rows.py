"""A normalised predicate over Arrow: the same truth as Spark's on every row.

In: a normalised tree. Out: an expression of `pyarrow.compute` that is TRUE, FALSE or NULL, over columns with the table's names
and types: batches and datasets both take it. Raises NotExact for what has no exact form; never gives a superset.

NaN is handled apart: Arrow compares as IEEE does, where NaN is above nothing and equals nothing. Every comparison of floats says
so aloud (`AND NOT is_nan`), because Arrow's own use of Parquet bounds, which hide NaN, would else prove what does not hold.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from lakeprune.apps.scan.filters.arrow_types import arrow_type
from lakeprune.apps.scan.filters.exactness import NotExact, why_not_exact
from lakeprune.predicate import tree as t
from lakeprune.predicate.tree import Expr
from lakeprune.values.intervals import Interval, IntervalSet
from lakeprune.values.types import DOUBLE, DataType, Family, Kind

Expression = Any  # of pyarrow.compute, which ships no types
_LISTED = 4  # from so many points on, membership is one lookup
_HASHED = (Family.INTEGER, Family.TEXT, Family.BYTES, Family.DECIMAL)  # of doubles -0.0 and 0.0 hash apart


def arrow_filter(predicate: Expr) -> Expression:
    """The truth of a normalised predicate on every row."""
    reason = why_not_exact(predicate)
    if reason is not None:
        raise NotExact(reason)
    return _ArrowFilter().truth(predicate)


class _ArrowFilter:
    def __init__(self) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self._pa, self._pc = pa, pc

    def truth(self, predicate: Expr) -> Expression:
        pc = self._pc
        match predicate:
            case t.Constant(truth):
                return self._truth(truth)
            case t.And(parts):
                return self._joined(pc.and_kleene, parts)
            case t.Or(parts):
                return self._joined(pc.or_kleene, parts)
            case t.Not(part):
                return pc.invert(self.truth(part))
            case t.IsNull(part):
                return pc.is_null(self.truth(part))
            case t.Member(column, values):
                return self._member(_field(column), column.type, values)
            case t.NullTest(column):
                return pc.is_null(_field(column))
            case t.ColumnCompare(op, left, right):
                return self._compared(op, left, right)
            case t.Exact():
                raise NotExact("an expression over partition columns is evaluated for each file, not for each row")
            case _:
                raise NotExact(f"{type(predicate).__name__} has no exact form")

    def _truth(self, truth: bool | None) -> Expression:
        return self._pc.scalar(self._pa.scalar(truth, self._pa.bool_()))

    def _joined(self, join: Callable[[Expression, Expression], Expression], parts: tuple[Expr, ...]) -> Expression:
        return _balanced(join, [self.truth(part) for part in parts])

    def _member(self, value: Expression, type_: DataType, values: IntervalSet) -> Expression:
        pc = self._pc
        if type_.family is None:
            raise NotExact(f"values of type {type_} have no order")
        if type_.family is Family.REAL:
            return self._real_member(value.cast(self._pa.float64()), values)
        bounded = [interval for interval in values.intervals if interval != Interval(None, None)]
        if not bounded:
            return self._wherever_known(value, truth=bool(values.intervals))
        points = [interval.lo for interval in bounded if interval.is_point()]
        ranges = [interval for interval in bounded if not interval.is_point()]
        if len(points) < _LISTED or type_.family not in _HASHED:
            points, ranges = [], bounded
        tests = [self._between(value, interval, type_) for interval in ranges]
        if points:
            listed = pc.is_in(value, value_set=self._pa.array(points, arrow_type(type_)))
            tests.append(pc.if_else(pc.is_valid(value), listed, self._truth(None)))
        return _balanced(pc.or_kleene, tests)

    def _real_member(self, value: Expression, values: IntervalSet) -> Expression:
        pc = self._pc
        is_nan = pc.is_nan(value)
        tests = [self._between(value, interval, DOUBLE) for interval in values.intervals if interval != Interval(None, None)]
        everything = Interval(None, None) in values.intervals
        if everything and values.nan:
            return self._wherever_known(value, truth=True)
        if everything:
            return pc.invert(is_nan)
        if not tests:
            return is_nan if values.nan else self._wherever_known(value, truth=False)
        inside = _balanced(pc.or_kleene, tests)
        return pc.or_kleene(inside, is_nan) if values.nan else pc.and_kleene(inside, pc.invert(is_nan))

    def _wherever_known(self, value: Expression, *, truth: bool) -> Expression:
        return self._pc.if_else(self._pc.is_valid(value), self._truth(truth), self._truth(None))

    def _between(self, value: Expression, interval: Interval, type_: DataType) -> Expression:
        pc = self._pc
        if interval.is_point():
            return pc.equal(value, self._scalar(interval.lo, type_))
        sides = []
        if interval.lo is not None:
            sides.append((pc.greater if interval.lo_open else pc.greater_equal)(value, self._scalar(interval.lo, type_)))
        if interval.hi is not None:
            sides.append((pc.less if interval.hi_open else pc.less_equal)(value, self._scalar(interval.hi, type_)))
        return reduce(pc.and_kleene, sides)

    def _scalar(self, bound: Any, type_: DataType) -> Any:
        try:
            return self._pc.scalar(self._pa.scalar(bound, arrow_type(type_)))
        except (self._pa.ArrowInvalid, UnicodeError, OverflowError) as error:
            raise NotExact(f"{bound!r} is not a value of {type_} that Arrow has") from error

    def _compared(self, op: t.Op, left: t.Column, right: t.Column) -> Expression:
        pc = self._pc
        a, b = self._same_type(left, right)
        if left.type.family is not Family.REAL:
            return {t.Op.EQ: pc.equal, t.Op.LT: pc.less, t.Op.LE: pc.less_equal}[op](a, b)
        a_nan, b_nan = pc.is_nan(a), pc.is_nan(b)
        match op:
            case t.Op.EQ:
                return pc.or_kleene(pc.equal(a, b), pc.and_kleene(a_nan, b_nan))
            case t.Op.LT:
                return pc.or_kleene(pc.less(a, b), pc.and_kleene(b_nan, pc.invert(a_nan)))
            case t.Op.LE:
                return pc.or_kleene(pc.less_equal(a, b), b_nan)
            case _:
                raise NotExact(f"columns are compared by {op.value}")

    def _same_type(self, left: t.Column, right: t.Column) -> tuple[Expression, Expression]:
        a, b = _field(left), _field(right)
        common = self._common(left.type, right.type)
        return (a, b) if common is None else (a.cast(common), b.cast(common))

    def _common(self, left: DataType, right: DataType) -> Any:
        """A type that holds the values of both exactly; None when they have one type."""
        if left == right and left.family is not Family.REAL:
            return None
        if left.family is Family.REAL and right.family is Family.REAL:
            return self._pa.float64()
        if left.kind is Kind.DECIMAL and right.kind is Kind.DECIMAL:
            scale = max(left.scale, right.scale)
            whole = max(left.precision - left.scale, right.precision - right.scale)
            return self._pa.decimal256(whole + scale, scale)  # at most 38 and 38 digits
        if left.family is Family.INTEGER and right.family is Family.INTEGER:
            return self._pa.int64()
        raise NotExact(f"{left} and {right} have no common type")


def _field(column: t.Column) -> Expression:
    import pyarrow.compute as pc

    return pc.field(column.path)


def _balanced(join: Callable[[Expression, Expression], Expression], parts: list[Expression]) -> Expression:
    """Parts joined as a tree of little depth: Arrow walks expressions by recursion."""
    while len(parts) > 1:
        parts = [join(*parts[i : i + 2]) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
    return parts[0]
