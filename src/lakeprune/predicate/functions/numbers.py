"""Exact numbers in a type: decimals rounded half up as Spark rounds, anything refused that does not fit."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.values.types import INTEGER_RANGES, DataType, Kind

_WIDE = Context(prec=100)


def scaled(value: Fraction, scale: int) -> Decimal:
    """The value rounded half up (away from zero) to `scale` digits.

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


def in_decimal(value: Fraction, type_: DataType) -> Decimal:
    """The value in a decimal type; beyond its precision Spark raises or says NULL, depending on the mode."""
    found = scaled(value, type_.scale)
    if abs(Fraction(found)) * 10**type_.scale >= 10**type_.precision:
        raise EvaluationFailed(f"{found} does not fit {type_}")
    return found
