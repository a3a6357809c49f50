"""The columns of an Iceberg schema, by their field ids.

In: the JSON of a schema. Out: `Schema` whose physical names are field ids, so that renamed and dropped columns keep their own
metrics. Types whose values are not understood here keep their place, without evidence and with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lakeprune.formats.iceberg.metadata import not_understood
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.values.types import DataType, Kind

_PLAIN = {
    "boolean": Kind.BOOLEAN,
    "int": Kind.INT,
    "long": Kind.LONG,
    "float": Kind.FLOAT,
    "double": Kind.DOUBLE,
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP_NTZ,
    "timestamptz": Kind.TIMESTAMP,
    "timestamp_ns": Kind.TIMESTAMP_NTZ,
    "timestamptz_ns": Kind.TIMESTAMP,
    "string": Kind.STRING,
    "uuid": Kind.STRING,
    "binary": Kind.BINARY,
    "variant": Kind.VARIANT,
}
_NANOSECONDS = ("timestamp_ns", "timestamptz_ns")
# Comparisons with these columns are opaque; NULL tests are not.
_UNUSABLE = {
    "timestamp_ns": "it has nanoseconds, of which only comparisons with a literal are used",
    "timestamptz_ns": "it has nanoseconds, and literals have microseconds",
    "uuid": "writers order UUIDs in two ways",
}
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)", re.ASCII)
_FIXED = re.compile(r"fixed\[\s*\d+\s*\]", re.ASCII)
_NESTED = {"struct": Kind.STRUCT, "list": Kind.ARRAY, "map": Kind.MAP}
_LINEAGE = "values of row lineage are not all recorded: writers inherit them"
_LINEAGE_COLUMNS = (("_row_id", "2147483540"), ("_last_updated_sequence_number", "2147483539"))
_DEEPEST = 100


def iceberg_schema(declared: Mapping[str, Any], identity: frozenset[int], place: str, *, has_lineage: bool) -> Schema:
    """The columns; those in `identity` are known by their partition values in every file. `place` is the metadata file's."""
    try:
        fields = _fields(declared, identity, 0)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise not_understood(place, "the table's schema cannot be understood", repr(error)) from error
    if has_lineage:
        long, taken = DataType(Kind.LONG), {field.name for field in fields}
        lineage = (Field(name, number, long, statistics_unusable=_LINEAGE) for name, number in _LINEAGE_COLUMNS)
        fields += tuple(field for field in lineage if field.name not in taken)
    return Schema(fields)


def data_type(declared: Any) -> DataType:
    """The type that a schema declares.

    >>> str(data_type("decimal(9, 2)")), str(data_type("timestamptz")), str(data_type("geometry(srid:1)"))
    ('decimal(9,2)', 'timestamp', 'other')
    """
    if isinstance(declared, Mapping):
        return DataType(_NESTED.get(declared["type"], Kind.OTHER))
    if match := _DECIMAL.fullmatch(declared):
        precision, scale = int(match[1]), int(match[2])
        return DataType(Kind.DECIMAL, precision, scale) if scale <= precision <= 38 else DataType(Kind.OTHER)
    return DataType(Kind.BINARY if _FIXED.fullmatch(declared) else _PLAIN.get(declared, Kind.OTHER))


def _fields(struct: Mapping[str, Any], identity: frozenset[int], depth: int) -> tuple[Field, ...]:
    if depth > _DEEPEST:
        raise ValueError(f"structs nested deeper than {_DEEPEST}")
    return tuple(_field(field, identity, depth) for field in struct["fields"])


def _field(declared: Mapping[str, Any], identity: frozenset[int], depth: int) -> Field:
    number, type_ = int(declared["id"]), declared["type"]
    found = data_type(type_)
    children = _fields(type_, frozenset(), depth + 1) if found.kind is Kind.STRUCT else ()
    unusable = None if isinstance(type_, Mapping) else _UNUSABLE.get(type_)
    # Values of nanoseconds are not values of our timestamps, not even in a partition: year(ts) would be computed of another time.
    is_known = depth == 0 and number in identity and type_ not in _NANOSECONDS
    role = Role.PARTITION if is_known else Role.DATA
    is_fine = not isinstance(type_, Mapping) and type_ in _NANOSECONDS
    return Field(str(declared["name"]), str(number), found, role, children, unusable, has_nanoseconds=is_fine)
