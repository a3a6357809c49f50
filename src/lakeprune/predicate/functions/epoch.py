"""unix_timestamp(ts) and unix_date(d): seconds and days since 1970-01-01.

What moves: `unix_timestamp(ts) >= k` becomes a range of instants, one second wide per value. Safe: rounding down is monotone.
Example: `unix_timestamp(ts) = 0` is the first second of 1970. Refuses text arguments and formats (OPAQUE_ON_DATA).
"""

from __future__ import annotations

from lakeprune.predicate.calendar import SECOND
from lakeprune.predicate.comparison import as_time
from lakeprune.predicate.functions.function import EvaluationFailed, Function, always
from lakeprune.predicate.intervals import Interval, IntervalSet, from_intervals
from lakeprune.predicate.tree import Call, Expr, Profile, Within
from lakeprune.predicate.types import DATE, INT, INTEGER_RANGES, LONG, TIME_KINDS, TIMESTAMP, Kind, Scalar
from lakeprune.predicate.walk import type_of


def _seconds(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    type_ = type_of(call.args[0])
    if len(args) > 1 or type_ is None or type_.kind not in TIME_KINDS:
        raise EvaluationFailed("seconds of text")
    instant = as_time(args[0], type_.kind, Kind.TIMESTAMP, profile)
    least, greatest = INTEGER_RANGES[Kind.TIMESTAMP]
    if not least <= instant <= greatest:
        raise EvaluationFailed("a date that no timestamp reaches")
    return int(instant // SECOND)


def _days(call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    if type_of(call.args[0]) != DATE:
        raise EvaluationFailed("unix_date of something that is no date")
    return args[0]


def _preimage_of_seconds(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    type_ = type_of(call.args[0])
    if len(call.args) > 1 or type_ is None or type_.kind not in TIME_KINDS:
        return None
    instants = from_intervals(
        [
            Interval(
                None if interval.lo is None else interval.lo * SECOND,
                None if interval.hi is None else interval.hi * SECOND + SECOND - 1,
            )
            for interval in values.intervals
        ],
        TIMESTAMP,
    )
    return Within(call.args[0] if type_ == TIMESTAMP else Call("cast", call.args, TIMESTAMP), instants)


def _preimage_of_days(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    return Within(call.args[0], values) if type_of(call.args[0]) == DATE else None


FUNCTIONS = {
    "unix_timestamp": Function(always(LONG), _seconds, _preimage_of_seconds),
    "unix_date": Function(always(INT), _days, _preimage_of_days),
}
