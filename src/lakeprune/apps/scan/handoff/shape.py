"""The shape of a column: how its table declares it, all the way down.

In: Spark's text of a type; of nested ones JSON, as Delta's schema has it. Out: a `Shape`, by which the values of a data file are
found (names in files, ids), and the Arrow type of its rows.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct

from lakeprune.apps.scan.filters.arrow_types import arrow_type
from lakeprune.apps.scan.filters.exactness import NotExact
from lakeprune.errors import UsageError
from lakeprune.formats.delta.schema import data_type
from lakeprune.values.types import DataType, Kind


class Leaf(Struct, frozen=True):
    type: DataType


class Nothing(Struct, frozen=True):
    """A column of Spark's type void: it is NULL in every row."""


class Member(Struct, frozen=True):
    """A field of a struct, or a column of a table."""

    name: str
    physical: str
    field_id: int | None
    shape: Shape


class StructOf(Struct, frozen=True):
    members: tuple[Member, ...]


class ListOf(Struct, frozen=True):
    element: Shape


class MapOf(Struct, frozen=True):
    key: Shape
    value: Shape


Shape = Leaf | Nothing | StructOf | ListOf | MapOf


def shape_of(text: str, column: str) -> Shape:
    """The shape of a declared type. Refuses types whose values have no Arrow form that every reader understands."""
    try:
        return _shape(json.loads(text) if text.startswith("{") else text)
    except (NotExact, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            "LP281",
            f"column `{column}` cannot be handed over",
            why=f"its type is {text}",
            fix="leave it out of `columns` and of the predicate, or use plan.to_spark(spark)",
        ) from error


def _shape(declared: Any) -> Shape:
    if not isinstance(declared, dict):
        if declared in ("void", "null"):
            return Nothing()
        leaf = data_type(declared)
        arrow_type(leaf)  # refuses what has none
        return Leaf(leaf)
    match declared["type"]:
        case "struct":
            return StructOf(tuple(_member(field) for field in declared["fields"]))
        case "array":
            return ListOf(_shape(declared["elementType"]))
        case "map":
            return MapOf(_shape(declared["keyType"]), _shape(declared["valueType"]))
        case other:
            raise NotExact(f"a type {other}")


def _member(field: dict[str, Any]) -> Member:
    metadata = field.get("metadata") or {}
    physical = metadata.get("delta.columnMapping.physicalName", field["name"])
    number = metadata.get("delta.columnMapping.id", metadata.get("id"))  # the second is how Iceberg's are declared here
    return Member(field["name"], physical, number, _shape(field["type"]))


def arrow_of(shape: Shape) -> Any:
    """The Arrow type of the rows.

    >>> str(arrow_of(shape_of("decimal(10,2)", "x")))
    'decimal128(10, 2)'
    """
    import pyarrow as pa

    match shape:
        case Leaf(DataType(kind=Kind.STRING)):
            return pa.string()
        case Leaf(type_):
            return arrow_type(type_)
        case Nothing():
            return pa.null()
        case StructOf(members):
            return pa.struct([pa.field(member.name, arrow_of(member.shape)) for member in members])
        case ListOf(element):
            return pa.list_(pa.field("element", arrow_of(element)))
        case MapOf(key, value):
            return pa.map_(arrow_of(key), arrow_of(value))
