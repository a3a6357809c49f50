"""Two sets around one that is not known exactly: what a comparison becomes where engines or clock changes leave a doubt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from msgspec import Struct

from lakeprune.values.intervals import IntervalSet


class Bounds(Struct, frozen=True):
    """`inner` is contained in the true set, which is contained in `outer`."""

    outer: IntervalSet
    inner: IntervalSet

    def is_exact(self) -> bool:
        return self.outer is self.inner or self.outer == self.inner


def exactly(values: IntervalSet) -> Bounds:
    return Bounds(values, values)


def one_of_these(sets: Sequence[IntervalSet]) -> Bounds:
    """Bounds of a set that is one of these, when it is not known which."""
    return Bounds(reduce(IntervalSet.union, sets), reduce(IntervalSet.intersect, sets))
