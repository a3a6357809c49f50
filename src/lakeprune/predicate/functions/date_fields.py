"""year quarter month day dayofweek dayofyear weekofyear: a field of a date, or of a timestamp's local date.

What moves: `year(d) >= 2024` becomes `d >= 2024-01-01`. Safe because the year is monotone in the day, over the whole range of
an int, in the proleptic Gregorian calendar. The other fields repeat every year, so alone they are opaque on data
(OPAQUE_ON_DATA); together with a year `passes/combine_date_fields` turns them into days.
Example: `year(d) = 2024` is `d BETWEEN '2024-01-01' AND '2024-12-31'`. Refuses text arguments (a cast, OPAQUE_ON_DATA).
"""

from __future__ import annotations

from collections.abc import Callable

from lakeprune.predicate.comparison import as_time
from lakeprune.predicate.functions.cast_text import from_text
from lakeprune.predicate.functions.function import EvaluationFailed, Function, Preimage, always, takes
from lakeprune.predicate.functions.rewrite import moved
from lakeprune.predicate.tree import Call, Expr, Profile, Within
from lakeprune.predicate.walk import type_of
from lakeprune.values.intervals import IntervalSet, from_intervals
from lakeprune.values.time.calendar import civil_of, days_of, iso_week, weekday, year_of
from lakeprune.values.types import DATE, INT, STRING, TIME_KINDS, Kind, Scalar


def day_number(value: Scalar, expr: Expr, profile: Profile) -> int:
    """The (local) date of a date or timestamp value."""
    type_ = type_of(expr)
    if type_ == STRING and isinstance(value, str):
        return int(from_text(value, DATE, profile))  # type: ignore[arg-type]  # the strict reader gives days
    if type_ is None or type_.kind not in TIME_KINDS:
        raise EvaluationFailed(f"the date of a {type_}")
    return int(as_time(value, type_.kind, Kind.DATE, profile))


def as_date(moment: Expr) -> Expr | None:
    """The moment as a date expression; None when it is text or something else that only a cast could read."""
    type_ = type_of(moment)
    if type_ is None or type_.kind not in TIME_KINDS:
        return None
    return moment if type_.kind is Kind.DATE else Call("cast", (moment,), DATE)


def _preimage_of_year(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    date = as_date(call.args[0])
    if date is None:
        return None
    years = [moved(i, lambda lo: days_of(lo, 1, 1), lambda hi: days_of(hi + 1, 1, 1) - 1) for i in values.intervals]
    return Within(date, from_intervals(years, DATE))


def _field(names: tuple[str, ...], catalyst: str, field: Callable[[int], int], preimage: Preimage | None = None) -> Function:
    def evaluate(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
        return field(day_number(args[0], call.args[0], profile))

    return Function(names, takes(1), (catalyst,), always(INT), evaluate, preimage, day_field=field)


FUNCTIONS = (
    _field(("year",), "Year", year_of, _preimage_of_year),
    _field(("quarter",), "Quarter", lambda days: (civil_of(days)[1] + 2) // 3),
    _field(("month",), "Month", lambda days: civil_of(days)[1]),
    _field(("day", "dayofmonth"), "DayOfMonth", lambda days: civil_of(days)[2]),
    _field(("dayofweek",), "DayOfWeek", lambda days: (weekday(days) + 1) % 7 + 1),  # Sunday is 1
    _field(("dayofyear",), "DayOfYear", lambda days: days - days_of(year_of(days), 1, 1) + 1),
    _field(("weekofyear",), "WeekOfYear", iso_week),
)
