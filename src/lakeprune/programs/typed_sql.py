"""Canonical values as values of their own types, in SQL.

In: SQL of a bound or a partition value, as relations carry them. Out: SQL of the same value as whoever reads rows knows it: a
date, a point in time, a decimal of the column's own precision. A value that its type cannot hold is NULL.
"""

from __future__ import annotations

from lakeprune.engines.dialect import Dialect
from lakeprune.values.types import DataType, Kind

_NAMES = {Kind.BYTE: "TINYINT", Kind.SHORT: "SMALLINT", Kind.INT: "INTEGER", Kind.LONG: "BIGINT", Kind.FLOAT: "FLOAT"}


def typed(dialect: Dialect, value: str, data_type: DataType) -> str:
    """SQL of the value in its own type."""
    match data_type.kind:
        case Kind.BYTE | Kind.SHORT | Kind.INT | Kind.LONG | Kind.FLOAT:
            return dialect.try_cast(value, _NAMES[data_type.kind])
        case Kind.DECIMAL:
            return dialect.try_cast(value, f"DECIMAL({data_type.precision},{data_type.scale})")
        case Kind.DATE:
            return dialect.date_of_days(value)
        case Kind.TIMESTAMP:
            return dialect.instant_of_micros(value)
        case Kind.TIMESTAMP_NTZ:
            return dialect.clock_of_micros(value)
        case _:
            return value


def type_name(data_type: DataType) -> str:
    """What engines call the type of that value."""
    match data_type.kind:
        case Kind.DECIMAL:
            return f"DECIMAL({data_type.precision},{data_type.scale})"
        case Kind.BOOLEAN | Kind.DOUBLE | Kind.DATE | Kind.BINARY:
            return data_type.kind.name
        case Kind.TIMESTAMP:
            return "TIMESTAMP WITH TIME ZONE"
        case Kind.TIMESTAMP_NTZ:
            return "TIMESTAMP"
        case kind:
            return _NAMES.get(kind, "STRING")


def as_text(dialect: Dialect, value: str, data_type: DataType) -> str:
    """SQL of a typed value as the text that `from_text` reads; bytes by their hexadecimal digits."""
    return dialect.hex_of(value) if data_type.kind is Kind.BINARY else f"CAST({value} AS STRING)"


def from_text(dialect: Dialect, text: str, data_type: DataType) -> str:
    """SQL of the typed value that `as_text` wrote."""
    return dialect.bytes_of_hex(text) if data_type.kind is Kind.BINARY else f"CAST({text} AS {type_name(data_type)})"
