"""Types and literals of Catalyst's JSON, as canonical values.

In: what `toJSON` says of a type or a Literal, printed while the session's zone is UTC. Out: `DataType` and `Literal`, exactly;
Unsupported for whatever has no scalar value here. Binary values come as hexadecimal digits, which `toJSON` itself does not give.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from lakeprune.predicate.read.sql.functions import Unsupported
from lakeprune.predicate.tree import Literal
from lakeprune.values.floats import to_float32
from lakeprune.values.literals import parse_as
from lakeprune.values.types import INTEGRAL_KINDS, TIME_KINDS, DataType, Kind, Scalar

PRINTING_ZONE = "UTC"  # timestamps are printed in the zone of the session that prints: in this one no hour comes twice
_PLAIN = {
    kind.value: DataType(kind)
    for kind in Kind
    if kind not in (Kind.DECIMAL, Kind.STRUCT, Kind.ARRAY, Kind.MAP, Kind.VARIANT, Kind.OTHER)
}
_DECIMAL = r"decimal\((\d+),(-?\d+)\)"
DAY_TIME = r"interval (?:day|hour|minute|second)(?: to (?:hour|minute|second))?"
YEAR_MONTH = r"interval (?:year|month)(?: to month)?"


def data_type(written: object) -> DataType | None:
    """The type; None for nested types and all that has no values here.

    >>> print(data_type("decimal(10,2)"))
    decimal(10,2)
    """
    if not isinstance(written, str):
        return None
    if match := re.fullmatch(_DECIMAL, written):
        return DataType(Kind.DECIMAL, int(match[1]), int(match[2]))
    return _PLAIN.get(written)


def literal(node: Mapping[str, Any]) -> Literal:
    """The constant of a Literal node.

    >>> literal({"value": "2024-03-31 02:30:00", "dataType": "timestamp"}).value
    1711852200000000
    """
    type_, value = data_type(node.get("dataType")), node.get("value")
    if value is None:
        return Literal(None)
    if type_ is None or not isinstance(value, str):
        raise Unsupported(f"a constant of type {_type_text(node.get('dataType'))}")
    try:
        return Literal(_value(value, type_), type_)
    except ValueError as error:
        raise Unsupported(f"a constant that is not read as a {type_}") from error


def fields_of_struct(node: Mapping[str, Any]) -> tuple[Literal, ...] | None:
    """The constants in a Literal node of a struct of whole numbers; None where it is not one.

    >>> struct = {"type": "struct", "fields": [{"name": "a", "type": "long"}, {"name": "b", "type": "integer"}]}
    >>> [one.value for one in fields_of_struct({"value": "[505,null]", "dataType": struct})]
    [505, None]
    """
    written, value = node.get("dataType"), node.get("value")
    if not isinstance(written, Mapping) or written.get("type") != "struct" or not isinstance(value, str):
        return None
    types = [data_type(field["type"]) for field in written["fields"]]
    texts = value.removeprefix("[").removesuffix("]").split(",")
    if len(texts) != len(types):  # a row as it lies in memory, with a word of bits before its values
        return None
    found = []
    for type_, text in zip(types, texts, strict=True):
        if type_ is None or type_.kind not in INTEGRAL_KINDS or (text != "null" and not re.fullmatch(r"-?\d+", text)):
            return None
        found.append(Literal(None if text == "null" else int(text), type_))
    return tuple(found)


def _value(text: str, type_: DataType) -> Scalar:
    match type_.kind:
        case Kind.BOOLEAN:
            return {"true": True, "false": False}[text]
        case Kind.BYTE | Kind.SHORT | Kind.INT | Kind.LONG | Kind.TIMESTAMP_NTZ:
            return int(text)
        case Kind.FLOAT:
            return to_float32(float(text))
        case Kind.DOUBLE:
            return float(text)
        case Kind.DECIMAL:
            return Decimal(text)
        case Kind.BINARY:
            return bytes.fromhex(text)
        case _:
            return parse_as(text, type_, PRINTING_ZONE)


def literals(node: Mapping[str, Any]) -> tuple[Literal, ...]:
    """The constants of an InSet node, whose values are as Catalyst keeps them: days, microseconds.

    >>> [one.value for one in literals({"hset": ["19727", None], "dataType": "date"})]
    [19727, None]
    """
    type_, texts = data_type(node.get("dataType")), node.get("hset")
    if type_ is None or type_.kind is Kind.BINARY or not isinstance(texts, list):
        raise Unsupported("a set of constants whose values are not known")
    read = int if type_.kind in TIME_KINDS else lambda text: _value(text, type_)
    try:
        values = sorted((read(text) for text in texts if text is not None), key=_order)
        nulls = [Literal(None) for text in texts if text is None]
        return (*[Literal(value, type_) for value in values], *nulls)
    except ValueError as error:
        raise Unsupported(f"constants that are not read as {type_}") from error


def _order(value: Any) -> tuple[bool, Any]:
    """NaN comes last: it has no order of its own."""
    return (True, 0) if value != value else (False, value)


def span(node: Mapping[str, Any], form: str) -> int:
    """The microseconds or months of a constant interval of that form."""
    if not re.fullmatch(form, str(node.get("dataType"))) or not isinstance(node.get("value"), str):
        raise Unsupported("an interval that is not a constant of days or months")
    return int(node["value"])


def _type_text(written: object) -> str:
    return written if isinstance(written, str) else str(written.get("type")) if isinstance(written, Mapping) else "unknown"
