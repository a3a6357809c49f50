"""A set of values as the comparison a person would write.

In: the text of a column and an `IntervalSet`. Out: `x = 5`, `x != 5`, `x IN (1, 2)`, `x BETWEEN 1 AND 9`, `s LIKE 'ab%'`, ...
and the connective that holds the text together ("" for a single comparison).
"""

from __future__ import annotations

from itertools import pairwise

from lakeprune.values.intervals import Bound, Interval, IntervalSet, successor
from lakeprune.values.literals import format_value
from lakeprune.values.time.calendar import SECOND
from lakeprune.values.types import DataType, Kind

MAX_LISTED = 20  # of a long list or chain; the rest is counted
_NAN = "CAST('NaN' AS DOUBLE)"


def comparison_text(subject: str, type_: DataType | None, values: IntervalSet, zone: str) -> tuple[str, str]:
    """The text and its outermost connective: "OR", "AND" or "".

    >>> from lakeprune.values.intervals import compare, INT_TYPE
    >>> comparison_text("x", INT_TYPE, compare("!=", 5, INT_TYPE), "UTC")
    ('x != 5', '')
    """
    return _Comparison(subject, type_, zone).text(values)


class _Comparison:
    def __init__(self, subject: str, type_: DataType | None, zone: str) -> None:
        self._subject = subject
        self._type = type_
        self._zone = zone

    def text(self, values: IntervalSet) -> tuple[str, str]:
        intervals = values.intervals
        if not intervals:
            return (f"{self._subject} = {_NAN}", "") if values.nan else ("FALSE", "")
        text, word = self._ordered(values)
        natural = intervals[-1].hi is None
        if values.nan is None or values.nan == natural:
            return text, word
        inner = f"({text})" if word == "OR" else text
        if values.nan:
            return f"{text} OR {self._subject} = {_NAN}", "OR"
        return f"{inner} AND {self._subject} < {_NAN}", "AND"

    def _ordered(self, values: IntervalSet) -> tuple[str, str]:
        """The set without its NaN, which is a member exactly when the last interval has no end."""
        intervals = values.intervals
        if len(intervals) == 1:
            return self._one(intervals[0], values)
        holes = _holes(values)
        if holes is not None:
            return self._listed("NOT IN", holes) if len(holes) > 1 else (f"{self._subject} != {self._value(holes[0])}", "")
        if all(interval.is_point() for interval in intervals):
            return self._listed("IN", [interval.lo for interval in intervals])
        parts = []
        for interval in intervals[:MAX_LISTED]:
            text, word = self._one(interval, values)
            parts.append(f"({text})" if word == "AND" else text)
        if len(intervals) > MAX_LISTED:
            parts.append(f"... {len(intervals) - MAX_LISTED:,} more")
        return " OR ".join(parts), "OR"

    def _listed(self, operator: str, points: list[Bound]) -> tuple[str, str]:
        shown = [self._value(point) for point in points[:MAX_LISTED]]
        if len(points) > MAX_LISTED:
            shown.append(f"... {len(points) - MAX_LISTED:,} more")
        return f"{self._subject} {operator} ({', '.join(shown)})", ""

    def _one(self, interval: Interval, values: IntervalSet) -> tuple[str, str]:
        lo, hi = interval.lo, interval.hi
        if lo is None and hi is None:
            return f"{self._subject} IS NOT NULL", ""
        if interval.is_point():
            return f"{self._subject} = {self._value(lo)}", ""
        if is_prefix(interval):
            return f"{self._subject} LIKE {prefix_pattern(lo)}", ""
        operator, end = upper_end(interval, values, self._type)
        below = f"{operator} {self._value(end)}"
        above = f"{self._subject} {'>' if interval.lo_open else '>='} {self._value(lo)}"
        if hi is None:
            return above, ""
        if lo is None:
            return f"{self._subject} {below}", ""
        if not interval.lo_open and below.startswith("<= "):
            return f"{self._subject} BETWEEN {self._value(lo)} AND {below[3:]}", ""
        return f"{above} AND {self._subject} {below}", "AND"

    def _value(self, value: Bound) -> str:
        return format_value(value, self._type, self._zone)


def is_prefix(interval: Interval) -> bool:
    """Whether the interval holds exactly the texts with one prefix."""
    lo, hi = interval.lo, interval.hi
    return isinstance(lo, str) and lo != "" and not interval.lo_open and (hi is None or interval.hi_open) and successor(lo) == hi


def prefix_pattern(prefix: str) -> str:
    """The literal of a LIKE pattern for texts with the prefix."""
    escaped = prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return format_value(escaped + "%", None)


def upper_end(interval: Interval, values: IntervalSet, type_: DataType | None) -> tuple[str, Bound]:
    """The operator and the bound of the upper end; the last microsecond of a second is below the start of the next."""
    is_time = type_ is not None and type_.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ) and values.step == 1
    if is_time and isinstance(interval.hi, int) and (interval.hi + 1) % SECOND == 0:
        return "<", interval.hi + 1
    return "<" if interval.hi_open else "<=", interval.hi


def _holes(values: IntervalSet) -> list[Bound] | None:
    """The points that are missing, when the set is everything else; None when more than points are."""
    intervals = values.intervals
    if intervals[0].lo is not None or intervals[-1].hi is not None:
        return None
    missing = []
    for left, right in pairwise(intervals):
        if left.hi_open and right.lo_open and left.hi == right.lo:
            missing.append(left.hi)
        elif values.step is not None and not isinstance(left.hi, bool) and left.hi + 2 * values.step == right.lo:
            missing.append(left.hi + values.step)
        else:
            return None
    return missing
