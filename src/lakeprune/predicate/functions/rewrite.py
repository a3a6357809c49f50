"""Pieces that preimages are built from: Within nodes around two sets, and bounds moved through arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeprune.predicate.tree import And, Either, Expr, Not, Or, Within
from lakeprune.values.bounds import Bounds
from lakeprune.values.intervals import Interval, IntervalSet


def within_bounds(argument: Expr, bounds: Bounds) -> Expr:
    """The argument lies in a set that is known exactly or only from both sides."""
    if bounds.is_exact():
        return Within(argument, bounds.outer)
    return Either(Within(argument, bounds.outer), Within(argument, bounds.inner))


def around(found: IntervalSet, *, fits: IntervalSet) -> Bounds:
    """The arguments found, when only those that fit have a result for sure; the others may match.

    An argument whose result does not fit wraps, raises or is computed in a wider type, depending on mode and engine.
    """
    inner = found.intersect(fits)
    return Bounds(inner.union(fits.complement()), inner)


def moved(interval: Interval, lo: Callable[[Any], Any], hi: Callable[[Any], Any] | None = None) -> Interval:
    """The interval with both ends changed; a side without bound stays without one."""
    low = None if interval.lo is None else lo(interval.lo)
    high = None if interval.hi is None else (hi or lo)(interval.hi)
    return Interval(low, high, interval.lo_open, interval.hi_open)


def widened(interval: Interval, unit: int) -> Interval:
    """The moments whose unit, rounded down, lies in an interval of such units.

    >>> widened(Interval(1, None), 60)
    Interval(lo=60, hi=None, lo_open=False, hi_open=False)
    """
    return moved(interval, lambda lo: lo * unit, lambda hi: (hi + 1) * unit - 1)


def predicate_in(predicate: Expr, values: IntervalSet) -> Expr:
    """A predicate that lies in a set of booleans; NULL stays NULL in all four cases."""
    match values.contains(True), values.contains(False):
        case True, False:
            return predicate
        case False, True:
            return Not(predicate)
        case True, True:
            return Or((predicate, Not(predicate)))
        case _:
            return And((predicate, Not(predicate)))
