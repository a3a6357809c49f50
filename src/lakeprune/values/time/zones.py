"""Local wall-clock time and instants, exactly, in microseconds since 1970-01-01.

In: an IANA zone name or a fixed offset. Gaps and overlaps are those of java.time, which Spark uses: a local time that exists
twice means the earlier instant, one that does not exist is shifted forward by the gap. Rules repeat every 400 years beyond
year 9999; before year 1 the first known offset applies. UTC never imports a time zone database.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from lakeprune.errors import UsageError
from lakeprune.values.time.calendar import DAY, SECOND

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_UTC_NAMES = frozenset({"utc", "z", "gmt", "ut", "uct", "zulu", "universal", "greenwich"})
OFFSET = r"(?:UTC|GMT|UT)?([+-])([0-9]{1,2})(?::?([0-9]{2})(?::?([0-9]{2}))?)?"
_FIRST, _LAST = -62_135_596_800 + 172_800, 253_402_300_799 - 172_800  # seconds that stay inside years 1..9999 in any zone
_CYCLE = 146_097 * 86_400  # 400 Gregorian years, a whole number of weeks: every daylight-saving rule repeats
_MAX_SHIFT = DAY  # no zone ever moved its clocks further (Pacific islands crossing the date line)
_zones: dict[str, int | ZoneInfo] = {}


def local_of(instant: int, zone: str) -> int:
    """The wall clock in `zone` at an instant, as microseconds.

    >>> local_of(0, "+05:30") // 60_000_000
    330
    """
    return instant + _offset_at(instant, zone)


def instant_of(local: int, zone: str) -> int:
    """The instant at which clocks in `zone` show `local`.

    >>> instant_of(0, "+01:00") // SECOND
    -3600
    """
    found = _resolve(zone)
    if isinstance(found, int):
        return local - found
    # The two offsets that can be in force around this wall-clock time.
    before = _offset_at(local - _MAX_SHIFT, zone)
    after = _offset_at(local + _MAX_SHIFT, zone)
    candidates = {local - before, local - after}
    if before != after:
        candidates.update(_between(local, zone))
    valid = [instant for instant in candidates if local_of(instant, zone) == local]
    if valid:
        return min(valid)
    # In a gap java.time keeps the length of time since the transition: the offset before it applies.
    return local - _offset_before_gap(local, zone)


def instants_of_local_range(lo: int, hi: int, zone: str) -> tuple[int, int, int, int]:
    """(outer_lo, outer_hi, inner_lo, inner_hi): instants whose local time lies in [lo, hi).

    Every such instant lies in [outer_lo, outer_hi); every instant of [inner_lo, inner_hi) is one. They differ where clocks
    were set back across an end of the range: in St. John's 00:01 became 23:01 of the previous day.
    """
    if isinstance(_resolve(zone), int):
        start, stop = instant_of(lo, zone), instant_of(hi, zone)
        return start, stop, start, stop
    lo_first, lo_last = _crossings(lo, zone)
    hi_first, hi_last = _crossings(hi, zone)
    return lo_first, max(hi_last, lo_first), lo_last, max(hi_first, lo_last)


def is_utc(zone: str) -> bool:
    """Whether local time is the instant itself, at all times."""
    return _resolve(zone) == 0


def check_zone(zone: str) -> None:
    """Raise LP203 when `zone` is not a time zone."""
    _resolve(zone)


def _crossings(local: int, zone: str) -> tuple[int, int]:
    """The first instant at or after which the clock shows `local` or later, and the first from which it always does."""
    changes = _changes(local - 2 * _MAX_SHIFT, local + 2 * _MAX_SHIFT, zone)
    edges = [local - 2 * _MAX_SHIFT, *changes, local + 2 * _MAX_SHIFT]
    first: int | None = None
    always = edges[0]
    for start, stop in pairwise(edges):
        crossing = local - _offset_at(start, zone)  # the clock shows >= local from here on, inside this stretch
        if crossing < stop and first is None:
            first = max(start, crossing)
        if crossing > start:
            always = min(crossing, stop)
    return (always if first is None else first), always


def _changes(start: int, stop: int, zone: str) -> list[int]:
    """Instants in (start, stop) at which the offset changes, to the microsecond.

    Probed every three hours: no zone has two changes that cancel each other within that time.
    """
    found = []
    step = 3 * 3600 * SECOND
    left, offset = start, _offset_at(start, zone)
    while left < stop:
        right = min(left + step, stop)
        if (other := _offset_at(right, zone)) != offset:
            low, high = left, right
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if _offset_at(middle, zone) == offset else (low, middle)
            found.append(high)
            left, offset = high, _offset_at(high, zone)
            if offset != other:
                continue
        left, offset = right, other
    return found


def _between(local: int, zone: str) -> list[int]:
    changes = _changes(local - _MAX_SHIFT, local + _MAX_SHIFT, zone)
    return [local - _offset_at(change, zone) for change in changes]


def _offset_before_gap(local: int, zone: str) -> int:
    for change in _changes(local - 2 * _MAX_SHIFT, local + 2 * _MAX_SHIFT, zone):
        before, after = _offset_at(change - 1, zone), _offset_at(change, zone)
        if change + before <= local < change + after:
            return before
    return _offset_at(local - _MAX_SHIFT, zone)


def _offset_at(instant: int, zone: str) -> int:
    found = _resolve(zone)
    if isinstance(found, int):
        return found
    from datetime import UTC, datetime, timedelta

    seconds = max(instant // SECOND, _FIRST)
    if seconds > _LAST:
        seconds -= -(-(seconds - _LAST) // _CYCLE) * _CYCLE
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    offset = moment.astimezone(found).utcoffset()
    if offset is None:
        raise AssertionError("a zone of the database always has an offset")
    return (offset.days * 86_400 + offset.seconds) * SECOND


def _resolve(zone: str) -> int | ZoneInfo:
    """A fixed offset in microseconds, or a zone with rules."""
    known = _zones.get(zone)
    if known is None:
        known = _zones[zone] = _load(zone)
    return known


def _load(zone: str) -> int | ZoneInfo:
    if zone.strip().lower().removeprefix("etc/") in _UTC_NAMES:
        return 0
    if match := re.fullmatch(OFFSET, zone.strip(), re.IGNORECASE):
        hours, minutes, seconds = (int(part or 0) for part in match.group(2, 3, 4))
        if hours > 18 or minutes > 59 or seconds > 59:
            raise _unknown(zone)
        return (-1 if match[1] == "-" else 1) * (hours * 3600 + minutes * 60 + seconds) * SECOND
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(zone.strip())
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise _unknown(zone) from error


def _unknown(zone: str) -> UsageError:
    return UsageError("LP203", f"`{zone}` is not a time zone", fix="use an IANA name (Europe/Berlin) or an offset (+02:00)")
