"""Column types, and the plain Python values that stand for their values.

In: type names of a table format. Out: `DataType`. Values everywhere in lakeprune are canonical:

    boolean bool | byte short int long, date (days), timestamp and timestamp_ntz (microseconds) int
    float double float | decimal Decimal | string str | binary bytes | NULL None

Dates and timestamps are integers since 1970-01-01, so that no calendar limit or time zone can creep in.
"""

from __future__ import annotations

from decimal import Decimal
from enum import Enum

from msgspec import Struct

Scalar = bool | int | float | Decimal | str | bytes | None


class Kind(Enum):
    BOOLEAN = "boolean"
    BYTE = "byte"
    SHORT = "short"
    INT = "integer"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"
    DECIMAL = "decimal"
    STRING = "string"
    BINARY = "binary"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp_ntz"
    STRUCT = "struct"
    ARRAY = "array"
    MAP = "map"
    VARIANT = "variant"
    OTHER = "other"  # void, intervals, geometry: nothing can be said about their values


class Family(Enum):
    """Which values compare with which: the carrier a bound has inside an engine."""

    BOOLEAN = "boolean"
    INTEGER = "integer"  # every integral type, dates and timestamps
    REAL = "real"
    DECIMAL = "decimal"
    TEXT = "text"
    BYTES = "bytes"


class DataType(Struct, frozen=True, cache_hash=True):
    """A column's type. `collation` names a non-binary string order ("CHAR" for padded strings)."""

    kind: Kind
    precision: int = 0
    scale: int = 0
    collation: str | None = None

    def __str__(self) -> str:
        if self.kind is Kind.DECIMAL:
            return f"decimal({self.precision},{self.scale})"
        if self.collation:
            return f"string collate {self.collation}"
        return str(self.kind.value)

    @property
    def family(self) -> Family | None:
        """The carrier of its values, None when values of this type have no usable order."""
        return None if self.collation else _FAMILIES.get(self.kind)


INTEGER_RANGES: dict[Kind, tuple[int, int]] = {
    Kind.BYTE: (-(2**7), 2**7 - 1),
    Kind.SHORT: (-(2**15), 2**15 - 1),
    Kind.INT: (-(2**31), 2**31 - 1),
    Kind.LONG: (-(2**63), 2**63 - 1),
    Kind.DATE: (-(2**31), 2**31 - 1),
    Kind.TIMESTAMP: (-(2**63), 2**63 - 1),
    Kind.TIMESTAMP_NTZ: (-(2**63), 2**63 - 1),
}

INTEGRAL_KINDS = frozenset({Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG})
FLOATING_KINDS = frozenset({Kind.FLOAT, Kind.DOUBLE})
TIME_KINDS = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ})
NESTED_KINDS = frozenset({Kind.STRUCT, Kind.ARRAY, Kind.MAP, Kind.VARIANT})

_FAMILIES: dict[Kind, Family] = {
    Kind.BOOLEAN: Family.BOOLEAN,
    Kind.FLOAT: Family.REAL,
    Kind.DOUBLE: Family.REAL,
    Kind.DECIMAL: Family.DECIMAL,
    Kind.STRING: Family.TEXT,
    Kind.BINARY: Family.BYTES,
    **dict.fromkeys(INTEGER_RANGES, Family.INTEGER),
}

BOOLEAN = DataType(Kind.BOOLEAN)
INT = DataType(Kind.INT)
LONG = DataType(Kind.LONG)
DOUBLE = DataType(Kind.DOUBLE)
STRING = DataType(Kind.STRING)
DATE = DataType(Kind.DATE)
TIMESTAMP = DataType(Kind.TIMESTAMP)
TIMESTAMP_NTZ = DataType(Kind.TIMESTAMP_NTZ)
