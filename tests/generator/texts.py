"""Dates and timestamps as text, from canonical integers, without any library's idea of a time zone."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

_EPOCH = datetime(1970, 1, 1)


def date_text(days: int) -> str:
    return date.fromordinal(719163 + days).isoformat()


def timestamp_text(micros: int, separator: str = " ", digits: int = 6) -> str:
    """The wall clock in UTC with 0, 3 or 6 fractional digits (further digits are cut, not rounded)."""
    moment = _EPOCH + timedelta(microseconds=micros)
    fraction = f".{moment.microsecond:06d}"[: digits + 1] if digits else ""
    return f"{moment.date().isoformat()}{separator}{moment.strftime('%H:%M:%S')}{fraction}"


def zone_of(zone: str) -> tzinfo:
    """A region, or an offset as Spark writes it.

    >>> local_of_instant(0, "-03:30") // 60_000_000
    -210
    """
    moment = datetime.fromisoformat(f"2000-01-01T00:00:00{zone}") if zone.startswith(("+", "-")) else None
    return ZoneInfo(zone) if moment is None or moment.tzinfo is None else moment.tzinfo


def instant_of_local(micros: int, zone: str) -> int:
    """The instant of a wall-clock reading; gaps move forward and overlaps take the earlier offset, as Java does."""
    local = (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=zone_of(zone))
    offset = local.utcoffset()
    assert offset is not None
    return micros - int(offset / timedelta(microseconds=1))


def local_of_instant(micros: int, zone: str) -> int:
    moment = (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=ZoneInfo("UTC")).astimezone(zone_of(zone))
    offset = moment.utcoffset()
    assert offset is not None
    return micros + int(offset / timedelta(microseconds=1))
