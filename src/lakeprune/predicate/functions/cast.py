"""cast, try_cast, to_date, to_timestamp: a value in another type.

What moves: casts that keep the order: to a wider integer, decimal or double, float to double, decimal and double to an
integer, date to timestamp, timestamp to date, between the two kinds of timestamp, timestamp to seconds.
Example: `cast(ts as date) = '2024-03-01'` is one day of instants in the session zone.
Refuses casts from and to text and booleans (OPAQUE_ON_DATA): '10' sorts before '9'. A value that the target cannot hold raises
or wraps, depending on the mode, so it may match (outer set) but never certainly does (inner set); where it may become NULL
(a decimal, the seconds of a timestamp), the cast does not move.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from lakeprune.predicate.comparison import as_time
from lakeprune.predicate.functions.cast_text import from_text, to_text
from lakeprune.predicate.functions.function import (
    NO_CATALYST_FORM,
    ArgTypes,
    EvaluationFailed,
    Function,
    SparkFails,
    always,
    takes,
)
from lakeprune.predicate.functions.pieces import around, in_decimal, in_range, moved, scaled, widened, within_bounds
from lakeprune.predicate.tree import Call, Expr, Profile, Within
from lakeprune.predicate.walk import type_of
from lakeprune.values.bounds import Bounds, exactly
from lakeprune.values.floats import to_float32
from lakeprune.values.intervals import Interval, IntervalSet, from_intervals
from lakeprune.values.monotone import preimage_of
from lakeprune.values.time.calendar import DAY, SECOND
from lakeprune.values.time.local_time import instants_of_locals, locals_of_instants
from lakeprune.values.types import (
    DATE,
    INTEGER_RANGES,
    INTEGRAL_KINDS,
    TIME_KINDS,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DataType,
    Family,
    Kind,
    Scalar,
)


def convert(value: Any, source: DataType, target: DataType, profile: Profile) -> Scalar:
    """A non-NULL value cast as Spark casts it; `EvaluationFailed` where it raises, or where the mode decides."""
    kind, goal = source.kind, target.kind
    if source == target:
        return value  # type: ignore[no-any-return]  # a canonical value stays one
    if source.collation or target.collation:
        raise EvaluationFailed("padding or collation")
    if kind in TIME_KINDS and goal in TIME_KINDS:
        return in_range(int(as_time(value, kind, goal, profile)), goal)
    if goal is Kind.STRING:
        return to_text(value, source, profile)
    if kind is Kind.STRING:
        return from_text(value, target, profile)
    if kind is Kind.BOOLEAN and goal in INTEGRAL_KINDS:
        return int(value)
    if goal is Kind.BOOLEAN and kind in INTEGRAL_KINDS:
        return bool(value != 0)
    if kind is Kind.TIMESTAMP and goal in INTEGRAL_KINDS:
        return in_range(value // SECOND, goal)
    if kind in INTEGRAL_KINDS and goal is Kind.TIMESTAMP:
        return in_range(value * SECOND, goal)
    if kind in TIME_KINDS or Kind.BOOLEAN in (kind, goal):
        raise EvaluationFailed(f"{source} to {target}")
    return _number(value, source, target)


def _number(value: Any, source: DataType, target: DataType) -> Scalar:
    goal = target.kind
    if goal in INTEGRAL_KINDS:
        if isinstance(value, float) and not math.isfinite(value):
            raise EvaluationFailed(f"{value} is not an integer")
        return in_range(math.trunc(Fraction(value)), goal)
    if goal is Kind.DECIMAL:
        if isinstance(value, float):
            if not math.isfinite(value):
                raise EvaluationFailed(f"{value} is not a decimal")
            value = Decimal(repr(value))  # Spark takes the shortest text of a double, too
        return in_decimal(Fraction(value), target)
    if goal is Kind.DOUBLE:
        return float(value)
    if goal is Kind.FLOAT and (source.kind is Kind.DOUBLE or (isinstance(value, int) and abs(value) < 2**53)):
        return to_float32(float(value))
    raise EvaluationFailed(f"{source} to {target}")


def _evaluate(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    source, target = type_of(call.args[0]), type_of(call)
    if source is None or target is None or len(args) > 1:
        raise EvaluationFailed("a cast between unknown types, or by a format")
    try:
        return convert(args[0], source, target, profile)
    except SparkFails:
        if call.function == "try_cast":
            return None
        raise


def _preimage(call: Call, values: IntervalSet, profile: Profile) -> Expr | None:
    source, target = type_of(call.args[0]), type_of(call)
    if source is None or target is None or len(call.args) > 1 or source.collation or target.collation:
        return None
    argument = call.args[0]
    if source == target:
        return Within(argument, values)
    if source.kind in TIME_KINDS and target.kind in TIME_KINDS:
        return within_bounds(argument, _time_bounds(values, source.kind, target.kind, profile))
    bounds = _number_bounds(values, source, target)
    may_be_null = call.function == "try_cast" or target.kind is Kind.DECIMAL or source.kind is Kind.TIMESTAMP
    if bounds is None or (may_be_null and not bounds.is_exact()):
        return None  # NULL where the value does not fit: the NULL rows of both sets would differ from the truth
    return within_bounds(argument, bounds)


def _time_bounds(values: IntervalSet, source: Kind, target: Kind, profile: Profile) -> Bounds:
    if target is Kind.DATE:
        locals_ = from_intervals([widened(i, DAY) for i in values.intervals], TIMESTAMP_NTZ)
        return exactly(locals_) if source is Kind.TIMESTAMP_NTZ else instants_of_locals(locals_, profile.zone)
    if source is Kind.DATE:
        if target is Kind.TIMESTAMP_NTZ:
            return exactly(from_intervals([moved(i, lambda micros: Fraction(micros) / DAY) for i in values.intervals], DATE))
        return exactly(preimage_of(lambda day: as_time(day, source, target, profile), values, DATE))
    if target is Kind.TIMESTAMP:
        return locals_of_instants(values, profile.zone)
    return instants_of_locals(values, profile.zone)


def _number_bounds(values: IntervalSet, source: DataType, target: DataType) -> Bounds | None:
    kind, goal = source.kind, target.kind
    if goal is Kind.DOUBLE:
        if kind is Kind.FLOAT:
            return exactly(values)
        return exactly(preimage_of(float, values, source)) if kind in INTEGRAL_KINDS or kind is Kind.DECIMAL else None
    if kind is Kind.TIMESTAMP and goal in INTEGRAL_KINDS:
        found = from_intervals([widened(i, SECOND) for i in values.intervals], TIMESTAMP)
        fits = from_intervals([widened(Interval(*INTEGER_RANGES[goal]), SECOND)], TIMESTAMP)
        return around(found, fits=fits)
    if goal in INTEGRAL_KINDS and (kind in INTEGRAL_KINDS or source.family in (Family.DECIMAL, Family.REAL)):
        found = from_intervals([_truncated(i) for i in values.intervals], source)
        return around(found, fits=from_intervals([_truncated(Interval(*INTEGER_RANGES[goal]))], source))
    if goal is Kind.DECIMAL and (kind in INTEGRAL_KINDS or kind is Kind.DECIMAL):
        found = preimage_of(lambda value: scaled(Fraction(value), target.scale), values, source)
        top = Fraction(10**target.precision - 1, 10**target.scale)
        half = Fraction(1, 2 * 10**target.scale)
        limits = Interval(-top - half, top + half, lo_open=True, hi_open=True)
        return around(found, fits=from_intervals([limits], source))
    return None


def _truncated(interval: Interval) -> Interval:
    """The numbers that truncation towards zero sends into an interval of integers."""
    lo, hi = interval.lo, interval.hi
    low = (lo, False) if lo is None or lo > 0 else (lo - 1, True)
    high = (hi, False) if hi is None or hi < 0 else (hi + 1, True)
    return Interval(low[0], high[0], low[1], high[1])


def _no_type(_types: ArgTypes) -> DataType | None:
    return None  # the target is written in the call


FUNCTIONS = (
    Function(("cast",), takes(1), ("Cast",), _no_type, _evaluate, _preimage),
    Function(("try_cast",), takes(1), ("Cast",), _no_type, _evaluate, _preimage),
    Function(("to_date", "date"), takes(1, 2), NO_CATALYST_FORM, always(DATE), _evaluate, _preimage),
    Function(("to_timestamp",), takes(1, 2), NO_CATALYST_FORM, always(TIMESTAMP), _evaluate, _preimage),
)
