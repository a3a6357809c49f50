"""Casts from and to text, for the forms that every mode and engine reads and writes alike; the rest has no answer."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from lakeprune.predicate.functions.function import EvaluationFailed, SparkFails
from lakeprune.predicate.functions.pieces import in_decimal, scaled
from lakeprune.predicate.tree import Profile
from lakeprune.values.floats import to_float32
from lakeprune.values.time.calendar import DAY, HOUR, MINUTE, SECOND, civil_of
from lakeprune.values.time.zones import local_of
from lakeprune.values.types import FLOATING_KINDS, INTEGER_RANGES, INTEGRAL_KINDS, TIME_KINDS, DataType, Kind, Scalar

_NUMBERS_AND_TIMES = INTEGRAL_KINDS | FLOATING_KINDS | TIME_KINDS | {Kind.DECIMAL}


def to_text(value: Any, source: DataType, profile: Profile) -> str:
    """The value as Spark prints its type, whatever text it was read from."""
    match source.kind:
        case Kind.BOOLEAN:
            return "true" if value else "false"
        case Kind.BYTE | Kind.SHORT | Kind.INT | Kind.LONG:
            return str(value)
        case Kind.FLOAT | Kind.DOUBLE:
            return float_text(value, source.kind)
        case Kind.DECIMAL:
            return decimal_text(value, source.scale)
        case Kind.DATE:
            return date_text(value)
        case Kind.TIMESTAMP:
            return timestamp_text(local_of(value, profile.zone))
        case Kind.TIMESTAMP_NTZ:
            return timestamp_text(value)
        case Kind.STRING:
            return str(value)
        case _:
            raise EvaluationFailed(f"the text of a {source}")


def from_text(text: str, target: DataType, profile: Profile) -> Scalar:
    """Text as a value, by the strict reader; what only some readers accept has no answer."""
    from lakeprune.values.literals import parse_as

    if target.kind is Kind.BINARY:
        return text.encode()
    try:
        value = parse_as(text, target, profile.zone)
    except ValueError as problem:
        raise (SparkFails if is_never_read(text, target) else EvaluationFailed)(f"{text!r} is not of type {target}") from problem
    if target.kind is Kind.DECIMAL and isinstance(value, Decimal | int):
        return in_decimal(Fraction(value), target)
    if target.kind in INTEGER_RANGES:
        least, greatest = INTEGER_RANGES[target.kind]
        if not isinstance(value, int) or not least <= value <= greatest:
            raise EvaluationFailed(f"{text!r} is out of the range of {target}")
    if target.kind is Kind.FLOAT:
        raise EvaluationFailed("text as a 32-bit float is rounded once or twice, depending on the engine")
    return value


def is_never_read(text: str, target: DataType) -> bool:
    """Whether no reader takes text that the strict one refuses for a number or a time: there is no digit in it.

    >>> [is_never_read(text, DataType(Kind.DATE)) for text in ("EU", "today", "2024-13-01")]
    [True, False, False]
    """
    from lakeprune.values.literals import depends_on_clock

    is_known = target.kind in _NUMBERS_AND_TIMES and not depends_on_clock(text, target)
    return is_known and not any(letter.isdigit() for letter in text)


def decimal_text(value: Decimal, scale: int) -> str:
    """All digits of the scale: no zero has a sign, and what is below 0.000001 is printed by mode, with an exponent or without.

    >>> decimal_text(Decimal("7.5"), 2)
    '7.50'
    """
    exact = Fraction(value)
    found = scaled(exact, scale)
    if found != exact or found.adjusted() < -6:
        raise EvaluationFailed(f"the text of the decimal {value}")
    return format(found, "f")


def float_text(value: float, kind: Kind) -> str:
    """As Java prints it, where every version prints the same: before 19 some numbers got more digits than they need.

    Every version generates the digits of the number until they tell it from its neighbours, and prints a whole number beyond the
    53 (24) bits of the type to its last digit. They agree on numbers whose shortest text is exact, and on those of at most 15
    (6) digits: no second text of that length stands for the same number. A power of two, whose neighbour below is nearer, may
    get more digits unless they are exact.

    >>> [float_text(x, Kind.DOUBLE) for x in (1e10, 0.1, -0.0, 100.0, float("-inf"))]
    ['1.0E10', '0.1', '-0.0', '100.0', '-Infinity']
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    text = repr(value) if kind is Kind.DOUBLE else _shortest_of_float(value)
    sign, digits, exponent = Decimal(text).normalize().as_tuple()
    most, bits = (15, 53) if kind is Kind.DOUBLE else (6, 24)
    is_short = len(digits) <= most and abs(value) < 2**bits and abs(math.frexp(value)[0]) != 0.5
    if Decimal(text) != Decimal(value) and not (is_short and abs(value) > 1e-30):
        raise EvaluationFailed(f"versions of Java print {value} differently")
    plain = "".join(map(str, digits))
    point = len(plain) + int(exponent)  # where it stands, counted from the first digit
    minus = "-" if sign else ""
    if value == 0 or -3 < point <= 7:
        plain = plain.rjust(1 - point + len(plain), "0").ljust(point, "0") if value else "0"
        point = max(point, 1) if value else 1
        return f"{minus}{plain[:point]}.{plain[point:] or '0'}"
    return f"{minus}{plain[0]}.{plain[1:] or '0'}E{point - 1}"


def _shortest_of_float(value: float) -> str:
    return next((text for digits in range(1, 10) if to_float32(float(text := f"{value:.{digits}g}")) == value), repr(value))


def date_text(days: int) -> str:
    """`yyyy-MM-dd`, for the years that have four digits.

    >>> date_text(0)
    '1970-01-01'
    """
    year, month, day = civil_of(days)
    if not 0 <= year <= 9999:
        raise EvaluationFailed("a year of more than four digits")
    return f"{year:04}-{month:02}-{day:02}"


def timestamp_text(local: int) -> str:
    """`yyyy-MM-dd HH:mm:ss`, with a fraction only when there is one.

    >>> timestamp_text(1_500_000)
    '1970-01-01 00:00:01.5'
    """
    days, rest = divmod(local, DAY)
    seconds, fraction = divmod(rest % MINUTE, SECOND)
    text = f"{date_text(days)} {rest // HOUR:02}:{rest % HOUR // MINUTE:02}:{seconds:02}"
    return f"{text}.{fraction:06}".rstrip("0") if fraction else text
