"""add_interval(x, months, days, micros): a date or timestamp moved by an interval (`ts + INTERVAL 7 DAYS`).

What moves: microseconds exactly; days exactly on dates, timestamps without zone and in UTC; months, and days across clock
changes, with a margin: the start of a month plus a month is exact, the 31st is not, so a few days around each bound may match
but do not certainly. Example: `ts + INTERVAL 1 HOUR > k` is `ts > k - 1 hour`.
Refuses intervals on anything but dates and timestamps (OPAQUE_ON_DATA).
"""

from __future__ import annotations

from lakeprune.predicate.functions.function import EvaluationFailed, Function, like_argument, takes
from lakeprune.predicate.functions.numbers import in_range
from lakeprune.predicate.functions.rewrite import moved, within_bounds
from lakeprune.predicate.tree import Call, Expr, Literal, Profile
from lakeprune.predicate.walk import type_of
from lakeprune.values.bounds import Bounds
from lakeprune.values.intervals import Interval, IntervalSet, from_intervals
from lakeprune.values.time.calendar import DAY, add_months
from lakeprune.values.time.zones import instant_of, is_utc, local_of
from lakeprune.values.types import INTEGER_RANGES, TIME_KINDS, TIMESTAMP, DataType, Kind, Scalar


def _evaluate(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
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


def _preimage(call: Call, values: IntervalSet, profile: Profile) -> Expr | None:
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


FUNCTIONS = (
    Function(
        ("add_interval",),
        takes(4),
        ("TimestampAddInterval", "TimestampAddYMInterval", "DateAddYMInterval"),
        like_argument(0),
        _evaluate,
        _preimage,
    ),
)
