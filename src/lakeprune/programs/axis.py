"""Where a value lies on the axis of a column: as a share of its length, 0 to 1, and in SQL as the number of a bin.

Numbers, dates and times lie at their distance; text and booleans have none, so each of their values gets a cell of equal width.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from lakeprune.engines.dialect import Dialect
from lakeprune.values.time.calendar import SECOND
from lakeprune.values.types import DataType, Family, Kind

_MARGIN = 0.02
_OUTLYING = 10  # times the inner range: farther out, a few bounds would press all others together
_FARTHEST = 1e300  # of a double: the width of the axis must be finite


class LinearAxis(Struct, frozen=True):
    low: float
    high: float
    bins: int

    def start(self, value: Any, *, is_open: bool = False) -> float:  # noqa: ARG002  # a point has no width here
        return 0.0 if value is None else self.at(value)

    def end(self, value: Any, *, is_open: bool = False) -> float:  # noqa: ARG002
        return 1.0 if value is None else self.at(value)

    def at(self, value: Any) -> float:
        return min(max((float(value) - self.low) / (self.high - self.low), 0.0), 1.0)

    def bin(self, dialect: Dialect, bound: str) -> str:
        low, high = (dialect.literal(end, Family.REAL) for end in (self.low, self.high))
        place = f"(CAST({bound} AS DOUBLE) - {low}) / ({high} - {low}) * {self.bins}"
        return f"CAST(floor(least(greatest({place}, 0), {self.bins - 1})) AS INTEGER)"


class OrdinalAxis(Struct, frozen=True):
    """`cells` are the first values of equal pieces of the axis, ascending; each holds that value alone unless they are shared.

    >>> OrdinalAxis(["b", "d"], Family.TEXT).start("c"), OrdinalAxis(["b", "d"], Family.TEXT, is_shared=True).start("c")
    (0.5, 0.0)
    """

    cells: Sequence[Any]
    family: Family
    letters: int | None = None  # of a text that decide on its cell, None for all
    is_shared: bool = False

    @property
    def bins(self) -> int:
        return len(self.cells)

    def start(self, value: Any, *, is_open: bool = False) -> float:
        if value is None:
            return 0.0
        if self.is_shared:
            return max(bisect_right(self.cells, value) - 1, 0) / self.bins
        return (bisect_right if is_open else bisect_left)(self.cells, value) / self.bins

    def end(self, value: Any, *, is_open: bool = False) -> float:
        if value is None:
            return 1.0
        return (bisect_left if is_open and not self.is_shared else bisect_right)(self.cells, value) / self.bins

    def bin(self, dialect: Dialect, bound: str) -> str:
        return f"{dialect.rank([dialect.literal(cell, self.family) for cell in self.cells], prefix(bound, self.letters))} - 1"


Axis = LinearAxis | OrdinalAxis


def prefix(text: str, letters: int | None) -> str:
    """SQL for the first letters of a text."""
    return text if letters is None else f"substr({text}, 1, {letters})"


def window(ends: tuple[Any, Any], inner: tuple[Any, Any], wanted: Sequence[Any], type_: DataType) -> tuple[float, float]:
    """The part of the number line that shows most bounds between the ends well, and the wanted values if they are near.

    >>> from lakeprune.values.types import INT
    >>> window((0, 10**9), (0, 50), [60, 10**6], INT)
    (-1.2, 61.2)
    """
    near_ends = ([min(max(float(value), -_FARTHEST), _FARTHEST) for value in pair] for pair in (ends, inner))
    # Where ranges are open on one side, the least minimum may lie above the greatest maximum.
    (low, high), (inner_low, inner_high) = map(sorted, near_ends)
    if inner_high > inner_low and high - low > _OUTLYING * (inner_high - inner_low):
        low, high = inner_low, inner_high
    width = high - low
    near = [float(value) for value in wanted if low - width <= float(value) <= high + width]
    low, high = min([low, *near]), max([high, *near])
    margin = max((high - low) * _MARGIN, _smallest_margin(low, high, type_))
    return low - margin, high + margin


def _smallest_margin(low: float, high: float, type_: DataType) -> float:
    """Space around a single value, and for the clock to tick; around large doubles, enough to make a difference."""
    if type_.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
        return 2.0 * SECOND
    if type_.kind is Kind.DATE:
        return 1.0
    return max(1.0, abs(low) * 1e-6) if low == high else abs(high) * 1e-9
