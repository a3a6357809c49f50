"""What is read of every record of an Avro file, found in the writer's schema by field id.

In: paths of field ids. Out: a tree beside the schema that says what is read, what is skipped. A path that the writer does not
have is not found, and its column is NULL: readers of Iceberg add fields that way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from lakeprune.formats.iceberg.avro.schema import (
    NULL,
    Array,
    AvroError,
    AvroField,
    AvroType,
    Primitive,
    Record,
    Union,
    UnknownSchema,
)


class Name(Struct, frozen=True):
    """A field by its id, and by its name where a writer left ids out."""

    id: int | None
    name: str


class Wanted(Struct, frozen=True):
    """One column to read: the fields that lead to it, and the key in a map of Iceberg (an array of keys and values)."""

    path: tuple[Name, ...]
    key: int | None = None


class Node(Struct, frozen=True):
    """What is wanted of one type: itself as columns, entries of it by key, or fields of it by place."""

    columns: tuple[int, ...] = ()
    keys: Mapping[int, int] = {}  # never changed
    fields: Mapping[int, Node] = {}


NOTHING = Node()


def find(schema: AvroType, wanted: Sequence[Wanted]) -> Node:
    """The tree of what these columns need; columns are numbered by their place."""
    return _node(schema, [(number, each.path, each.key) for number, each in enumerate(wanted)])


def is_there(schema: AvroType, path: Sequence[Name]) -> bool:
    """Whether the writer has this field."""
    return type_at(schema, path) is not None


def type_at(schema: AvroType, path: Sequence[Name]) -> AvroType | None:
    """The type that the writer declares for this field, None where it does not have it."""
    for name in path:
        record = optional(schema)
        place = _place(record, name)
        if place is None or not isinstance(record, Record):
            return None
        schema = record.fields[place].type
    return schema


def optional(type_: AvroType) -> AvroType:
    """The type of a value that may be NULL, or the type itself.

    >>> optional(Union((NULL, Primitive("int"))))
    Primitive(name='int')
    """
    if isinstance(type_, Union):
        others = [branch for branch in type_.branches if branch != NULL]
        if len(others) == 1:
            return others[0]
    return type_


def _node(type_: AvroType, wanted: Sequence[tuple[int, tuple[Name, ...], int | None]]) -> Node:
    inner = optional(type_)
    columns, keys, fields = [], {}, {}
    deeper: dict[int, list[tuple[int, tuple[Name, ...], int | None]]] = {}
    for number, path, key in wanted:
        if path:
            place = _place(inner, path[0])
            if place is not None:
                deeper.setdefault(place, []).append((number, path[1:], key))
        elif key is None:
            columns.append(number)
        else:
            check_entries(inner)
            keys[key] = number
    if (columns and (keys or deeper)) or len(columns) > 1:
        raise AvroError("a field is asked for twice")
    if isinstance(inner, Record):
        fields = {place: _node(inner.fields[place].type, below) for place, below in deeper.items()}
    return Node(tuple(columns), keys, fields)


def _place(type_: AvroType, name: Name) -> int | None:
    if not isinstance(type_, Record):
        raise UnknownSchema(f"the field {name.name} is expected in a record, and lies in another type")
    places = enumerate(type_.fields)
    if name.id is not None and any(field.id is not None for field in type_.fields):
        return next((place for place, field in places if field.id == name.id), None)
    return next((place for place, field in places if field.name == name.name), None)


def check_entries(type_: AvroType) -> tuple[AvroField, AvroField]:
    """Key and value of a map as Iceberg writes it: an array of records; some writers make the records optional (T80)."""
    item = optional(type_.items) if isinstance(type_, Array) else type_
    if isinstance(type_, Array) and isinstance(item, Record) and len(item.fields) == 2:
        key, value = item.fields
        if key.type in (Primitive("int"), Primitive("long")):
            return key, value
    raise UnknownSchema("a map is not the array of keys and values that Iceberg writes")
