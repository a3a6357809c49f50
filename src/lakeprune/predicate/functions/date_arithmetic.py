"""Dates and timestamps moved by days, months and intervals; datediff, months_between, last_day, next_day, make_date.

What moves: `date_add(d, 7) >= k` becomes `d >= k - 7`, `datediff(d, k)` and `last_day(d)` likewise, with a constant second date;
`ts + INTERVAL 1 HOUR > k` becomes `ts > k - 1 hour`. Microseconds move exactly; days exactly on dates, timestamps without zone
and in UTC; months, and days across clock changes, with a margin: the start of a month plus a month is exact, the 31st is not, so
a few days around each bound may match but do not certainly. Days that leave the range of a date wrap or raise: they may match
(outer set) but never certainly do. Refuses add_months, months_between, next_day, make_date, two columns, intervals on
anything else (OPAQUE_ON_DATA).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from lakeprune.predicate.comparison import as_time
from lakeprune.predicate.functions.date_parts import day_number
from lakeprune.predicate.functions.function import EvaluationFailed, Function, always, like_argument, takes
from lakeprune.predicate.functions.pieces import around, as_date, as_int, in_range, moved, within_bounds
from lakeprune.predicate.tree import Call, Expr, Literal, Profile, Within
from lakeprune.predicate.walk import type_of
from lakeprune.values.bounds import Bounds
from lakeprune.values.intervals import Interval, IntervalSet, from_intervals
from lakeprune.values.monotone import preimage_of
from lakeprune.values.time.calendar import DAY, SECOND, add_months, civil_of, days_of, last_day_of_month, weekday
from lakeprune.values.time.zones import instant_of, is_utc, local_of
from lakeprune.values.types import DATE, DOUBLE, INT, INTEGER_RANGES, TIME_KINDS, TIMESTAMP, DataType, Kind, Scalar

_LEAST, _GREATEST = INTEGER_RANGES[Kind.DATE]
_WEEKDAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")


def _dated(days: int) -> int:
    return in_range(days, Kind.DATE)


def _evaluate_shift(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    days, count = day_number(args[0], call.args[0], profile), as_int(args[1])
    if call.function == "add_months":
        return _dated(add_months(days, count))
    return _dated(days + count if call.function == "date_add" else days - count)


def _evaluate_datediff(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    return _dated(day_number(args[0], call.args[0], profile) - day_number(args[1], call.args[1], profile))


def _evaluate_last_day(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    return _dated(last_day_of_month(day_number(args[0], call.args[0], profile)))


def _evaluate_next_day(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    name = str(args[1]).upper()
    wanted = next((n for n, day in enumerate(_WEEKDAYS) if name in (day, day[:3], day[:2])), None)
    if wanted is None:
        raise EvaluationFailed(f"{args[1]!r} is not a day of the week: an error or NULL, depending on the mode")
    days = day_number(args[0], call.args[0], profile)
    return _dated(days + 7 - (weekday(days) - wanted) % 7)


def _evaluate_months_between(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    """Whole months between the same days or two last days of months; else a day counts as the 31st part of a month."""
    (days, seconds), (other, from_seconds) = (_day_and_second(*pair, profile) for pair in zip(args[:2], call.args, strict=False))
    (year, month, day), (from_year, from_month, from_day) = civil_of(days), civil_of(other)
    months = float(year * 12 + month - from_year * 12 - from_month)
    if day == from_day or (days == last_day_of_month(days) and other == last_day_of_month(other)):
        return months
    found = months + ((day - from_day) * 86_400 + seconds - from_seconds) / (31 * 86_400)
    return found if args[2:] == (False,) else math.floor(Fraction(found * 1e8) + Fraction(1, 2)) / 1e8


def _day_and_second(value: Scalar, expr: Expr, profile: Profile) -> tuple[int, int]:
    """The local day of a moment, and the seconds since it began."""
    type_ = type_of(expr)
    if type_ is None or type_.kind not in TIME_KINDS:
        raise EvaluationFailed(f"the months of type {type_}")
    instant = int(as_time(value, type_.kind, Kind.TIMESTAMP, profile))
    day = local_of(instant, profile.zone) // DAY
    return day, (instant - instant_of(day * DAY, profile.zone)) // SECOND


def _evaluate_make_date(_call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    year, month, day = (as_int(arg) for arg in args)
    if not -999_999_999 <= year <= 999_999_999 or not 1 <= month <= 12 or not 1 <= day <= 31:
        raise EvaluationFailed("no such day")
    days = days_of(year, month, day)
    if civil_of(days) != (year, month, day):
        raise EvaluationFailed("no such day")
    return _dated(days)


def _shifted(argument: Expr, values: IntervalSet, shift: int) -> Expr:
    """`argument + shift` lies in `values`."""
    found = from_intervals([moved(i, lambda day: day - shift) for i in values.intervals], DATE)
    fits = from_intervals([Interval(_LEAST - shift, _GREATEST - shift)], DATE)
    return within_bounds(argument, around(found, fits=fits))


def _preimage_of_shift(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    argument, count = as_date(call.args[0]), call.args[1]
    if argument is None or not isinstance(count, Literal) or not isinstance(count.value, int):
        return None
    if not _LEAST <= count.value <= _GREATEST:
        return None
    return _shifted(argument, values, count.value if call.function == "date_add" else -count.value)


def _preimage_of_datediff(call: Call, values: IntervalSet, profile: Profile) -> Expr | None:
    start, end = call.args[1], as_date(call.args[0])
    if not isinstance(start, Literal) or end is None:
        return None
    try:
        day = day_number(start.value, start, profile)
    except EvaluationFailed:
        return None
    return _shifted(end, values, -day)


def _preimage_of_last_day(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    argument = as_date(call.args[0])
    return None if argument is None else Within(argument, preimage_of(last_day_of_month, values, DATE))


def _evaluate_interval(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    source, result = type_of(call.args[0]), type_of(call)
    months, days, micros = (arg if isinstance(arg, int) else 0 for arg in args[1:])
    if source is None or result is None or source.kind not in TIME_KINDS or not isinstance(args[0], int):
        raise EvaluationFailed("an interval added to something that is not a time")
    if result.kind is Kind.DATE:
        if micros or source.kind is not Kind.DATE:
            raise EvaluationFailed("a time of day added to a date")
        return in_range(add_months(args[0], months) + days, result.kind)
    if source.kind is not result.kind:
        raise EvaluationFailed(f"{source} plus an interval as {result}")
    return in_range(_moved(args[0], (months, days, micros), source.kind, profile), result.kind)


def _moved(value: int, by: tuple[int, int, int], kind: Kind, profile: Profile) -> int:
    """Months, then days on the wall clock, then microseconds on the time line."""
    months, days, micros = by
    if not months and not days:
        return value + micros
    local = local_of(value, profile.zone) if kind is Kind.TIMESTAMP else value
    day, time = divmod(local, DAY)
    local = (add_months(day, months) + days) * DAY + time
    return (instant_of(local, profile.zone) if kind is Kind.TIMESTAMP else local) + micros


def _preimage_of_interval(call: Call, values: IntervalSet, profile: Profile) -> Expr | None:
    argument = call.args[0]
    source, result = type_of(argument), type_of(call)
    amounts = [arg.value if isinstance(arg, Literal) else None for arg in call.args[1:]]
    if source is None or result is None or source.kind not in TIME_KINDS or source.kind is not result.kind:
        return None
    months, days, micros = amounts
    if not (isinstance(months, int) and isinstance(days, int) and isinstance(micros, int)):
        return None
    unit = 1 if source.kind is Kind.DATE else DAY
    if source.kind is Kind.DATE and micros:
        return None
    shortest, longest = _months_in_days(months)
    shift = days * unit + micros
    margin = 2 * unit if source == TIMESTAMP and (months or days) and not is_utc(profile.zone) else 0
    least, most = shift + shortest * unit - margin, shift + longest * unit + margin
    return within_bounds(argument, _bounds(values, least, most, source))


def _months_in_days(months: int) -> tuple[int, int]:
    """Days that a step of so many months lasts at least and at most: the mean, short months and leap days around it."""
    if months == 0:
        return 0, 0
    mean = months * 146_097 // 4_800
    return mean - 7, mean + 8


def _bounds(values: IntervalSet, least: int, most: int, type_: DataType) -> Bounds:
    """x with x + s in `values`, for a step s somewhere in least..most."""
    end = INTEGER_RANGES[type_.kind]
    outer, inner = [], []
    for interval in values.intervals:
        outer.append(moved(interval, lambda lo: lo - most, lambda hi: hi - least))
        inner.append(moved(interval, lambda lo: lo - least, lambda hi: hi - most))
    certain = from_intervals([Interval(end[0] - least, end[1] - most)], type_)  # moved, it stays inside the type
    possible = from_intervals(outer, type_).union(certain.complement())
    kept = [i for i in inner if i.lo is None or i.hi is None or i.lo <= i.hi]
    return Bounds(possible, from_intervals(kept, type_).intersect(certain))


_function = partial(Function, only_overflows=True)
FUNCTIONS = (
    _function(("date_add", "dateadd"), takes(2), ("DateAdd",), always(DATE), _evaluate_shift, _preimage_of_shift),
    _function(("date_sub",), takes(2), ("DateSub",), always(DATE), _evaluate_shift, _preimage_of_shift),
    _function(("add_months",), takes(2), ("AddMonths",), always(DATE), _evaluate_shift),
    _function(("datediff", "date_diff"), takes(2), ("DateDiff",), always(INT), _evaluate_datediff, _preimage_of_datediff),
    _function(("last_day",), takes(1), ("LastDay",), always(DATE), _evaluate_last_day, _preimage_of_last_day),
    _function(("months_between",), takes(2, 3), ("MonthsBetween",), always(DOUBLE), _evaluate_months_between),
    _function(("next_day",), takes(2), ("NextDay",), always(DATE), _evaluate_next_day),
    _function(("make_date",), takes(3), ("MakeDate",), always(DATE), _evaluate_make_date),
    Function(
        ("add_interval",),
        takes(4),
        ("TimestampAddInterval", "TimestampAddYMInterval", "DateAddYMInterval"),
        like_argument(0),
        _evaluate_interval,
        _preimage_of_interval,
    ),
)
