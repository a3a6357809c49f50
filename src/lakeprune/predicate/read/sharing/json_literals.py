"""The value types of JSON hints, and their literals, read strictly.

In: a declared type and a value. Out: a typed literal. Nothing is coerced: a value that is not plainly of its type is not
understood, because two clients would read it in two ways.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from lakeprune.predicate.read.sharing.columns import NotUnderstood, brief, is_whole_text
from lakeprune.predicate.tree import Literal
from lakeprune.values.floats import to_float32
from lakeprune.values.literals import parse_as
from lakeprune.values.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTEGER_RANGES,
    LONG,
    STRING,
    TIMESTAMP,
    DataType,
    Kind,
    Scalar,
)

FLOAT = DataType(Kind.FLOAT)
_TYPES = {
    **dict.fromkeys(("bool", "boolean"), BOOLEAN),
    **dict.fromkeys(("int", "integer"), INT),
    **dict.fromkeys(("long", "bigint"), LONG),
    **dict.fromkeys(("string", "varchar", "text"), STRING),
    "date": DATE,
    **dict.fromkeys(("float", "real"), FLOAT),
    "double": DOUBLE,
    "timestamp": TIMESTAMP,
}
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
_REAL = re.compile(r"[+-]?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?")
_WORDS = {"nan": math.nan, "infinity": math.inf, "+infinity": math.inf, "-infinity": -math.inf}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:[zZ]|[+-][0-9]{2}:?[0-9]{2})"
)


class Number(str):
    """A JSON number as it was written, so that no digit is lost."""

    __slots__ = ()


def type_named(name: object) -> DataType:
    """The type that a `valueType` names, in any case; common other names are taken, too."""
    found = _TYPES.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        raise NotUnderstood(f"{brief(str(name))} is not a valueType")
    return found


def literal(value: object, type_: DataType) -> Literal:
    """The literal of a `value`; None and, except for text, "null" are NULL."""
    if value is None:
        return Literal(None, None)
    if isinstance(value, bool):
        if type_ != BOOLEAN:
            raise NotUnderstood(f"{str(value).lower()} is not a value of type {type_}")
        return Literal(value, BOOLEAN)
    if not isinstance(value, str):
        raise NotUnderstood("a literal's value is a string")
    if value.lower() == "null":
        if type_ == STRING:
            raise NotUnderstood("'null' can be NULL or a text")
        return Literal(None, None)
    if isinstance(value, Number) and type_.kind not in (Kind.INT, Kind.LONG, Kind.FLOAT, Kind.DOUBLE):
        raise NotUnderstood(f"the number {brief(value)} is not a value of type {type_}")
    try:
        return Literal(_parsed(value, type_), type_)
    except ValueError as error:
        raise NotUnderstood(f"{brief(value)} is not a value of type {type_}") from error


def _parsed(text: str, type_: DataType) -> Scalar:
    """The value; ValueError when the text is not plainly of the type."""
    match type_.kind:
        case Kind.STRING:
            if not is_whole_text(text):
                raise ValueError("half a surrogate pair")
            return text
        case Kind.BOOLEAN if text.lower() in ("true", "false"):
            return text.lower() == "true"
        case Kind.INT | Kind.LONG if _INTEGER.fullmatch(text):
            low, high = INTEGER_RANGES[type_.kind]
            value = int(text)
            if low <= value <= high:
                return value
        case Kind.FLOAT | Kind.DOUBLE:
            return _real(text, type_)
        case Kind.DATE if _DATE.fullmatch(text):
            return parse_as(text, DATE, "UTC")
        case Kind.TIMESTAMP if _TIMESTAMP.fullmatch(text):
            moment = parse_as(text.upper().replace(" ", "T"), TIMESTAMP, "UTC")
            assert isinstance(moment, int | Decimal), "a timestamp is a number"
            return int(moment // 1)  # what is below a microsecond is far below the margin of a moment
    raise ValueError("not of the type")


def _real(text: str, type_: DataType) -> float:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if not _REAL.fullmatch(text):
        raise ValueError("not a number")
    value = to_float32(float(text)) if type_.kind is Kind.FLOAT else float(text)
    if not math.isfinite(value):
        raise ValueError("beyond the type")
    return value
