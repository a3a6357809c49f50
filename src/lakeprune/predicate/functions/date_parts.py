"""year ... weekofyear, hour minute second, date_format: parts of a date, or of a timestamp's local date and time of day.

What moves: `year(d) >= 2024` becomes `d >= 2024-01-01`. Safe because the year is monotone in the day, over the whole range of
an int, in the proleptic Gregorian calendar. The other parts repeat, and formatted text has its own order, so alone they are
opaque on data (OPAQUE_ON_DATA); fields together with a year become days in `passes/combine_date_fields`.
Evaluated on partition values; text in place of a date is cast, formats know yyyy MM dd HH mm ss and punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lakeprune.predicate.comparison import as_time
from lakeprune.predicate.functions.cast_text import from_text
from lakeprune.predicate.functions.function import EvaluationFailed, Function, Preimage, always, takes
from lakeprune.predicate.functions.pieces import as_date, moved
from lakeprune.predicate.tree import Call, Expr, Profile, Within
from lakeprune.predicate.walk import type_of
from lakeprune.values.intervals import IntervalSet, from_intervals
from lakeprune.values.time.calendar import DAY, HOUR, MINUTE, SECOND, civil_of, days_of, iso_week, weekday, year_of
from lakeprune.values.types import DATE, INT, STRING, TIME_KINDS, Kind, Scalar


def day_number(value: Scalar, expr: Expr, profile: Profile) -> int:
    """The (local) date of a date or timestamp value."""
    if type_of(expr) == STRING and isinstance(value, str):
        return int(from_text(value, DATE, profile))  # type: ignore[arg-type]  # the strict reader gives days
    return _time(value, expr, Kind.DATE, profile)


def _time(value: Scalar, expr: Expr, kind: Kind, profile: Profile) -> int:
    type_ = type_of(expr)
    if type_ is None or type_.kind not in TIME_KINDS:
        raise EvaluationFailed(f"a date or time of type {type_}")
    return int(as_time(value, type_.kind, kind, profile))


def _preimage_of_year(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    date = as_date(call.args[0])
    if date is None:
        return None
    years = [moved(i, lambda lo: days_of(lo, 1, 1), lambda hi: days_of(hi + 1, 1, 1) - 1) for i in values.intervals]
    return Within(date, from_intervals(years, DATE))


def _of_day(names: tuple[str, ...], catalyst: str, field: Callable[[int], int], preimage: Preimage | None = None) -> Function:
    def evaluate(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
        return field(day_number(args[0], call.args[0], profile))

    return Function(names, takes(1), (catalyst,), always(INT), evaluate, preimage, day_field=field)


def _of_time(name: str, period: int, unit: int) -> Function:
    def evaluate(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
        return _time(args[0], call.args[0], Kind.TIMESTAMP_NTZ, profile) % period // unit

    return Function((name,), takes(1), (name.capitalize(),), always(INT), evaluate)


def _date_format(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    return formatted(_time(args[0], call.args[0], Kind.TIMESTAMP_NTZ, profile), str(args[1]))


def formatted(local: int, pattern: str) -> str:
    """The text of a local time.

    >>> formatted(0, "yyyy/MM/dd HH:mm")
    '1970/01/01 00:00'
    """
    year, month, day = civil_of(local // DAY)
    if not 1 <= year <= 9999:
        raise EvaluationFailed("a year of more than four digits")
    numbers = (month, day, local % DAY // HOUR, local % HOUR // MINUTE, local % MINUTE // SECOND)
    fields = {"yyyy": f"{year:04}", **{run: f"{n:02}" for run, n in zip(("MM", "dd", "HH", "mm", "ss"), numbers, strict=True)}}
    found = ""
    for run in re.finditer(r"([A-Za-z])\1*|.", pattern, re.DOTALL):
        if run[0] in "'[]#{}" or (run[1] and run[0] not in fields):
            raise EvaluationFailed(f"the pattern letters {run[0]!r}")
        found += fields.get(run[0], run[0])
    return found


FUNCTIONS = (
    _of_day(("year",), "Year", year_of, _preimage_of_year),
    _of_day(("quarter",), "Quarter", lambda days: (civil_of(days)[1] + 2) // 3),
    _of_day(("month",), "Month", lambda days: civil_of(days)[1]),
    _of_day(("day", "dayofmonth"), "DayOfMonth", lambda days: civil_of(days)[2]),
    _of_day(("dayofweek",), "DayOfWeek", lambda days: (weekday(days) + 1) % 7 + 1),  # Sunday is 1
    _of_day(("weekday",), "WeekDay", weekday),  # Monday is 0
    _of_day(("dayofyear",), "DayOfYear", lambda days: days - days_of(year_of(days), 1, 1) + 1),
    _of_day(("weekofyear",), "WeekOfYear", iso_week),
    _of_time("hour", DAY, HOUR),
    _of_time("minute", HOUR, MINUTE),
    _of_time("second", MINUTE, SECOND),
    Function(("date_format",), takes(2), ("DateFormatClass",), always(STRING), _date_format),
)
