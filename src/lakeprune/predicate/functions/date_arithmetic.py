"""date_add date_sub add_months datediff last_day make_date: arithmetic on days.

What moves: `date_add(d, 7) >= k` becomes `d >= k - 7`, `datediff(d, k)` and `last_day(d)` likewise, with a constant second date.
Example: `date_sub(d, 1) = '2024-03-01'` is `d = '2024-03-02'`. Days that leave the range of a date wrap or raise: they may match
(outer set) but never certainly do. Refuses add_months, make_date and two columns (OPAQUE_ON_DATA).
"""

from __future__ import annotations

from functools import partial

from lakeprune.predicate.functions.date_fields import as_date, day_number
from lakeprune.predicate.functions.function import EvaluationFailed, Function, always, takes
from lakeprune.predicate.functions.numbers import in_range
from lakeprune.predicate.functions.rewrite import around, moved, within_bounds
from lakeprune.predicate.tree import Call, Expr, Literal, Profile, Within
from lakeprune.values.intervals import Interval, IntervalSet, from_intervals
from lakeprune.values.monotone import preimage_of
from lakeprune.values.time.calendar import add_months, civil_of, days_of, last_day_of_month
from lakeprune.values.types import DATE, INT, INTEGER_RANGES, Kind, Scalar

_LEAST, _GREATEST = INTEGER_RANGES[Kind.DATE]


def _whole(value: Scalar) -> int:
    if not isinstance(value, int):
        raise EvaluationFailed(f"{value!r} is not a whole number")
    return value


def _dated(days: int) -> int:
    return in_range(days, Kind.DATE)


def _evaluate_shift(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    days, count = day_number(args[0], call.args[0], profile), _whole(args[1])
    if call.function == "add_months":
        return _dated(add_months(days, count))
    return _dated(days + count if call.function == "date_add" else days - count)


def _evaluate_datediff(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    return _dated(day_number(args[0], call.args[0], profile) - day_number(args[1], call.args[1], profile))


def _evaluate_last_day(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    return _dated(last_day_of_month(day_number(args[0], call.args[0], profile)))


def _evaluate_make_date(_call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    year, month, day = (_whole(arg) for arg in args)
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


_function = partial(Function, only_overflows=True)
FUNCTIONS = (
    _function(("date_add", "dateadd"), takes(2), ("DateAdd",), always(DATE), _evaluate_shift, _preimage_of_shift),
    _function(("date_sub",), takes(2), ("DateSub",), always(DATE), _evaluate_shift, _preimage_of_shift),
    _function(("add_months",), takes(2), ("AddMonths",), always(DATE), _evaluate_shift),
    _function(("datediff", "date_diff"), takes(2), ("DateDiff",), always(INT), _evaluate_datediff, _preimage_of_datediff),
    _function(("last_day",), takes(1), ("LastDay",), always(DATE), _evaluate_last_day, _preimage_of_last_day),
    _function(("make_date",), takes(3), ("MakeDate",), always(DATE), _evaluate_make_date),
)
