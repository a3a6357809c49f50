"""What values and preimages of functions are made of: numbers that fit their type, intervals moved, arguments within bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.tree import And, Call, Either, Expr, Not, Or, Within
from lakeprune.predicate.walk import type_of
from lakeprune.values.bounds import Bounds
from lakeprune.values.intervals import Interval, IntervalSet, everything, from_intervals
from lakeprune.values.types import DATE, INTEGER_RANGES, TIME_KINDS, DataType, Kind, Scalar

_WIDE = Context(prec=100)
_SIGN_DIGITS = 34  # of a decimal whose sign Spark changes exactly


def scaled(value: Fraction, scale: int) -> Decimal:
    """The value rounded half up (away from zero) to `scale` digits, as Spark rounds.

    >>> scaled(Fraction(-5, 2), 0)
    Decimal('-3')
    """
    units = math.floor(abs(value) * 10**scale + Fraction(1, 2))
    return Decimal(-units if value < 0 else units).scaleb(-scale, _WIDE)


def in_range(value: int, kind: Kind) -> int:
    """A whole number, day or microsecond that the type can hold; beyond it Spark raises, wraps or says NULL."""
    least, greatest = INTEGER_RANGES[kind]
    if not least <= value <= greatest:
        raise EvaluationFailed(f"{value} is out of the range of {kind.value}")
    return value


def as_int(value: Scalar) -> int:
    """An argument that Spark takes as an INT: a length, a position, a number of days. A greater one wraps or raises there."""
    if not isinstance(value, int):
        raise EvaluationFailed(f"{value!r} is not a whole number")
    return in_range(value, Kind.INT)


def in_decimal(value: Fraction, type_: DataType) -> Decimal:
    """The value in a decimal type; beyond its precision Spark raises or says NULL, depending on the mode."""
    found = scaled(value, type_.scale)
    if abs(Fraction(found)) * 10**type_.scale >= 10**type_.precision:
        raise EvaluationFailed(f"{found} does not fit {type_}")
    return found


def signed(value: Fraction, type_: DataType) -> Fraction:
    """What `abs` and `-` make of a number; of a decimal with more than 34 digits Spark rounds it (MathContext.DECIMAL128)."""
    if type_.kind is Kind.DECIMAL and abs(value) * 10**type_.scale >= 10**_SIGN_DIGITS:
        raise EvaluationFailed(f"the sign of {value} is not changed exactly")
    return value


def signed_exactly(type_: DataType) -> IntervalSet:
    """The values of a type whose sign Spark changes exactly; of others it makes a neighbour."""
    if type_.kind is not Kind.DECIMAL or type_.precision <= _SIGN_DIGITS:
        return everything(type_)
    limit = Fraction(10**_SIGN_DIGITS, 10**type_.scale)
    return from_intervals([Interval(-limit, limit, lo_open=True, hi_open=True)], type_)


def within_bounds(argument: Expr, bounds: Bounds) -> Expr:
    """The argument lies in a set that is known exactly or only from both sides."""
    if bounds.is_exact():
        return Within(argument, bounds.outer)
    return Either(Within(argument, bounds.outer), Within(argument, bounds.inner))


def around(found: IntervalSet, *, fits: IntervalSet) -> Bounds:
    """The arguments found, when only those that fit have a result for sure; the others may match.

    An argument whose result does not fit wraps, raises or is computed in a wider type, depending on mode and engine.
    """
    inner = found.intersect(fits)
    return Bounds(inner.union(fits.complement()), inner)


def moved(interval: Interval, lo: Callable[[Any], Any], hi: Callable[[Any], Any] | None = None) -> Interval:
    """The interval with both ends changed; a side without bound stays without one."""
    low = None if interval.lo is None else lo(interval.lo)
    high = None if interval.hi is None else (hi or lo)(interval.hi)
    return Interval(low, high, interval.lo_open, interval.hi_open)


def widened(interval: Interval, unit: int) -> Interval:
    """The moments whose unit, rounded down, lies in an interval of such units.

    >>> widened(Interval(1, None), 60)
    Interval(lo=60, hi=None, lo_open=False, hi_open=False)
    """
    return moved(interval, lambda lo: lo * unit, lambda hi: (hi + 1) * unit - 1)


def predicate_in(predicate: Expr, values: IntervalSet) -> Expr:
    """A predicate that lies in a set of booleans; NULL stays NULL in all four cases."""
    match values.contains(True), values.contains(False):
        case True, False:
            return predicate
        case False, True:
            return Not(predicate)
        case True, True:
            return Or((predicate, Not(predicate)))
        case _:
            return And((predicate, Not(predicate)))


def as_date(moment: Expr) -> Expr | None:
    """The moment as a date expression; None when it is text or something else that only a cast could read."""
    type_ = type_of(moment)
    if type_ is None or type_.kind not in TIME_KINDS:
        return None
    return moment if type_.kind is Kind.DATE else Call("cast", (moment,), DATE)
