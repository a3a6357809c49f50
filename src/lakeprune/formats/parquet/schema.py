"""The schemas of Parquet files as the columns predicates may name.

In: the distinct schemas of the footers, as lists of elements. Out: the fields of all of them by name. A column whose type differs
between files, or whose path names two leaves, keeps its place but has no evidence; so has every type whose statistics an engine
does not print exactly.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from lakeprune.engines.engine import Element
from lakeprune.predicate.schema import Field
from lakeprune.values.types import DataType, Kind

_BYTES = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
# SQL type name -> the type, and the physical types for which the text of a bound is exact.
_PLAIN = {
    "BOOLEAN": (DataType(Kind.BOOLEAN), ("BOOLEAN",)),
    "TINYINT": (DataType(Kind.BYTE), ("INT32",)),
    "SMALLINT": (DataType(Kind.SHORT), ("INT32",)),
    "INTEGER": (DataType(Kind.INT), ("INT32",)),
    "BIGINT": (DataType(Kind.LONG), ("INT64",)),
    # Unsigned integers as Spark reads them: the next wider type.
    "UTINYINT": (DataType(Kind.SHORT), ("INT32",)),
    "USMALLINT": (DataType(Kind.INT), ("INT32",)),
    "UINTEGER": (DataType(Kind.LONG), ("INT32",)),
    "UBIGINT": (DataType(Kind.DECIMAL, 20, 0), ("INT64",)),
    "FLOAT": (DataType(Kind.FLOAT), ("FLOAT",)),
    "DOUBLE": (DataType(Kind.DOUBLE), ("DOUBLE",)),
    "DATE": (DataType(Kind.DATE), ("INT32",)),
    "TIMESTAMP": (DataType(Kind.TIMESTAMP_NTZ), ("INT64",)),
    "TIMESTAMP WITH TIME ZONE": (DataType(Kind.TIMESTAMP), ("INT64",)),
    "STRING": (DataType(Kind.STRING), ("BYTE_ARRAY",)),
    "BINARY": (DataType(Kind.BINARY), _BYTES),
}
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_DIFFERS = "its type differs between the files"
_AMBIGUOUS = "its path names two columns of a footer"
_CASE = "the case of its name differs between the files"


def fields_of(schemas: Sequence[Sequence[Element]]) -> tuple[Field, ...]:
    """The columns of all files, in the order of the first schema that has them."""
    return _merged([_fields_of(schema) for schema in schemas])


def _fields_of(elements: Sequence[Element]) -> tuple[Field, ...]:
    """The columns of one schema; its first element is the root."""
    walk = iter(elements)
    root = next(walk)
    leaves: Counter[str] = Counter()
    fields = tuple(_field(next(walk), walk, (), leaves) for _ in range(root.children or 0))
    repeated = {path for path, count in leaves.items() if count > 1}
    return tuple(_distrusting(field, (), repeated) for field in fields) if repeated else fields


def _field(element: Element, walk: Iterator[Element], above: tuple[str, ...], leaves: Counter[str]) -> Field:
    path = (*above, element.name)
    children = tuple(_field(next(walk), walk, path, leaves) for _ in range(element.children or 0))
    if not children:
        leaves[", ".join(path)] += 1
    data_type = type_of(element)
    return Field(element.name, element.name, data_type, children=children if data_type.kind is Kind.STRUCT else ())


def type_of(element: Element) -> DataType:
    """The type that a node of a footer stands for, OTHER where the text of its bounds is not exact."""
    name = element.type_name or ""
    if element.repetition == "REPEATED" or name.endswith("]"):
        return DataType(Kind.ARRAY)
    if element.children:
        return DataType(Kind.STRUCT if name.startswith("STRUCT(") else Kind.MAP if name.startswith("MAP(") else Kind.OTHER)
    if match := _DECIMAL.fullmatch(name):
        return DataType(Kind.DECIMAL, int(match[1]), int(match[2]))
    known, physical = _PLAIN.get(name, (DataType(Kind.OTHER), ()))
    return known if element.physical_type in physical else DataType(Kind.OTHER)


def _distrusting(field: Field, above: tuple[str, ...], repeated: set[str]) -> Field:
    path = (*above, field.name)
    children = tuple(_distrusting(child, path, repeated) for child in field.children)
    unusable = _AMBIGUOUS if ", ".join(path) in repeated else None
    return replace(field, children=children, statistics_unusable=unusable)


def _merged(several: Sequence[tuple[Field, ...]]) -> tuple[Field, ...]:
    """The fields of several structs by name."""
    found: dict[str, Field] = {}
    for fields in several:
        for field in fields:
            found[field.name] = _agreed(found[field.name], field) if field.name in found else field
    by_lower: dict[str, Field] = {}
    for field in found.values():
        first = by_lower.get(field.name.lower())
        by_lower[field.name.lower()] = field if first is None else replace(first, statistics_unusable=_CASE)
    return tuple(by_lower.values())


def _agreed(one: Field, other: Field) -> Field:
    if one == other:
        return one
    if one.type != other.type:
        return replace(one, statistics_unusable=_DIFFERS)
    children = _merged([one.children, other.children])
    return replace(one, children=children, statistics_unusable=one.statistics_unusable or other.statistics_unusable)
