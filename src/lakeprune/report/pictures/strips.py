"""The strip of one column: every file's range on one axis, partition by partition, and the range the predicate allows.

Small tables are drawn file by file. In large ones the ranges on each of a fixed number of bins are counted by the engine, and
only the counts come here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from msgspec import Struct

from lakeprune.engines.engine import Row
from lakeprune.predicate.column_range import both, column_range
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Profile
from lakeprune.predicate.write.sets import comparison_text
from lakeprune.programs.sketch import ORDINAL_FAMILIES, Lanes, Sketch
from lakeprune.report.listing import shown
from lakeprune.report.pictures.axis import Axis, LinearAxis, OrdinalAxis, window
from lakeprune.report.pictures.lanes import Named
from lakeprune.report.pictures.model import BINS, VERDICTS, Counts, Lane, Mark, Strip, Stripe
from lakeprune.skipping.plan import Plan
from lakeprune.values.intervals import IntervalSet

_MOST_STRIPES = 60


class Scene(Struct, frozen=True):
    """What all strips of a picture share, or those of partition columns, whose files need no lanes to be told apart."""

    sketch: Sketch
    plan: Plan
    profile: Profile
    partition_columns: int
    lanes: tuple[Named, ...]
    others: tuple[int, Counts]  # partitions without a lane of their own: how many, and their files

    @property
    def lane_count(self) -> int:
        return len(self.lanes) + bool(self.others[0])

    def lane_of(self, texts: Row) -> int:
        """The number of a partition's lane."""
        for number, lane in enumerate(self.lanes):
            if self.lane_count == 1 or lane.texts == texts:
                return number
        return len(self.lanes)


class _Axle(Struct, frozen=True):
    """An axis with what was drawn from."""

    axis: Axis
    beyond: int


def binned_strip(scene: Scene, column: Column, k: int, lanes: Lanes) -> Strip | None:
    """Column number k of the sketch in bins; None when no file has a bound of it."""
    allowed = _allowed(scene.plan, column)
    if column.type.family in ORDINAL_FAMILIES:
        bins, cells = scene.sketch.cells(k, BINS)
        axle = _Axle(OrdinalAxis(cells, bins.is_shared), 0)
        if not cells:
            return None
    else:
        span = scene.sketch.span(k)
        if span is None:
            return None
        drawn = window((span.low, span.high), (span.inner_low, span.inner_high), _ends(allowed), column.type)
        beyond = scene.sketch.beyond(k, drawn.low, drawn.high) if drawn.is_cut else 0
        axle = _Axle(LinearAxis(drawn.low, drawn.high, column.type, scene.profile.zone), beyond)
        bins = scene.sketch.linear_bins(drawn.low, drawn.high, BINS)
    depths = _depths(scene.sketch.depth(k, lanes, bins), scene.lane_count, bins.count)
    unbounded = _unbounded(scene.sketch.unbounded(k, lanes), scene.lane_count)
    made = [
        Lane(_label(scene, lane), _files(scene, lane), *unbounded[lane], depth=depths[lane]) for lane in range(scene.lane_count)
    ]
    return _strip(scene, column, allowed, axle, made)


def exact_strip(scene: Scene, column: Column, k: int, marks: Sequence[Row]) -> Strip | None:
    """Column number k of the sketch file by file; None when no file has a bound of it."""
    at = 3 + scene.partition_columns + 3 * k
    allowed = _allowed(scene.plan, column)
    axle = _exact_axis(scene, column, [row[at : at + 2] for row in marks], allowed)
    if axle is None:
        return None
    placed: list[list[Mark]] = [[] for _ in range(scene.lane_count)]
    unbounded: list[Row] = []
    for row in marks:
        lane = scene.lane_of(row[3 : 3 + scene.partition_columns])
        low, high, only_null = row[at : at + 3]
        if low is None and high is None:
            unbounded.append((lane, row[2], only_null, 1))
            continue
        placed[lane].append(_mark(row, axle.axis, (low, high), column, scene.profile))
    without = _unbounded(unbounded, scene.lane_count)
    made = [
        Lane(_label(scene, lane), _files(scene, lane), *without[lane], marks=tuple(sorted(found, key=_by_place)))
        for lane, found in enumerate(placed)
    ]
    return _strip(scene, column, allowed, axle, made)


def _by_place(mark: Mark) -> tuple[float, float]:
    return mark.start, mark.end


def _mark(row: Row, axis: Axis, bounds: tuple[Any, Any], column: Column, profile: Profile) -> Mark:
    low, high = bounds
    words = ["unbounded" if value is None else str(shown(value, column, profile)) for value in bounds]
    told = words[0] if low == high else f"{words[0]} to {words[1]}"
    return Mark(axis.start(low), axis.end(high), VERDICTS[row[2]], f"{row[0]}: {told}")


def _exact_axis(scene: Scene, column: Column, bounds: Sequence[Sequence[Any]], allowed: IntervalSet | None) -> _Axle | None:
    ends = _ends(allowed)
    if column.type.family in ORDINAL_FAMILIES:
        found = {value for pair in bounds for value in pair if value is not None}
        if not found:
            return None
        closed = {value for value in _closed_ends(allowed) if isinstance(value, type(next(iter(found))))}
        return _Axle(OrdinalAxis(sorted(found | closed)), 0)
    lows, highs = (sorted(pair[side] for pair in bounds if _is_finite(pair[side])) for side in (0, 1))
    if not lows or not highs:
        return None
    inner = lows[len(lows) // 100], highs[-1 - len(highs) // 100]
    drawn = window((lows[0], highs[-1]), inner, ends, column.type)
    beyond = sum((lo is not None and lo < drawn.low) or (hi is not None and hi > drawn.high) for lo, hi in bounds)
    return _Axle(LinearAxis(drawn.low, drawn.high, column.type, scene.profile.zone), beyond)


def _is_finite(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and value - value != 0)


def _allowed(plan: Plan, column: Column) -> IntervalSet | None:
    return both([column_range(clause.predicate, column) for clause in plan.clauses])


def _ends(allowed: IntervalSet | None) -> list[Any]:
    intervals = () if allowed is None else allowed.intervals
    ends = [end for interval in intervals for end in (interval.lo, interval.hi) if _is_finite(end)]
    return ends if len(ends) <= 2 else [min(ends), max(ends)]


def _closed_ends(allowed: IntervalSet | None) -> list[Any]:
    intervals = () if allowed is None else allowed.merged_to(_MOST_STRIPES).intervals
    lows = [interval.lo for interval in intervals if interval.lo is not None and not interval.lo_open]
    return lows + [interval.hi for interval in intervals if interval.hi is not None and not interval.hi_open]


def _strip(scene: Scene, column: Column, allowed: IntervalSet | None, axle: _Axle, lanes: Sequence[Lane]) -> Strip:
    name = ".".join(column.path)
    intervals = () if allowed is None else allowed.merged_to(_MOST_STRIPES).intervals
    stripes = [Stripe(axle.axis.start(i.lo, is_open=i.lo_open), axle.axis.end(i.hi, is_open=i.hi_open)) for i in intervals]
    # What lies beyond an end of the axis, or between two neighbours on it, has no place there.
    is_point = isinstance(axle.axis, LinearAxis)
    stripes = [stripe for stripe in stripes if stripe.start < stripe.end or (is_point and 0 < stripe.start < 1)]
    words = None if allowed is None else comparison_text(name, column.type, allowed, scene.profile.zone)[0]
    return Strip(
        name,
        str(column.type),
        column.role is Role.PARTITION,
        words,
        tuple(stripes),
        axle.axis.ticks(),
        tuple(lanes),
        axle.beyond,
        scene.others[0],
    )


def _label(scene: Scene, lane: int) -> str:
    if lane == len(scene.lanes):
        return f"{scene.others[0]:,} other partition{'s' if scene.others[0] > 1 else ''}"
    return " / ".join(scene.lanes[lane].labels) if scene.lane_count > 1 else "all files"


def _files(scene: Scene, lane: int) -> Counts:
    return scene.others[1] if lane == len(scene.lanes) else scene.lanes[lane].files


def _depths(rows: Sequence[Row], lanes: int, bins: int) -> list[tuple[tuple[int, ...], ...]]:
    """Per lane and verdict the number of ranges on every bin, from how it changes."""
    steps = [[[0] * (bins + 1) for _ in VERDICTS] for _ in range(lanes)]
    for lane, verdict, at, step in rows:
        steps[lane][verdict][at] += int(step)
    return [tuple(tuple(accumulate(changes[:bins])) for changes in lane) for lane in steps]


def _unbounded(rows: Sequence[Row], lanes: int) -> list[tuple[Counts, int]]:
    """Per lane the files without bounds by verdict, and those of them that hold only NULL."""
    unknown = [[0, 0, 0] for _ in range(lanes)]
    only_null = [0] * lanes
    for lane, verdict, is_null, count in rows:
        if is_null:
            only_null[lane] += count
        else:
            unknown[lane][verdict] += count
    return [((found[0], found[1], found[2]), nulls) for found, nulls in zip(unknown, only_null, strict=True)]
