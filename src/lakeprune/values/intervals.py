"""Sets of values as sorted, disjoint intervals: the one shape every comparison ends in.

In: canonical values of one type. Out: `IntervalSet`. `x = 5`, `x > 5`, `x BETWEEN 1 AND 9`, `x IN (1, 7)`, `s LIKE 'ab%'`
are all "x lies in S"; AND on one column is intersection, OR is union, NOT is complement. Bounds are exact, never rounded:
on a discrete type the set is snapped inwards to values the type has, so `int < 3.5` is the set `..3`.

NaN is a member of its own (`nan`), because it is the greatest value in Spark yet lies outside every stored bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from msgspec import Struct

from lakeprune.values.floats import to_double
from lakeprune.values.types import INTEGER_RANGES, DataType, Family, Kind

Bound = Any  # a canonical, non-NULL, non-NaN value of the set's family; None = unbounded on that side


class Interval(Struct, frozen=True, cache_hash=True):
    lo: Bound
    hi: Bound
    lo_open: bool = False
    hi_open: bool = False

    def is_point(self) -> bool:
        return self.lo is not None and self.lo == self.hi and not self.lo_open and not self.hi_open


class IntervalSet(Struct, frozen=True, cache_hash=True):
    """A set of values; `step` is the distance between neighbours on a discrete type, None on a dense one.

    `nan` says whether NaN is a member; None when the type has no NaN.
    """

    intervals: tuple[Interval, ...]
    nan: bool | None = None
    step: int | Decimal | None = None

    def is_empty(self) -> bool:
        return not self.intervals and not self.nan

    def contains(self, value: Bound) -> bool:
        if isinstance(value, float) and math.isnan(value):
            return bool(self.nan)
        return any(_inside(value, interval) for interval in self.intervals)

    def intersect(self, other: IntervalSet) -> IntervalSet:
        return _normal(_pairwise_meets(self.intervals, other.intervals), self.nan and other.nan, self.step)

    def union(self, other: IntervalSet) -> IntervalSet:
        return _normal((*self.intervals, *other.intervals), self.nan or other.nan, self.step)

    def complement(self) -> IntervalSet:
        """Every value of the type that is not in the set.

        >>> between(3, 5, INT_TYPE).complement().intervals
        (Interval(lo=None, hi=2, lo_open=False, hi_open=False), Interval(lo=6, hi=None, lo_open=False, hi_open=False))
        """
        gaps: list[Interval] = []
        lo, lo_open = None, False
        for interval in self.intervals:
            if interval.lo is not None:
                gaps.append(Interval(lo, interval.lo, lo_open, not interval.lo_open))
            lo, lo_open = interval.hi, not interval.hi_open
        if lo is not None or not self.intervals:
            gaps.append(Interval(lo, None, lo_open))
        return _normal(gaps, None if self.nan is None else not self.nan, self.step)

    def merged_to(self, limit: int) -> IntervalSet:
        """A superset of at most `limit` intervals, joined across the smallest gaps; the set itself when it fits.

        >>> values([1, 2, 50, 52], INT_TYPE).merged_to(2).intervals
        (Interval(lo=1, hi=2, lo_open=False, hi_open=False), Interval(lo=50, hi=52, lo_open=False, hi_open=False))
        """
        if len(self.intervals) <= limit:
            return self
        lasts = [*sorted(_widest_gaps(self.intervals, limit - 1)), len(self.intervals) - 1]
        ends = [(self.intervals[before + 1], self.intervals[last]) for before, last in pairwise([-1, *lasts])]
        joined = [Interval(first.lo, last.hi, first.lo_open, last.hi_open) for first, last in ends]
        return IntervalSet(tuple(joined), self.nan, self.step)

    def first(self, limit: int) -> IntervalSet:
        """A subset of at most `limit` intervals."""
        return self if len(self.intervals) <= limit else IntervalSet(self.intervals[:limit], self.nan, self.step)


def everything(type_: DataType) -> IntervalSet:
    return IntervalSet((Interval(None, None),), _nan(type_, member=True), step_of(type_))


def nothing(type_: DataType) -> IntervalSet:
    return IntervalSet((), _nan(type_, member=False), step_of(type_))


def compare(op: str, value: Any, type_: DataType) -> IntervalSet:
    """The values of `type_` for which `column op value` is TRUE; `value` is exact and may be finer than the type.

    `op` is one of = != < <= > >=. NaN compares as Spark does: equal to itself and above everything.

    >>> compare("<", Fraction(7, 2), INT_TYPE).intervals
    (Interval(lo=None, hi=3, lo_open=False, hi_open=False),)
    >>> compare("=", Fraction(7, 2), INT_TYPE).is_empty()
    True
    """
    if op == "!=":
        return compare("=", value, type_).complement()
    if isinstance(value, float) and math.isnan(value):
        below, at = op in ("<", "<="), op in ("=", "<=", ">=")
        return IntervalSet((Interval(None, None),) if below else (), _nan(type_, member=at), step_of(type_))
    raw = {
        "=": Interval(value, value),
        "<": Interval(None, value, hi_open=True),
        "<=": Interval(None, value),
        ">": Interval(value, None, lo_open=True),
        ">=": Interval(value, None),
    }[op]
    return _normal(_snap([raw], type_), _nan(type_, member=op in (">", ">=")), step_of(type_))


def between(low: Any, high: Any, type_: DataType) -> IntervalSet:
    return compare(">=", low, type_).intersect(compare("<=", high, type_))


def values(items: Iterable[Any], type_: DataType) -> IntervalSet:
    """The set of these values; items that the type cannot hold are not in it."""
    points = list(items)
    if type_.family is Family.INTEGER and all(type(v) is int for v in points):
        return _runs(points, type_)
    nan = any(isinstance(v, float) and math.isnan(v) for v in points)
    exact = [Interval(v, v) for v in points if not (isinstance(v, float) and math.isnan(v))]
    return _normal(_snap(exact, type_), _nan(type_, member=nan), step_of(type_))


def from_intervals(intervals: Iterable[Interval], type_: DataType, *, nan: bool = False) -> IntervalSet:
    """The values of `type_` inside these intervals, whose bounds are exact and may be finer than the type.

    >>> from_intervals([Interval(Fraction(1, 2), 4), Interval(3, 9, hi_open=True)], INT_TYPE).intervals
    (Interval(lo=1, hi=8, lo_open=False, hi_open=False),)
    """
    return _normal(_snap(intervals, type_), _nan(type_, member=nan), step_of(type_))


def prefixed(prefix: str) -> IntervalSet:
    """Every string that starts with `prefix`.

    >>> prefixed("ab").intervals
    (Interval(lo='ab', hi='ac', lo_open=False, hi_open=True),)
    """
    return IntervalSet((Interval(prefix, successor(prefix), hi_open=True),))


def successor(prefix: str) -> str | None:
    """The least string above every extension of `prefix` in UTF-8 byte order, None when there is none.

    >>> successor("a\\U0010ffff")
    'b'
    >>> successor("\\ud7ff") == "\\ue000"
    True
    """
    rest = prefix.rstrip("\U0010ffff")
    if not rest:
        return None
    code = ord(rest[-1]) + 1
    return rest[:-1] + chr(0xE000 if code == 0xD800 else code)


def step_of(type_: DataType) -> int | Decimal | None:
    """The distance between neighbouring values of a discrete type."""
    family = type_.family
    if family in (Family.INTEGER, Family.BOOLEAN):
        return 1
    if family is Family.DECIMAL:
        return Decimal(1).scaleb(-type_.scale)
    return None


INT_TYPE = DataType(Kind.INT)  # for the examples on this page
_WIDE = Context(prec=100)  # decimals here are exact: never let the ambient precision round one


def _nan(type_: DataType, *, member: bool) -> bool | None:
    return member if type_.family is Family.REAL else None


def _snap(intervals: Iterable[Interval], type_: DataType) -> Iterable[Interval]:
    """Intervals narrowed to values the type really has, closed, and open them where they reach the type's end."""
    family = type_.family
    if family is Family.REAL:
        return [_as_double(interval) for interval in intervals]
    if family not in (Family.INTEGER, Family.DECIMAL):
        return list(intervals)
    scale = type_.scale if family is Family.DECIMAL else 0
    least, greatest = _ends(type_)
    snapped = []
    for interval in intervals:
        lo = None if interval.lo is None else _grid(interval.lo, scale, up=True, strictly=interval.lo_open)
        hi = None if interval.hi is None else _grid(interval.hi, scale, up=False, strictly=interval.hi_open)
        if (lo is not None and lo > greatest) or (hi is not None and hi < least):
            continue
        lo = None if lo is not None and lo <= least else lo
        hi = None if hi is not None and hi >= greatest else hi
        if lo is not None and hi is not None and lo > hi:
            continue
        snapped.append(Interval(_ungrid(lo, scale, family), _ungrid(hi, scale, family)))
    return snapped


def _runs(points: list[int], type_: DataType) -> IntervalSet:
    """Whole numbers as maximal runs of neighbours: what `values` would build one by one, for lists of any length."""
    least, greatest = INTEGER_RANGES[type_.kind]
    held = {point for point in points if least <= point <= greatest}
    firsts = sorted(point for point in held if point - 1 not in held)
    lasts = sorted(point for point in held if point + 1 not in held)
    runs = [Interval(first, last) for first, last in zip(firsts, lasts, strict=True)]
    if runs and runs[0].lo == least:
        runs[0] = Interval(None, runs[0].hi)
    if runs and runs[-1].hi == greatest:
        runs[-1] = Interval(runs[-1].lo, None)
    return IntervalSet(tuple(runs), None, 1)


def _ends(type_: DataType) -> tuple[int, int]:
    """The least and greatest value of a discrete type, in units of its grid."""
    if type_.kind is Kind.DECIMAL:
        return -(10**type_.precision) + 1, 10**type_.precision - 1
    return INTEGER_RANGES[type_.kind]


def _grid(value: Any, scale: int, *, up: bool, strictly: bool) -> int | float:
    """`value` in grid units, rounded into the interval; infinities stay what they are."""
    if type(value) is int and scale == 0:
        return value + (1 if up else -1) if strictly else value
    if isinstance(value, float) and math.isinf(value):
        return value
    exact: Fraction = Fraction(value) * 10**scale
    if up:
        return math.floor(exact) + 1 if strictly else math.ceil(exact)
    return math.ceil(exact) - 1 if strictly else math.floor(exact)


def _ungrid(units: int | float | None, scale: int, family: Family) -> Bound:
    if units is None:
        return None
    if family is Family.INTEGER:
        return int(units)
    return Decimal(int(units)).scaleb(-scale, _WIDE)


def _as_double(interval: Interval) -> Interval:
    """Bounds as doubles without moving a double across them: an inexact bound becomes the neighbour inside."""
    lo, lo_open, hi, hi_open = interval.lo, interval.lo_open, interval.hi, interval.hi_open
    if lo is not None and not isinstance(lo, float):
        lo, side = _nearest(lo)
        lo_open = lo_open if side == 0 else side < 0
    if hi is not None and not isinstance(hi, float):
        hi, side = _nearest(hi)
        hi_open = hi_open if side == 0 else side > 0
    return Interval(lo, hi, lo_open, hi_open)


def _nearest(value: Any) -> tuple[float, int]:
    """The double nearest to an exact value, and on which side of it the double lies (-1 below, 0 exact, 1 above)."""
    exact = Fraction(value)
    near = to_double(exact)
    if math.isinf(near):
        return near, 1 if near > 0 else -1
    back = Fraction(near)
    return near, (back > exact) - (back < exact)


def _inside(value: Bound, interval: Interval) -> bool:
    above = interval.lo is None or (value > interval.lo if interval.lo_open else value >= interval.lo)
    below = interval.hi is None or (value < interval.hi if interval.hi_open else value <= interval.hi)
    return above and below


def _pairwise_meets(left: tuple[Interval, ...], right: tuple[Interval, ...]) -> Iterable[Interval]:
    """The overlaps of two sorted lists, in one walk over both."""
    i = j = 0
    while i < len(left) and j < len(right):
        a, b = left[i], right[j]
        yield _meet(a, b)
        if b.hi is None or (a.hi is not None and a.hi <= b.hi):
            i += 1
        else:
            j += 1


def _meet(a: Interval, b: Interval) -> Interval:
    lo, lo_open = _tighter(a.lo, a.lo_open, b.lo, b.lo_open, upper=False)
    hi, hi_open = _tighter(a.hi, a.hi_open, b.hi, b.hi_open, upper=True)
    return Interval(lo, hi, lo_open, hi_open)


def _tighter(a: Bound, a_open: bool, b: Bound, b_open: bool, *, upper: bool) -> tuple[Bound, bool]:
    if a is None or b is None:
        return (b, b_open) if a is None else (a, a_open)
    if a == b:
        return a, a_open or b_open
    return (a, a_open) if (a < b) == upper else (b, b_open)


def _normal(intervals: Iterable[Interval], nan: bool | None, step: int | Decimal | None) -> IntervalSet:
    """Sorted, non-empty, disjoint, with touching neighbours joined; closed on a discrete type."""
    closed = [_close(i, step) for i in intervals]
    alive = [i for i in closed if not _is_empty(i)]
    bounded = sorted((i for i in alive if i.lo is not None), key=_start)
    ordered = [i for i in alive if i.lo is None] + bounded
    merged: list[Interval] = []
    for interval in ordered:
        if merged and _touch(merged[-1], interval, step):
            merged[-1] = _join(merged[-1], interval)
        else:
            merged.append(interval)
    return IntervalSet(tuple(merged), nan, step)


def _close(interval: Interval, step: int | Decimal | None) -> Interval:
    if step is None or not (interval.lo_open or interval.hi_open):
        return interval
    lo = _shift(interval.lo, step) if interval.lo_open and interval.lo is not None else interval.lo
    hi = _shift(interval.hi, -step) if interval.hi_open and interval.hi is not None else interval.hi
    return Interval(lo, hi)


def _shift(value: Bound, step: int | Decimal) -> Bound:
    return _WIDE.add(value, step) if isinstance(value, Decimal) else value + step


def _is_empty(interval: Interval) -> bool:
    if interval.lo is None or interval.hi is None:
        return False
    return bool(interval.lo > interval.hi or (interval.lo == interval.hi and (interval.lo_open or interval.hi_open)))


def _start(interval: Interval) -> tuple[Any, bool]:
    return interval.lo, interval.lo_open


def _touch(left: Interval, right: Interval, step: int | Decimal | None) -> bool:
    if left.hi is None or right.lo is None:
        return True
    if right.lo < left.hi:
        return True
    if right.lo == left.hi:
        return not (left.hi_open and right.lo_open)
    return step is not None and bool(_shift(left.hi, step) >= right.lo)


def _join(left: Interval, right: Interval) -> Interval:
    if left.hi is None:
        return left
    if right.hi is None:
        return Interval(left.lo, None, left.lo_open)
    if right.hi > left.hi or (right.hi == left.hi and left.hi_open):
        return Interval(left.lo, right.hi, left.lo_open, right.hi_open)
    return left


def _widest_gaps(intervals: tuple[Interval, ...], count: int) -> list[int]:
    """Indices i with the widest gap between interval i and i+1; values without a distance use their rank."""
    gaps = range(len(intervals) - 1)
    sample = intervals[0].hi
    if not isinstance(sample, int | float | Decimal):
        stride = max(1, len(gaps) // max(1, count))
        return list(gaps[::stride])[:count]
    widths = [float(intervals[i + 1].lo - intervals[i].hi) for i in gaps]
    return sorted(gaps, key=lambda i: -widths[i])[:count]
