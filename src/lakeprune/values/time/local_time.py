"""Sets of instants and sets of local times in a zone, each turned into the other.

In: an `IntervalSet` of microseconds and a zone name. Out: `Bounds`, two sets around the true one, equal when the answer is
exact (UTC always is). Local time is not monotone in UTC: it repeats in autumn, jumps in spring, and in some zones even the
local date goes backwards, so no endpoint is ever converted alone.
"""

from __future__ import annotations

from lakeprune.values.bounds import Bounds, exactly
from lakeprune.values.intervals import Interval, IntervalSet, from_intervals
from lakeprune.values.time.calendar import DAY, HOUR
from lakeprune.values.time.zones import instants_of_local_range, is_utc, local_of
from lakeprune.values.types import TIMESTAMP, TIMESTAMP_NTZ


def instants_of_locals(values: IntervalSet, zone: str) -> Bounds:
    """The instants whose local time lies in `values`."""
    if is_utc(zone):
        return exactly(from_intervals(values.intervals, TIMESTAMP))
    pairs = [_instants(interval, zone) for interval in values.intervals]
    return Bounds(
        from_intervals([outer for outer, _ in pairs], TIMESTAMP),
        from_intervals([inner for _, inner in pairs if inner is not None], TIMESTAMP),
    )


def locals_of_instants(values: IntervalSet, zone: str) -> Bounds:
    """The local times that, read in the zone, are an instant in `values`."""
    if is_utc(zone):
        return exactly(from_intervals(values.intervals, TIMESTAMP_NTZ))
    outer, inner = [], []
    for interval in values.intervals:
        low = None if interval.lo is None else _local_threshold(interval.lo, zone)
        high = None if interval.hi is None else _local_threshold(interval.hi + 1, zone)
        outer.append(Interval(low and low[0], high and high[1], hi_open=True))
        inner.append(Interval(low and low[1], high and high[0], hi_open=True))
    return Bounds(from_intervals(outer, TIMESTAMP_NTZ), from_intervals(inner, TIMESTAMP_NTZ))


def _instants(interval: Interval, zone: str) -> tuple[Interval, Interval | None]:
    """The instants around one closed interval of local times; a side without bound stays without one."""
    lo, hi = interval.lo, interval.hi
    if lo is None and hi is None:
        return interval, interval
    # A far-away stand-in for a missing side: four days are more than any zone's greatest jump.
    start = hi + 1 - 4 * DAY if lo is None else lo
    end = start + 4 * DAY if hi is None else hi + 1
    outer_lo, outer_hi, inner_lo, inner_hi = instants_of_local_range(start, end, zone)
    outer = Interval(None if lo is None else outer_lo, None if hi is None else outer_hi, hi_open=True)
    if inner_lo >= inner_hi:
        return outer, None
    return outer, Interval(None if lo is None else inner_lo, None if hi is None else inner_hi, hi_open=True)


def _local_threshold(instant: int, zone: str) -> tuple[int, int]:
    """Local times (a, b): every local time from b on is at or after the instant, every one before a is before it."""
    local = local_of(instant, zone)
    offset = local - instant
    nearby = range(instant - 26 * HOUR, instant + 27 * HOUR, HOUR)
    if all(local_of(moment, zone) - moment == offset for moment in nearby):
        return local, local
    return local - DAY, local + DAY
