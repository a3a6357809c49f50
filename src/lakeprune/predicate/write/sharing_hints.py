"""A normalised predicate as hints of Delta Sharing: JSON nodes, and SQL where it has the words.

In: clauses in which no column is a partition column, so that functions have become ranges. Out: nodes that are TRUE on every row
on which the predicate is TRUE, and what could not be said. A hint may say less than the predicate, never more: where a
value has no form, the bound is moved outwards or left out.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any

from msgspec import Struct

from lakeprune.predicate import tree as t
from lakeprune.predicate.tree import Column, Expr
from lakeprune.predicate.write.show import show
from lakeprune.values.intervals import Interval, IntervalSet, everything
from lakeprune.values.literals import date_text
from lakeprune.values.time.calendar import DAY
from lakeprune.values.types import Kind

Node = dict[str, Any]

MAX_VALUES = 500  # intervals of one column; more are merged
MAX_NOT_EQUAL = 20
MAX_NEIGHBOURS = 3  # values beside each other that are listed; more are a range
_COUNTED = frozenset({Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG, Kind.DATE})
_TYPES = {
    Kind.BOOLEAN: "bool", Kind.BYTE: "int", Kind.SHORT: "int", Kind.INT: "int", Kind.LONG: "long", Kind.FLOAT: "float",
    Kind.DOUBLE: "double", Kind.STRING: "string", Kind.DATE: "date", Kind.TIMESTAMP: "timestamp",
}  # fmt: skip
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, which every reader of dates knows
_MILLISECOND = 1000
NOTHING: Node = {"op": "literal", "value": "false", "valueType": "bool"}
_FLIPPED = {t.Op.EQ: "equal", t.Op.LT: "lessThan", t.Op.LE: "lessThanOrEqual"}


class Omitted(Struct, frozen=True):
    """A part of a predicate that hints cannot express."""

    text: str
    reason: str


class HintWriter:
    """Writes the clauses of one predicate; `is_exact` is False once a hint says less than its clause."""

    def __init__(self) -> None:
        self.omitted: list[Omitted] = []
        self.is_exact = True

    def node(self, expr: Expr) -> Node | None:
        """What the predicate implies; None when that is nothing."""
        match expr:
            case t.And(parts):
                return joined("and", [found for part in parts if (found := self.node(part)) is not None])
            case t.Or(parts):
                alternatives = [part for part in parts if part not in (t.FALSE, t.NULL)]
                nodes = [self.node(part) for part in alternatives]
                known = [node for node in nodes if node is not None]
                return joined("or", known) if known and len(known) == len(nodes) else None
            case t.Either(outer, _):
                self.is_exact = False
                return self.node(outer)
            case t.Constant(truth):
                return None if truth else NOTHING
            case t.Member(column, values):
                return self._member(column, values)
            case t.NullTest(column, leaves):
                return None if self._has_no_form(column, expr, is_struct=bool(leaves)) else _is_null(column)
            case t.Not(t.NullTest(column, leaves)):
                is_struct = bool(leaves)
                return None if self._has_no_form(column, expr, is_struct=is_struct) else _not(_is_null(column))
            case t.ColumnCompare(op, left, right):
                return self._columns(expr, op, left, right)
            case t.Not(t.ColumnCompare(op, left, right) as inside):
                found = self._columns(inside, op, left, right)
                return None if found is None else _not(found)
            case t.Opaque(text, reason):
                self._omit(text, reason.message)
            case _:
                self._omit(show(expr), "hints have no form for it")
        return None

    def _omit(self, text: str, why: str) -> None:
        self.is_exact = False
        omitted = Omitted(text, why)
        if omitted not in self.omitted:
            self.omitted.append(omitted)

    def _has_no_form(self, column: Column, expr: Expr, *, is_struct: bool = False) -> bool:
        if len(column.path) > 1:
            self._omit(show(expr), "hints cannot name nested fields")
        elif is_struct or column.type.kind not in _TYPES or column.type.collation is not None:
            self._omit(show(expr), f"hints have no values of type {column.type}")
        else:
            return False
        return True

    def _columns(self, expr: Expr, op: t.Op, left: Column, right: Column) -> Node | None:
        if self._has_no_form(left, expr) or self._has_no_form(right, expr):
            return None
        if left.type != right.type:
            self._omit(show(expr), "hints compare columns of one type")
            return None
        return {"op": _FLIPPED[op], "children": [_column(left), _column(right)]}

    def _member(self, column: Column, values: IntervalSet) -> Node | None:
        if self._has_no_form(column, t.Member(column, values)):
            return None
        if values.is_empty():
            return NOTHING
        if values == everything(column.type):
            return _not(_is_null(column))
        excluded = values.complement()
        points = [interval.lo for interval in excluded.intervals if interval.is_point()]
        if points and len(points) == len(excluded.intervals) <= MAX_NOT_EQUAL and not excluded.nan and column.type.kind not in (
            Kind.TIMESTAMP, Kind.BOOLEAN, Kind.FLOAT
        ):  # fmt: skip
            return joined("and", [_not(_compared("equal", column, _text(point, column))) for point in points])
        merged = values.merged_to(MAX_VALUES)
        self.is_exact = self.is_exact and merged is values
        parts = [self._interval(column, interval) for interval in _listed(column, merged.intervals)]
        if values.nan and not any(interval.hi is None for interval in merged.intervals):
            parts.append([_compared("equal", column, "NaN")])
        if any(not part for part in parts):
            return _not(_is_null(column))  # one side has no end left: every value may be meant
        return joined("or", [joined("and", part) or NOTHING for part in parts])

    def _interval(self, column: Column, interval: Interval) -> list[Node]:
        """The comparisons of one interval, none when both ends are open."""
        if interval.is_point() and self._end(column, interval.lo, up=False) == (interval.lo, True):
            return [_compared("equal", column, _text(interval.lo, column))]
        parts = []
        for bound, is_open, up in ((interval.lo, interval.lo_open, False), (interval.hi, interval.hi_open, True)):
            found = None if bound is None else self._end(column, bound, up=up)
            if found is not None:
                value_, is_exact = found
                op = ("lessThan" if up else "greaterThan") + ("" if is_open and is_exact else "OrEqual")
                parts.append(_compared(op, column, _text(value_, column)))
        return parts

    def _end(self, column: Column, value: Any, *, up: bool) -> tuple[Any, bool] | None:
        """The bound, moved outwards to a value that has a form, and whether it stayed; None when it has none."""
        moved = value
        if column.type.kind is Kind.TIMESTAMP:
            moved = -(-value // _MILLISECOND) * _MILLISECOND if up else value // _MILLISECOND * _MILLISECOND
            if not _FIRST_DAY <= moved // DAY <= _LAST_DAY:
                moved = None
        elif column.type.kind is Kind.DATE and not _FIRST_DAY <= value <= _LAST_DAY:
            moved = None
        elif column.type.kind is Kind.FLOAT:
            moved = _outward(value, up=up)
        if moved is None or moved != value:
            self.is_exact = False
        return None if moved is None else (moved, moved == value)


def _listed(column: Column, intervals: tuple[Interval, ...]) -> list[Interval]:
    """The intervals, with neighbours of a short list as the single values that they are."""
    found: list[Interval] = []
    for interval in intervals:
        is_list = column.type.kind in _COUNTED and interval.lo is not None and interval.hi is not None
        if is_list and interval.hi - interval.lo < MAX_NEIGHBOURS:
            found.extend(Interval(value, value) for value in range(interval.lo, interval.hi + 1))
        else:
            found.append(interval)
    return found


def joined(op: str, parts: list[Node]) -> Node | None:
    """AND or OR of nodes, without a node around a single one."""
    if len(parts) < 2:
        return parts[0] if parts else None
    flat = [child for part in parts for child in (part["children"] if part["op"] == op else [part])]
    return {"op": op, "children": flat}


def json_text(node: Node) -> str:
    """The text of `jsonPredicateHints`."""
    return json.dumps(node, separators=(",", ":"))


def _is_null(column: Column) -> Node:
    return {"op": "isNull", "children": [_column(column)]}


def _not(node: Node) -> Node:
    return {"op": "not", "children": [node]}


def _column(column: Column) -> Node:
    return {"op": "column", "name": column.path[0], "valueType": _TYPES[column.type.kind]}


def _compared(op: str, column: Column, text: str) -> Node:
    return {"op": op, "children": [_column(column), {"op": "literal", "value": text, "valueType": _TYPES[column.type.kind]}]}


def _text(value: Any, column: Column) -> str:
    match column.type.kind:
        case Kind.BOOLEAN:
            return str(value).lower()
        case Kind.DATE:
            return date_text(value)
        case Kind.TIMESTAMP:
            seconds, micros = divmod(value % DAY, 1_000_000)
            clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
            return f"{date_text(value // DAY)}T{clock}.{micros // _MILLISECOND:03d}Z"
        case Kind.FLOAT | Kind.DOUBLE:
            real = float(value)
            return repr(real) if math.isfinite(real) else ("Infinity" if real > 0 else "-Infinity")
        case _:
            return str(value)


def _outward(value: float, *, up: bool) -> float | None:
    """The FLOAT at or beyond a double, in the direction away from the interval; None beyond the largest."""
    if math.isinf(value):
        return value
    try:
        near: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return None
    if near == value or (near > value) == up:
        return near
    (bits,) = struct.unpack("<i", struct.pack("<f", near))
    if near == 0:
        return None
    step = 1 if (near > 0) == up else -1
    (moved,) = struct.unpack("<f", struct.pack("<i", bits + step))
    return None if math.isinf(moved) else float(moved)
