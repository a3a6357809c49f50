"""unix_timestamp(ts) and unix_date(d): seconds and days since 1970-01-01.

What moves: `unix_timestamp(ts) >= k` becomes a range of instants, one second wide per value. Safe: rounding is monotone.
Example: `unix_timestamp(ts) = 5` is one second of 1970. Before 1970 Spark truncates the fraction (-0.5 s is 0, unlike its cast to
LONG) and other engines round down: both count. Refuses text arguments and formats (OPAQUE_ON_DATA).
"""

from __future__ import annotations

from lakeprune.predicate.comparison import as_time
from lakeprune.predicate.functions.function import EvaluationFailed, Function, always, takes
from lakeprune.predicate.functions.pieces import in_range, moved, widened, within_bounds
from lakeprune.predicate.tree import Call, Expr, Profile, Within
from lakeprune.predicate.walk import type_of
from lakeprune.values.bounds import Bounds
from lakeprune.values.intervals import Interval, IntervalSet, from_intervals
from lakeprune.values.time.calendar import SECOND
from lakeprune.values.types import DATE, INT, LONG, TIME_KINDS, TIMESTAMP, DataType, Kind, Scalar


def _seconds(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    type_ = type_of(call.args[0])
    if len(args) > 1 or type_ is None or type_.kind not in TIME_KINDS:
        raise EvaluationFailed("seconds of text")
    instant = as_time(args[0], type_.kind, _counted(type_), profile)
    in_range(instant, Kind.TIMESTAMP)
    if instant < 0 and instant % SECOND:
        raise EvaluationFailed("a fraction of a second before 1970, which engines round in two ways")
    return int(instant // SECOND)


def _counted(type_: DataType) -> Kind:
    """What seconds are counted in: a TIMESTAMP_NTZ by its own clock, whatever the session's zone; all else as instants."""
    return Kind.TIMESTAMP_NTZ if type_.kind is Kind.TIMESTAMP_NTZ else Kind.TIMESTAMP


def _days(call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    if type_of(call.args[0]) != DATE:
        raise EvaluationFailed("unix_date of something that is not a date")
    return args[0]


def _preimage_of_seconds(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    type_ = type_of(call.args[0])
    if len(call.args) > 1 or type_ is None or type_.kind not in TIME_KINDS:
        return None
    counted = DataType(_counted(type_))
    down = from_intervals([widened(interval, SECOND) for interval in values.intervals], counted)
    towards = from_intervals([_towards_1970(interval) for interval in values.intervals], counted)
    argument = call.args[0] if type_.kind is _counted(type_) else Call("cast", call.args, TIMESTAMP)
    return within_bounds(argument, Bounds(down.union(towards), down.intersect(towards)))


def _towards_1970(interval: Interval) -> Interval:
    """The instants whose second, rounded towards 1970, lies in the interval."""
    return moved(
        interval,
        lambda lo: lo * SECOND if lo > 0 else (lo - 1) * SECOND + 1,
        lambda hi: hi * SECOND if hi < 0 else (hi + 1) * SECOND - 1,
    )


def _preimage_of_days(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    return Within(call.args[0], values) if type_of(call.args[0]) == DATE else None


FUNCTIONS = (
    Function(
        ("unix_timestamp", "to_unix_timestamp"),
        takes(1, 2),
        ("UnixTimestamp", "ToUnixTimestamp"),
        always(LONG),
        _seconds,
        _preimage_of_seconds,
    ),
    Function(("unix_date",), takes(1), ("UnixDate",), always(INT), _days, _preimage_of_days),
)
