"""Values of partition tuples: as canonical values, and as text that stands for one value each.

In: values as Avro has them. Out: canonical values by the column's type; None for NULL, UNREADABLE where it is not a value of
the type.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from lakeprune.formats.iceberg.bounds import decoded
from lakeprune.formats.iceberg.widened import Earlier
from lakeprune.values.time.calendar import civil_of
from lakeprune.values.types import DataType, Family, Kind, Scalar

UNREADABLE = object()


def canonical(value: Any, data_type: DataType) -> Any:
    """The value of a tuple, None for NULL."""
    if value is None:
        return None
    match data_type.family:
        case Family.INTEGER if type(value) is int:
            return value
        case Family.REAL if isinstance(value, float):
            return value
        case Family.BOOLEAN if isinstance(value, bool):
            return value
        case Family.TEXT if isinstance(value, str):
            return value
        case Family.TEXT if isinstance(value, bytes) and len(value) == 16:
            return _uuid(value)
        case Family.BYTES if isinstance(value, bytes):
            return value
        case Family.DECIMAL if isinstance(value, bytes):
            found = decoded([value], data_type)[0]
            return UNREADABLE if found is None else found
        case _:
            return UNREADABLE


def text_of(value: Scalar) -> str | None:
    """A canonical value as text, from which `value_of` makes it again."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case bytes():
            return value.hex()
        case Decimal():
            return f"{value:f}"
        case float():
            return repr(value)
        case _:
            return str(value)


def value_of(text: str | None, data_type: DataType) -> Scalar:
    """The value of a text.

    >>> value_of("-0.0", DataType(Kind.DOUBLE)), value_of("7.50", DataType(Kind.DECIMAL, 9, 2))
    (-0.0, Decimal('7.50'))
    """
    if text is None:
        return None
    match data_type.family:
        case Family.BOOLEAN:
            return text == "true"
        case Family.INTEGER:
            return int(text)
        case Family.REAL:
            return float(text)
        case Family.DECIMAL:
            return Decimal(text)
        case Family.BYTES:
            return bytes.fromhex(text)
        case _:
            return text


def shown(value: Any, transform: str, data_type: DataType | None) -> str | None:
    """The value as a report shows it: as Iceberg writes it into the names of folders."""
    if value is None or value is UNREADABLE:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        if transform == "day" or (transform == "identity" and data_type is not None and data_type.kind is Kind.DATE):
            return "{:04}-{:02}-{:02}".format(*civil_of(value))
        if transform == "month":
            return f"{1970 + value // 12:04}-{value % 12 + 1:02}"
        if transform == "year":
            return f"{1970 + value:04}"
        if transform == "hour":
            return "{:04}-{:02}-{:02}-{:02}".format(*civil_of(value // 24), value % 24)
    if isinstance(value, Earlier):
        return text_of(value.value)
    if isinstance(value, bytes) and data_type is not None and data_type.family is not Family.BYTES:
        found = canonical(value, data_type)
        return value.hex() if found is UNREADABLE else text_of(found)
    return text_of(value)


def _uuid(value: bytes) -> str:
    text = value.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
