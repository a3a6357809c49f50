"""Where a value lies on the axis of a column, as a share of its length.

Numbers, dates and times lie at their distance; text and booleans have none, so each of their values gets a cell of equal width.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from lakeprune.report.pictures.model import Tick
from lakeprune.report.pictures.ticks import linear_ticks
from lakeprune.values.time.calendar import SECOND
from lakeprune.values.types import DataType, Kind

_MARGIN = 0.02
_OUTLYING = 10  # times the inner range: farther out, a few bounds would press all others together
_LONGEST_LABEL = 18
_FARTHEST = 1e300  # of a double: the width of the axis must be finite


class LinearAxis(Struct, frozen=True):
    low: float
    high: float
    type: DataType
    zone: str

    def start(self, value: Any, *, is_open: bool = False) -> float:  # noqa: ARG002  # a point has no width here
        return 0.0 if value is None else self._at(value)

    def end(self, value: Any, *, is_open: bool = False) -> float:  # noqa: ARG002
        return 1.0 if value is None else self._at(value)

    def ticks(self) -> tuple[Tick, ...]:
        return tuple(Tick(self._at(value), label) for value, label in linear_ticks(self.low, self.high, self.type, self.zone))

    def _at(self, value: Any) -> float:
        return min(max((float(value) - self.low) / (self.high - self.low), 0.0), 1.0)


class OrdinalAxis(Struct, frozen=True):
    """`cells` are the first values of equal pieces of the axis, ascending; each holds that value alone unless they are shared.

    >>> OrdinalAxis(["b", "d"]).start("c"), OrdinalAxis(["b", "d"], is_shared=True).start("c")
    (0.5, 0.0)
    """

    cells: Sequence[Any]
    is_shared: bool = False

    def start(self, value: Any, *, is_open: bool = False) -> float:
        if value is None or not self.cells:
            return 0.0
        if self.is_shared:
            return max(bisect_right(self.cells, value) - 1, 0) / len(self.cells)
        return (bisect_right if is_open else bisect_left)(self.cells, value) / len(self.cells)

    def end(self, value: Any, *, is_open: bool = False) -> float:
        if value is None or not self.cells:
            return 1.0
        if self.is_shared:
            return bisect_right(self.cells, value) / len(self.cells)
        return (bisect_left if is_open else bisect_right)(self.cells, value) / len(self.cells)

    def ticks(self) -> tuple[Tick, ...]:
        step = -(-len(self.cells) // 8)
        return tuple(
            Tick((index + 0.5) / len(self.cells), _short(self.cells[index])) for index in range(0, len(self.cells), step or 1)
        )


Axis = LinearAxis | OrdinalAxis


class Window(Struct, frozen=True):
    """The part of a number line that is drawn."""

    low: float
    high: float
    is_cut: bool  # some bounds lie outside


def window(ends: tuple[Any, Any], inner: tuple[Any, Any], wanted: Sequence[Any], type_: DataType) -> Window:
    """The window over bounds from ends[0] to ends[1] that shows most of them well, and the wanted values if they are near.

    >>> from lakeprune.values.types import INT
    >>> window((0, 10**9), (0, 50), [60, 10**6], INT)
    Window(low=-1.2, high=61.2, is_cut=True)
    """
    low, high, inner_low, inner_high = (min(max(float(value), -_FARTHEST), _FARTHEST) for value in (*ends, *inner))
    is_cut = inner_high > inner_low and high - low > _OUTLYING * (inner_high - inner_low)
    if is_cut:
        low, high = inner_low, inner_high
    width = high - low
    near = [float(value) for value in wanted if low - width <= float(value) <= high + width]
    low, high = min([low, *near]), max([high, *near])
    margin = max((high - low) * _MARGIN, _smallest_margin(low, high, type_))
    return Window(low - margin, high + margin, is_cut)


def _smallest_margin(low: float, high: float, type_: DataType) -> float:
    """Room around a single value, and for the clock to tick; around large doubles, enough to make a difference."""
    if type_.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
        return 2.0 * SECOND
    if type_.kind is Kind.DATE:
        return 1.0
    return max(1.0, abs(low) * 1e-6) if low == high else abs(high) * 1e-9


def _short(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"
