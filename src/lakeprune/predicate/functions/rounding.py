"""floor ceil round abs sign of a number.

What moves: floor and ceil, which are weakly monotone: `floor(x) = 3` becomes `3 <= x < 4`; abs, in two mirrored pieces.
A double beyond the range of a long saturates and NaN becomes 0, as in Spark's JVM cast; other engines raise, so those values may
match but never certainly do. Refuses round and sign (OPAQUE_ON_DATA).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from lakeprune.predicate.functions.function import ArgTypes, EvaluationFailed, Function, always, like_argument, takes
from lakeprune.predicate.functions.pieces import (
    around,
    as_int,
    in_decimal,
    in_range,
    scaled,
    signed,
    signed_exactly,
    within_bounds,
)
from lakeprune.predicate.tree import Call, Expr, Profile
from lakeprune.predicate.walk import type_of
from lakeprune.values.bounds import Bounds
from lakeprune.values.intervals import Interval, IntervalSet, everything, from_intervals
from lakeprune.values.types import DOUBLE, INTEGER_RANGES, INTEGRAL_KINDS, LONG, DataType, Family, Kind, Scalar


def _number(value: Scalar) -> int | Fraction | float:
    if isinstance(value, bool | str | bytes) or value is None:
        raise EvaluationFailed("rounding something that is not a number")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise EvaluationFailed("rounding an infinity or NaN")
        return value
    return value if isinstance(value, int) else Fraction(value)


def _typed(value: Fraction | int, call: Call) -> Scalar:
    result = type_of(call)
    if result is not None and result.kind is Kind.DECIMAL:
        return in_decimal(Fraction(value), result)
    if result is None or result.kind not in INTEGRAL_KINDS or value != int(value):
        raise EvaluationFailed(f"{call.function} as {result}")
    return in_range(int(value), result.kind)


def _floor_or_ceil(call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    if len(args) > 1:
        raise EvaluationFailed("rounding to a scale")
    value = _number(args[0])
    return _typed(math.floor(value) if call.function == "floor" else math.ceil(value), call)


def _round(call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    value, digits = _number(args[0]), as_int(args[1]) if len(args) > 1 else 0
    if isinstance(value, float):
        raise EvaluationFailed("rounding a double depends on its text")
    unit = Fraction(10) ** digits
    return _typed(Fraction(scaled(value * unit, 0)) / unit, call)


def _abs(call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    value = args[0]
    if isinstance(value, float):
        return abs(value)
    exact, result = abs(Fraction(_number(value))), type_of(call)
    return _typed(exact if result is None else signed(exact, result), call)


def _sign(_call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    value = _number(args[0])
    return float((value > 0) - (value < 0))


def _preimage_of_floor_or_ceil(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    source, result = type_of(call.args[0]), type_of(call)
    if source is None or result is None or len(call.args) > 1:
        return None
    if source.kind in INTEGRAL_KINDS:
        return within_bounds(call.args[0], around(from_intervals(values.intervals, source), fits=everything(source)))
    if source.family is Family.DECIMAL and result.kind is Kind.DECIMAL and result.scale == 0:
        found = from_intervals([_unrounded(i, call.function) for i in values.intervals], source)
        return within_bounds(call.args[0], Bounds(found, found))
    if source.family is Family.REAL and result == LONG:
        found = from_intervals([_unrounded(i, call.function) for i in values.intervals], source)
        fits = from_intervals([Interval(-(2.0**63), 2.0**63, hi_open=True)], source)
        return within_bounds(call.args[0], around(found, fits=fits))
    return None


def _unrounded(interval: Interval, name: str) -> Interval:
    """The numbers whose floor (ceiling) lies in an interval of whole numbers."""
    lo = None if interval.lo is None else Fraction(interval.lo)
    hi = None if interval.hi is None else Fraction(interval.hi)
    if name == "floor":
        return Interval(lo, None if hi is None else hi + 1, hi_open=True)
    return Interval(None if lo is None else lo - 1, hi, lo_open=True)


def _preimage_of_abs(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    source, result = type_of(call.args[0]), type_of(call)
    if source is None or source != result or source.family not in (Family.INTEGER, Family.DECIMAL, Family.REAL):
        return None
    zero = from_intervals([Interval(0.0 if source.family is Family.REAL else 0, None)], source, nan=bool(values.nan))
    kept = values.intersect(zero)
    mirrored = [
        Interval(
            None if i.hi is None else -Fraction(i.hi) if not isinstance(i.hi, float) else -i.hi,
            None if i.lo is None else -Fraction(i.lo) if not isinstance(i.lo, float) else -i.lo,
            i.hi_open,
            i.lo_open,
        )
        for i in kept.intervals
    ]
    found = kept.union(from_intervals(mirrored, source))
    fits = signed_exactly(source)
    if source.kind in INTEGRAL_KINDS:  # the least integer has no positive counterpart
        fits = from_intervals([Interval(INTEGER_RANGES[source.kind][0] + 1, None)], source)
    return within_bounds(call.args[0], around(found, fits=fits))


def _whole_type(types: ArgTypes) -> DataType | None:
    source = types[0]
    if source is None:
        return None
    if source.kind is Kind.DECIMAL:
        return DataType(Kind.DECIMAL, min(source.precision - source.scale + 1, 38), 0)
    return LONG if source.kind in INTEGRAL_KINDS or source.family is Family.REAL else None


def rounded_type(source: DataType, digits: Scalar) -> DataType | None:
    """The decimal type of `round(source, digits)`: Spark prints no more digits than were asked for."""
    if not isinstance(digits, int):
        return None
    scale = max(0, min(source.scale, digits))
    whole = max(source.precision - source.scale + 1, 1 - digits)
    return DataType(Kind.DECIMAL, min(whole + scale, 38), scale)


_function = partial(Function, only_overflows=True)
FUNCTIONS = (
    _function(("floor",), takes(1), ("Floor",), _whole_type, _floor_or_ceil, _preimage_of_floor_or_ceil),
    _function(("ceil", "ceiling"), takes(1), ("Ceil",), _whole_type, _floor_or_ceil, _preimage_of_floor_or_ceil),
    _function(("abs",), takes(1), ("Abs",), like_argument(0), _abs, _preimage_of_abs),
    _function(("round",), takes(1, 2), ("Round",), like_argument(0), _round),
    _function(("sign", "signum"), takes(1), ("Signum",), always(DOUBLE), _sign),
)
