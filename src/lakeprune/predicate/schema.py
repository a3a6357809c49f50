"""The columns a predicate may name, as one tree: what binding needs to know of a table.

Built by tables/, read by predicate/. Names are logical; `physical` is the path under which the table's metadata keeps
statistics and partition values (they differ under column mapping).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from lakeprune.values.types import DataType, Kind


class Role(Enum):
    PARTITION = "partition"
    DATA = "data"


class Field(Struct, frozen=True, cache_hash=True):
    """One column or nested struct field; `children` only for structs."""

    name: str
    physical: str
    type: DataType
    role: Role = Role.DATA
    children: tuple[Field, ...] = ()
    statistics_unusable: str | None = None  # why stored bounds of this field must not be trusted, if so
    has_nanoseconds: bool = False  # its bounds are those of its microseconds, rounded down: of use to plain comparisons only


class Schema(Struct, frozen=True, cache_hash=True):
    fields: tuple[Field, ...]


def leaf_paths(fields: tuple[Field, ...], above: tuple[Field, ...] = ()) -> Iterator[tuple[Field, ...]]:
    """The fields that are not structs, in order, each with the structs it lies in."""
    for field in fields:
        if field.type.kind is Kind.STRUCT:
            yield from leaf_paths(field.children, (*above, field))
        else:
            yield (*above, field)
