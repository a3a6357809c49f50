"""The arguments that a weakly monotone function sends into a set of values, found by bisection.

In: the function, the set, the argument's type. Out: the exact set of arguments. Works on every type whose values can be
counted: integers and times as they are, decimals by their unscaled value, doubles by the order of their bits. Rounding is
monotone, so `x + 0.1` on doubles is inverted exactly, without ever solving it in real numbers.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any

from lakeprune.values.intervals import Interval, IntervalSet, from_intervals
from lakeprune.values.types import INTEGER_RANGES, DataType, Family

_WIDE = Context(prec=100)


def preimage_of(
    function: Callable[[Any], Any], values: IntervalSet, type_: DataType, *, is_decreasing: bool = False
) -> IntervalSet:
    """The arguments x of `type_` with function(x) in `values`; NaN goes where the set says NaN goes.

    >>> from lakeprune.values.intervals import compare
    >>> from lakeprune.values.types import DOUBLE, INT
    >>> preimage_of(lambda x: x / 100, compare("=", 5.0, DOUBLE), INT).intervals
    (Interval(lo=500, hi=500, lo_open=False, hi_open=False),)
    """
    least, greatest, value_at = _domain(type_)

    def at(index: int) -> Any:
        return function(value_at(-index if is_decreasing else index))

    if is_decreasing:
        least, greatest = -greatest, -least
    found = []
    for interval in values.intervals:
        first = least if interval.lo is None else _first(at, interval.lo, least, greatest, strictly=interval.lo_open)
        end = greatest + 1 if interval.hi is None else _first(
            at, interval.hi, least, greatest, strictly=not interval.hi_open
        )  # fmt: skip
        if first < end:
            found.append((first, end - 1))
    spans = [(-last, -first) for first, last in found] if is_decreasing else found
    closed = [Interval(value_at(first), value_at(last)) for first, last in spans]
    nan = type_.family is Family.REAL and bool(values.nan)
    return from_intervals([_open_ends(i, type_) for i in closed], type_, nan=nan)


def _first(at: Callable[[int], Any], bound: Any, least: int, greatest: int, *, strictly: bool) -> int:
    """The first index whose image is at or above (strictly: above) the bound; one past the end when none is."""
    low, high = least, greatest + 1
    while low < high:
        middle = (low + high) // 2
        image = at(middle)
        if image > bound or (image == bound and not strictly):
            high = middle
        else:
            low = middle + 1
    return low


def _domain(type_: DataType) -> tuple[int, int, Callable[[int], Any]]:
    """The least and greatest index of a type's values, and the value at an index."""
    if type_.family is Family.REAL:
        top = _index_of_infinity()
        return -top, top, _double_at
    if type_.family is Family.DECIMAL:
        greatest = 10**type_.precision - 1
        return -greatest, greatest, lambda index: Decimal(index).scaleb(-type_.scale, _WIDE)
    least, greatest = INTEGER_RANGES[type_.kind]
    return least, greatest, int


def _index_of_infinity() -> int:
    return int(struct.unpack("<q", struct.pack("<d", math.inf))[0])


def _double_at(index: int) -> float:
    """Doubles in order: their bits count upwards from zero, on both sides."""
    size = float(struct.unpack("<d", struct.pack("<q", abs(index)))[0])
    return -size if index < 0 else size


def _open_ends(interval: Interval, type_: DataType) -> Interval:
    """A set that reaches the type's end says so by having no bound there (integers and decimals are opened by snapping)."""
    if type_.family is not Family.REAL:
        return interval
    return Interval(None if interval.lo == -math.inf else interval.lo, None if interval.hi == math.inf else interval.hi)
