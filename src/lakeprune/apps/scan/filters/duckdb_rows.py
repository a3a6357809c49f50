"""A normalised predicate as DuckDB SQL: the same truth as Spark's on every row.

In: a normalised tree, and how each column is written. Out: SQL text of TRUE, FALSE and NULL. Raises NotExact for what has no
exact form; never gives a superset. DuckDB orders NaN, text and blobs as Spark does; dates and timestamps are compared as the
numbers they are, because DuckDB keeps the ends of their ranges for its infinities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeprune.apps.scan.filters.exactness import NotExact, why_not_exact
from lakeprune.engines.duckdb.dialect import DuckDBDialect
from lakeprune.predicate import tree as t
from lakeprune.predicate.tree import Expr
from lakeprune.values.intervals import Interval, IntervalSet
from lakeprune.values.types import DataType, Family, Kind

_LISTED = 4
_DIALECT = DuckDBDialect()


def duckdb_filter(predicate: Expr, written: Callable[[t.Column], str] | None = None) -> str:
    """The SQL; columns are written by their names unless told otherwise.

    >>> from lakeprune.predicate.schema import Role
    >>> from lakeprune.values.intervals import compare, INT_TYPE
    >>> duckdb_filter(t.Member(t.Column(("x",), ("x",), INT_TYPE, Role.DATA), compare(">", 5, INT_TYPE)))
    '("x" >= 6)'
    """
    reason = why_not_exact(predicate)
    if reason is not None:
        raise NotExact(reason)
    return _DuckdbFilter(written or _by_name).truth(predicate)


def _by_name(column: t.Column) -> str:
    return ".".join(map(_DIALECT.identifier, column.path))


class _DuckdbFilter:
    def __init__(self, written: Callable[[t.Column], str]) -> None:
        self._written = written

    def truth(self, predicate: Expr) -> str:
        match predicate:
            case t.Constant(truth):
                return "CAST(NULL AS BOOLEAN)" if truth is None else "TRUE" if truth else "FALSE"
            case t.And(parts) | t.Or(parts):
                word = " AND " if isinstance(predicate, t.And) else " OR "
                return f"({word.join(self.truth(part) for part in parts)})"
            case t.Not(part):
                return f"(NOT {self.truth(part)})"
            case t.IsNull(part):
                return f"({self.truth(part)} IS NULL)"
            case t.Member(column, values):
                return self._member(column, values)
            case t.NullTest(column):
                return f"({self._written(column)} IS NULL)"
            case t.ColumnCompare(op, left, right):
                return self._compared(op, left, right)
            case t.Exact():
                raise NotExact("an expression over partition columns is evaluated for each file, not for each row")
            case _:
                raise NotExact(f"{type(predicate).__name__} has no exact form")

    def _member(self, column: t.Column, values: IntervalSet) -> str:
        name, type_ = self._carried(column), column.type
        if type_.family is None:
            raise NotExact(f"values of type {type_} have no order")
        bounded = [interval for interval in values.intervals if interval != Interval(None, None)]
        has_all = len(bounded) < len(values.intervals)
        points = [interval.lo for interval in bounded if interval.is_point()]
        ranges = [interval for interval in bounded if not interval.is_point()]
        if len(points) < _LISTED:
            points, ranges = [], bounded
        tests = [_between(name, interval, type_) for interval in ranges]
        if points:
            tests.append(f"{name} IN ({', '.join(_literal(point, type_) for point in points)})")
        if type_.family is Family.REAL:
            tests = ["TRUE"] if has_all else tests
            inside = " OR ".join(tests) or "FALSE"
            return f"(CASE WHEN {name} IS NULL THEN NULL WHEN isnan({name}) THEN {bool(values.nan)} ELSE {inside} END)"
        if not tests:
            return f"(CASE WHEN {name} IS NULL THEN NULL ELSE {has_all} END)"
        return f"({' OR '.join(tests)})"

    def _compared(self, op: t.Op, left: t.Column, right: t.Column) -> str:
        if op not in (t.Op.EQ, t.Op.LT, t.Op.LE):
            raise NotExact(f"columns are compared by {op.value}")
        a, b = self._carried(left), self._carried(right)
        if left.type.kind is Kind.DECIMAL and left.type != right.type:
            scale = max(left.type.scale, right.type.scale)
            whole = max(left.type.precision - left.type.scale, right.type.precision - right.type.scale)
            if whole + scale > 38:  # digits of DuckDB's decimals
                raise NotExact(f"{left.type} and {right.type} have no common type in DuckDB")
            a, b = (f"CAST({side} AS DECIMAL({whole + scale},{scale}))" for side in (a, b))
        return f"({a} {op.value} {b})"

    def _carried(self, column: t.Column) -> str:
        """The column as the canonical values of its type."""
        name = self._written(column)
        match column.type.kind:
            case Kind.FLOAT | Kind.DOUBLE:
                return f"CAST({name} AS DOUBLE)"
            case Kind.DATE:
                return f"({name} - DATE '1970-01-01')"
            case Kind.TIMESTAMP | Kind.TIMESTAMP_NTZ:
                return f"epoch_us({name})"
            case _:
                return name


def _between(name: str, interval: Interval, type_: DataType) -> str:
    if interval.is_point():
        return f"{name} = {_literal(interval.lo, type_)}"
    sides = []
    if interval.lo is not None:
        sides.append(f"{name} {'>' if interval.lo_open else '>='} {_literal(interval.lo, type_)}")
    if interval.hi is not None:
        sides.append(f"{name} {'<' if interval.hi_open else '<='} {_literal(interval.hi, type_)}")
    return sides[0] if len(sides) == 1 else f"({' AND '.join(sides)})"


def _literal(value: Any, type_: DataType) -> str:
    match type_.family:
        case Family.BOOLEAN:
            return "TRUE" if value else "FALSE"
        case Family.INTEGER:
            return str(int(value))
        case Family.REAL:
            return f"CAST('{float(value)!r}' AS DOUBLE)"
        case Family.DECIMAL:
            return f"CAST('{value:f}' AS DECIMAL({type_.precision},{type_.scale}))"
        case Family.TEXT:
            if any("\ud800" <= char <= "\udfff" for char in value):
                raise NotExact("a bound of it is not a text that DuckDB can hold")
            return _DIALECT.text(value)
        case Family.BYTES:
            return _DIALECT.binary(value)
        case _:
            raise NotExact(f"values of type {type_} have no order")
