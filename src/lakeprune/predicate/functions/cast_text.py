"""Casts from and to text, for the spellings that every mode and engine reads and writes alike; the rest has no answer."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.functions.numbers import in_decimal
from lakeprune.predicate.tree import Profile
from lakeprune.values.time.calendar import DAY, HOUR, MINUTE, SECOND, civil_of
from lakeprune.values.time.zones import local_of
from lakeprune.values.types import INTEGER_RANGES, DataType, Kind, Scalar


def to_text(value: Any, source: DataType, profile: Profile) -> str:
    match source.kind:
        case Kind.BOOLEAN:
            return "true" if value else "false"
        case Kind.BYTE | Kind.SHORT | Kind.INT | Kind.LONG:
            return str(value)
        case Kind.DECIMAL if value.adjusted() >= -6:
            return format(Decimal(value), "f")
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
    from fractions import Fraction

    from lakeprune.values.literals import parse_as

    if target.kind is Kind.BINARY:
        return text.encode()
    try:
        value = parse_as(text, target, profile.zone)
    except ValueError as problem:
        raise EvaluationFailed(f"{text!r} is not a {target}") from problem
    if target.kind is Kind.DECIMAL and isinstance(value, Decimal | int):
        return in_decimal(Fraction(value), target)
    if target.kind in INTEGER_RANGES:
        least, greatest = INTEGER_RANGES[target.kind]
        if not isinstance(value, int) or not least <= value <= greatest:
            raise EvaluationFailed(f"{text!r} is out of the range of {target}")
    if target.kind is Kind.FLOAT:
        raise EvaluationFailed("text as a 32-bit float is rounded once or twice, depending on the engine")
    return value


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
