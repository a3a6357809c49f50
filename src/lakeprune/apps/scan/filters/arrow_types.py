"""The Arrow type that holds the values of a column's type: what hand-offs give their readers, and what filters compare.

In: a `DataType`, or Spark's text of one. Out: an Arrow type, which holds every value of the type and no other.
"""

from __future__ import annotations

from typing import Any

from lakeprune.apps.scan.filters.exactness import NotExact
from lakeprune.values.types import DataType, Kind


def arrow_type(type_: DataType) -> Any:
    """The Arrow type of a scalar type; NotExact for one that has none."""
    import pyarrow as pa

    match type_.kind:
        case Kind.BOOLEAN:
            return pa.bool_()
        case Kind.BYTE:
            return pa.int8()
        case Kind.SHORT:
            return pa.int16()
        case Kind.INT:
            return pa.int32()
        case Kind.LONG:
            return pa.int64()
        case Kind.FLOAT:
            return pa.float32()
        case Kind.DOUBLE:
            return pa.float64()
        case Kind.DECIMAL:
            return pa.decimal128(type_.precision, type_.scale)
        case Kind.STRING:
            return pa.string()
        case Kind.BINARY:
            return pa.binary()
        case Kind.DATE:
            return pa.date32()
        case Kind.TIMESTAMP:
            return pa.timestamp("us", tz="UTC")
        case Kind.TIMESTAMP_NTZ:
            return pa.timestamp("us")
        case _:
            raise NotExact(f"values of type {type_} have no order")
