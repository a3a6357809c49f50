"""The columns of Parquet files as Spark would declare them, nested ones all the way down.

In: the distinct schemas of the footers, and the fields that were made of them. Out: `Declared` per column. Nothing is guessed: of
a column with a part of a type that is not known, or with a list in one of the old layouts, only the kind is declared.

    an annotated group of one repeated group of one field       array
    an annotated group of one repeated group of key and value   map
    INT96                                                       timestamp: the moment that Spark reads from it
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from lakeprune.engines.engine import Element
from lakeprune.formats.parquet.schema import type_of
from lakeprune.formats.snapshot import Declared
from lakeprune.predicate.schema import Field
from lakeprune.values.types import Kind

_REPEATED = "REPEATED"


class _Node(Struct, frozen=True):
    element: Element
    children: tuple[_Node, ...]


def declared_columns(schemas: Sequence[Sequence[Element]], fields: Sequence[Field]) -> dict[str, Declared]:
    """What each of these columns is declared as."""
    found: dict[str, Any] = {}
    for elements in schemas:
        for node in _tree(iter(elements)).children:
            name, type_ = node.element.name, _type(node)
            found[name] = _merged(found[name], type_) if name in found else type_
    return {field.name: Declared(_text(found.get(field.name), field)) for field in fields}


def _text(type_: Any, field: Field) -> str:
    is_other = field.type.kind in (Kind.STRUCT, Kind.ARRAY, Kind.MAP, Kind.OTHER)
    if type_ is None or not is_other:
        return str(field.type)
    return type_ if isinstance(type_, str) else json.dumps(type_)


def _tree(walk: Iterator[Element]) -> _Node:
    element = next(walk)
    return _Node(element, tuple(_tree(walk) for _ in range(element.children or 0)))


def _type(node: _Node) -> Any:
    """The type as a schema of Spark writes it in JSON; None where it is not known."""
    element, name = node.element, node.element.type_name or ""
    if element.repetition == _REPEATED:
        return None
    if name.endswith("]"):
        (items,) = _entries(node, 1) or (None,)
        return None if items is None else {"type": "array", "elementType": items, "containsNull": True}
    if name.startswith("MAP("):
        key, value = _entries(node, 2) or (None, None)
        is_known = key is not None and value is not None
        return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True} if is_known else None
    if node.children:
        return _struct(node.children) if name.startswith("STRUCT(") else None
    if name == "INT96":
        return "timestamp"
    plain = type_of(element)
    return None if plain.kind is Kind.OTHER else str(plain)


def _struct(children: Sequence[_Node]) -> Any:
    types = [_type(child) for child in children]
    if any(type_ is None for type_ in types):
        return None
    names = [child.element.name for child in children]
    fields = [{"name": name, "type": type_, "nullable": True, "metadata": {}} for name, type_ in zip(names, types, strict=True)]
    return {"type": "struct", "fields": fields}


def _entries(node: _Node, count: int) -> list[Any] | None:
    """The types inside the repeated group of a list or a map; None in an old layout, where the group itself is the element."""
    if len(node.children) != 1:
        return None
    inside = node.children[0]
    is_old = inside.element.name in ("array", f"{node.element.name}_tuple")
    if inside.element.repetition != _REPEATED or len(inside.children) != count or (count == 1 and is_old):
        return None
    return [_type(child) for child in inside.children]


def _merged(one: Any, other: Any) -> Any:
    """The fields of both, where both are structs; else the first."""
    if not (_is_struct(one) and _is_struct(other)):
        return None if other is None else one
    fields = {field["name"]: field for field in one["fields"]}
    for field in other["fields"]:
        known = fields.get(field["name"])
        fields[field["name"]] = field if known is None else {**known, "type": _merged(known["type"], field["type"])}
    return None if any(field["type"] is None for field in fields.values()) else {**one, "fields": list(fields.values())}


def _is_struct(type_: Any) -> bool:
    return isinstance(type_, dict) and type_["type"] == "struct"
