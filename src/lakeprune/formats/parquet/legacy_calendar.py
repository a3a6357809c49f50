"""Days of the Julian calendar in footers: what Spark 2 and Spark's legacy mode recorded is not what Spark reads (T95).

In: a bound, in days or microseconds. Out: a bound of the stored values and of those that Spark makes of them. Spark reads a day
before 1582-10-15 as the day of the same name in the Gregorian calendar, up to ten days away, and a moment before 1900 also by
another offset of the writer's time zone, up to a day away. Which files are marked so engines/engine.py says.
"""

from __future__ import annotations

from lakeprune.values.types import DataType, Kind

_DAYS = 14  # more than ten days and the two offsets of any zone
_MICROS_A_DAY = 86_400_000_000
_AGREE_DAYS, _AGREE_MICROS = -141_427, -2_208_988_800_000_000  # 1582-10-15 and 1900-01-01: from here on nothing is moved
_LIMITS = {
    Kind.DATE: (_AGREE_DAYS, _DAYS),
    Kind.TIMESTAMP: (_AGREE_MICROS, _DAYS * _MICROS_A_DAY),
    Kind.TIMESTAMP_NTZ: (_AGREE_MICROS, _DAYS * _MICROS_A_DAY),  # as a day it may have been stored, as a moment be read
}


def is_movable(data_type: DataType) -> bool:
    """Whether values of this type depend on the calendar."""
    return data_type.kind in _LIMITS


def moved(value: str, data_type: DataType, *, is_upper: bool) -> str:
    """The bound, further out where `is_julian` and the calendars differ."""
    if data_type.kind not in _LIMITS:
        return value
    agree, margin = _LIMITS[data_type.kind]
    # A value just below the limit may be moved beyond it, and beyond a maximum that is not moved itself.
    is_early = f"{value} < {agree + margin}" if is_upper else f"{value} < {agree}"
    return f"CASE WHEN is_julian AND {is_early} THEN {value} {'+' if is_upper else '-'} {margin} ELSE {value} END"
