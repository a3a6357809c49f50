"""A normalised predicate as plain comparisons of bare columns: SQL that any engine can check against minimum and maximum.

In: a tree after normalising. Out: SQL text that reads back to the same truth on every row, or to a condition that the predicate
implies. Never shortened: `show` is for reading, this is for pasting. What cannot be written so is None.
"""

from __future__ import annotations

from collections.abc import Callable

from lakeprune.predicate import tree as t
from lakeprune.predicate.passes.rebuild import all_of, any_of
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Expr
from lakeprune.predicate.walk import columns_of, nodes
from lakeprune.predicate.write.sets import MAX_LISTED, is_prefix, prefix_pattern, upper_end
from lakeprune.predicate.write.show import name_text, show
from lakeprune.values.intervals import Interval, IntervalSet
from lakeprune.values.literals import format_value
from lakeprune.values.types import Kind

_LAST_OF_9999 = 253_402_214_400_000_000  # a day early, for any zone: not every engine reads a year of five digits
_MOMENTS = (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ)
MOST_COMPARISONS = 200  # a longer text helps nobody


def is_exact(predicate: Expr) -> bool:
    """Whether every row has exactly the truth the tree says, so that its text may replace the original."""
    return not any(isinstance(node, t.Opaque | t.Either) for node in nodes(predicate))


def implied(predicate: Expr) -> Expr:
    """What is TRUE wherever the predicate is, without what metadata cannot decide; TRUE when nothing is left."""
    return _weakened(predicate, is_exact)


def only(predicate: Expr, role: Role) -> Expr:
    """What a predicate implies about the columns of one role; TRUE when that is nothing."""
    return _weakened(predicate, lambda part: all(column.role is role for column in columns_of(part)))


def _weakened(predicate: Expr, is_kept: Callable[[Expr], bool]) -> Expr:
    match predicate:
        case t.And(parts):
            kept = [part for part in (_weakened(part, is_kept) for part in parts) if part != t.TRUE]
            return all_of(kept) if kept else t.TRUE
        case t.Or(parts):
            # A leg that is never TRUE adds nothing to what is demanded.
            weakened = [_weakened(part, is_kept) for part in parts if part not in (t.FALSE, t.NULL)]
            return t.TRUE if t.TRUE in weakened else any_of(weakened) if weakened else t.FALSE
        case t.Either(outer, _):
            return _weakened(outer, is_kept)
        case _:
            return predicate if is_kept(predicate) else t.TRUE


def plain_sql(predicate: Expr, zone: str) -> str | None:
    """The text; None when some part cannot be written so, or when it would be very long."""
    if sum(len(node.values.intervals) for node in nodes(predicate) if isinstance(node, t.Member)) > MOST_COMPARISONS:
        return None
    return _text(predicate, zone)


def _text(predicate: Expr, zone: str) -> str | None:
    match predicate:
        case t.Constant(truth):
            return format_value(truth, None)
        case t.And(parts) | t.Or(parts):
            word = " AND " if isinstance(predicate, t.And) else " OR "
            texts = [_text(part, zone) for part in parts]
            if not texts or None in texts:
                return None
            return word.join(_inside(part, str(text)) for part, text in zip(parts, texts, strict=True))
        case t.IsNull(t.Member(column, _)):
            return f"{name_text(column.path)} IS NULL"
        case t.Not(t.NullTest(column, _)):
            return f"{name_text(column.path)} IS NOT NULL"
        case t.Not(part) | t.IsNull(part):
            text = None if any(_hides_null(node) for node in nodes(part)) else _text(part, zone)
            if text is None:
                return None
            return f"NOT ({text})" if isinstance(predicate, t.Not) else f"({text}) IS NULL"
        case t.Member(column, values):
            return _member(column, values, zone)
        case t.NullTest(column, _):
            return f"{name_text(column.path)} IS NULL"
        case t.ColumnCompare(op, left, right):
            return f"{name_text(left.path)} {op.value} {name_text(right.path)}"
        case t.Exact(written, _):
            return whole_text(written, zone)
        case _:
            return None


def _hides_null(node: Expr) -> bool:
    """Whether the text of a set is FALSE where the set is NULL: no harm in a filter, but in the operand of NOT and IS NULL."""
    return isinstance(node, t.Member) and (not node.values.intervals or node.values.intervals[0] == Interval(None, None))


def whole_text(expr: Expr, zone: str) -> str | None:
    """A bound expression as the user wrote it, whole; None where showing it would shorten a long list."""
    return None if any(_is_shortened(node) for node in nodes(expr)) else show(expr, zone)


def _is_shortened(node: Expr) -> bool:
    listed = node.options if isinstance(node, t.In) else node.parts if isinstance(node, t.And | t.Or) else ()
    return len(listed) > MAX_LISTED


def _inside(part: Expr, text: str) -> str:
    """An operand of AND or OR."""
    single = isinstance(part, t.NullTest | t.ColumnCompare | t.Constant)
    if isinstance(part, t.Member):
        single = len(part.values.intervals) == 1 and part.values.nan is None and " AND " not in text
    return text if single else f"({text})"


def _member(column: t.Column, values: IntervalSet, zone: str) -> str | None:
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


def _interval(column: t.Column, interval: Interval, values: IntervalSet, zone: str) -> str:
    name, lo, hi = name_text(column.path), interval.lo, interval.hi
    if lo is None and hi is None:
        return f"{name} IS NOT NULL"

    def value(bound: object) -> str:
        return format_value(bound, column.type, zone)  # type: ignore[arg-type]  # bounds are canonical values

    if interval.is_point():
        return f"{name} = {value(lo)}"
    if is_prefix(interval):
        return f"{name} LIKE {prefix_pattern(lo)}"
    sides = []
    if lo is not None:
        is_late = column.type.kind in _MOMENTS and lo > _LAST_OF_9999
        sides.append(f"{name} > {value(lo - 1)}" if is_late else f"{name} {'>' if interval.lo_open else '>='} {value(lo)}")
    if hi is not None:
        is_late = column.type.kind in _MOMENTS and hi >= _LAST_OF_9999
        operator, end = ("<=", hi) if is_late else upper_end(interval, values, column.type)
        sides.append(f"{name} {operator} {value(end)}")
    return " AND ".join(sides)
