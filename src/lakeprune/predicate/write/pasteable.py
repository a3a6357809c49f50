"""A normalised predicate as plain comparisons of bare columns: SQL that any engine can check against minimum and maximum.

In: a tree after normalising. Out: SQL text that reads back to the same truth on every row, or to a condition that the predicate
implies. Never shortened: `show` is for reading, this is for pasting. What has no such spelling is None.
"""

from __future__ import annotations

from lakeprune.predicate.passes.rebuild import all_of, any_of
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import (
    TRUE,
    And,
    Column,
    ColumnCompare,
    Constant,
    Either,
    Exact,
    Expr,
    In,
    IsNull,
    Member,
    Not,
    NullTest,
    Opaque,
    Or,
)
from lakeprune.predicate.walk import columns_of, nodes
from lakeprune.predicate.write.sets import MAX_LISTED
from lakeprune.predicate.write.show import name_text, show
from lakeprune.values.intervals import Interval, IntervalSet, successor
from lakeprune.values.literals import format_value
from lakeprune.values.types import Kind

_LAST_OF_9999 = 253_402_214_400_000_000  # a day early, for any zone: not every engine reads a year of five digits
MOST_COMPARISONS = 200  # a longer text is no help to anyone


def is_exact(predicate: Expr) -> bool:
    """Whether every row has exactly the truth the tree says, so that its spelling may replace the original."""
    return not any(isinstance(node, Opaque | Either) for node in nodes(predicate))


def implied(predicate: Expr) -> Expr:
    """What is TRUE wherever the predicate is, without what metadata cannot decide; TRUE when nothing is left."""
    match predicate:
        case And(parts):
            kept = [part for part in map(implied, parts) if part != TRUE]
            return all_of(kept) if kept else TRUE
        case Or(parts):
            weakened = [implied(part) for part in parts]
            return TRUE if TRUE in weakened else any_of(weakened)
        case Either(outer, _):
            return implied(outer)
        case _:
            return predicate if is_exact(predicate) else TRUE


def only(predicate: Expr, role: Role) -> Expr:
    """What a predicate implies about the columns of one role; TRUE when that is nothing."""
    match predicate:
        case And(parts):
            kept = [part for part in (only(part, role) for part in parts) if part != TRUE]
            return all_of(kept) if kept else TRUE
        case Or(parts):
            weakened = tuple(only(part, role) for part in parts)
            return TRUE if TRUE in weakened else Or(weakened)
        case _:
            return predicate if all(column.role is role for column in columns_of(predicate)) else TRUE


def spell(predicate: Expr, zone: str) -> str | None:
    """The text; None when some part has no plain spelling, or when it would be very long."""
    if sum(len(node.values.intervals) for node in nodes(predicate) if isinstance(node, Member)) > MOST_COMPARISONS:
        return None
    return _text(predicate, zone)


def _text(predicate: Expr, zone: str) -> str | None:
    match predicate:
        case Constant(truth):
            return format_value(truth, None)
        case And(parts) | Or(parts):
            word = " AND " if isinstance(predicate, And) else " OR "
            texts = [_text(part, zone) for part in parts]
            if not texts or None in texts:
                return None
            return word.join(_inside(part, str(text)) for part, text in zip(parts, texts, strict=True))
        case IsNull(Member(column, _)):
            return f"{name_text(column.path)} IS NULL"
        case Not(part) | IsNull(part):
            text = None if any(_hides_null(node) for node in nodes(part)) else _text(part, zone)
            if text is None:
                return None
            return f"NOT ({text})" if isinstance(predicate, Not) else f"({text}) IS NULL"
        case Member(column, values):
            return _member(column, values, zone)
        case NullTest(column, _):
            return f"{name_text(column.path)} IS NULL"
        case ColumnCompare(op, left, right):
            return f"{name_text(left.path)} {op.value} {name_text(right.path)}"
        case Exact(spelt, _):
            return spelt_text(spelt, zone)
        case _:
            return None


def _hides_null(node: Expr) -> bool:
    """Whether the text of a set is FALSE where the set is NULL: no harm in a filter, but in the operand of NOT and IS NULL."""
    return isinstance(node, Member) and (not node.values.intervals or node.values.intervals[0] == Interval(None, None))


def spelt_text(expr: Expr, zone: str) -> str | None:
    """A bound expression as the user wrote it, whole: None where showing it would cut a long list short."""
    return None if any(_is_shortened(node) for node in nodes(expr)) else show(expr, zone)


def _is_shortened(node: Expr) -> bool:
    listed = node.options if isinstance(node, In) else node.parts if isinstance(node, And | Or) else ()
    return len(listed) > MAX_LISTED


def _inside(part: Expr, text: str) -> str:
    """An operand of AND or OR."""
    single = isinstance(part, NullTest | ColumnCompare | Constant)
    if isinstance(part, Member):
        single = len(part.values.intervals) == 1 and part.values.nan is None and " AND " not in text
    return text if single else f"({text})"


def _member(column: Column, values: IntervalSet, zone: str) -> str | None:
    """The set as comparisons joined by OR; NaN, where the type has it, only when it follows the last interval."""
    if not values.intervals:
        return "FALSE" if not values.nan else None
    natural = values.intervals[-1].hi is None
    if values.nan is not None and values.nan != natural:
        return None
    missing = values.complement().intervals
    if len(missing) == 1 and missing[0].is_point():
        return f"{name_text(column.path)} != {format_value(missing[0].lo, column.type, zone)}"
    texts = [_interval(column, interval, values, zone) for interval in values.intervals]
    if len(texts) == 1:
        return texts[0]
    return " OR ".join(f"({text})" if " AND " in text else text for text in texts)


def _interval(column: Column, interval: Interval, values: IntervalSet, zone: str) -> str:
    name, lo, hi = name_text(column.path), interval.lo, interval.hi
    if lo is None and hi is None:
        return f"{name} IS NOT NULL"

    def value(bound: object) -> str:
        return format_value(bound, column.type, zone)  # type: ignore[arg-type]  # bounds are canonical values

    if interval.is_point():
        return f"{name} = {value(lo)}"
    sides = []
    is_time = column.type.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ) and values.step == 1
    if lo is not None:
        is_late = is_time and lo > _LAST_OF_9999
        sides.append(f"{name} > {value(lo - 1)}" if is_late else f"{name} {'>' if interval.lo_open else '>='} {value(lo)}")
    if hi is not None:
        if is_time and (hi + 1) % 1_000_000 == 0 and hi < _LAST_OF_9999:
            sides.append(f"{name} < {value(hi + 1)}")
        else:
            sides.append(f"{name} {'<' if interval.hi_open else '<='} {value(hi)}")
    if isinstance(lo, str) and lo and not interval.lo_open and interval.hi_open and successor(lo) == hi:
        pattern = lo.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return f"{name} LIKE {format_value(pattern + '%', None)}"
    return " AND ".join(sides)
