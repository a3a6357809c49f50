"""The writer's schema of an Avro file as a tree of types, with the field ids that Iceberg adds.

In: the JSON text of a header. Out: an `AvroType`; a name stands for the type it was defined as, wherever that was (T78). Logical
types are left to whoever reads the values. A type that contains itself is refused: no manifest has one.
"""

from __future__ import annotations

from typing import Any

from msgspec import DecodeError, Struct
from msgspec.json import decode

PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
LARGEST_FIXED = 1 << 20
DEEPEST = 24  # types inside one another; an entry of a manifest has six


class AvroError(Exception):
    """The file is not Avro, is damaged, or is none that is read here; the words say which."""


class UnknownSchema(AvroError):
    """The schema is none that is read here; another reader may take it."""


class Primitive(Struct, frozen=True):
    name: str


class Fixed(Struct, frozen=True):
    size: int


class Enumeration(Struct, frozen=True):
    symbols: tuple[str, ...]


class Array(Struct, frozen=True):
    items: AvroType


class Map(Struct, frozen=True):
    values: AvroType


class Union(Struct, frozen=True):
    branches: tuple[AvroType, ...]


class AvroField(Struct, frozen=True):
    name: str
    id: int | None  # old writers leave it out
    type: AvroType


class Record(Struct, frozen=True):
    fields: tuple[AvroField, ...]


AvroType = Primitive | Fixed | Enumeration | Array | Map | Union | Record
NULL = Primitive("null")


def parse_schema(text: bytes) -> AvroType:
    """The type that a header declares.

    >>> parse_schema(b'{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int", "field-id": 7}]}')
    Record(fields=(AvroField(name='a', id=7, type=Primitive(name='int')),))
    """
    try:
        return _Parser().type_of(decode(text), "", 0)
    except (DecodeError, UnicodeDecodeError) as error:
        raise AvroError(f"its Avro schema cannot be understood: {error!r}") from error
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnknownSchema(f"its Avro schema cannot be understood: {error!r}") from error


def least_size(type_: AvroType) -> int:
    """The bytes that a value has at least: how many values can be in a block is limited by it."""
    match type_:
        case Primitive("null"):
            return 0
        case Primitive("float"):
            return 4
        case Primitive("double"):
            return 8
        case Fixed(size):
            return size
        case Record(fields):
            return sum(least_size(field.type) for field in fields)
        case Union(branches):
            return 1 + min(least_size(branch) for branch in branches)
        case _:
            return 1


class _Parser:
    def __init__(self) -> None:
        self._named: dict[str, AvroType | None] = {}  # None while it is being defined

    def type_of(self, declared: Any, space: str, depth: int) -> AvroType:
        if depth > DEEPEST:
            raise UnknownSchema(f"its Avro schema is nested deeper than {DEEPEST} types")
        if isinstance(declared, list):
            branches = tuple(self.type_of(branch, space, depth + 1) for branch in declared)
            if not branches:
                raise UnknownSchema("its Avro schema has a union of nothing")
            return Union(branches)
        if isinstance(declared, str):
            return self._by_name(declared, space)
        kind = declared["type"]
        if isinstance(kind, dict | list):
            return self.type_of(kind, space, depth + 1)
        if kind == "array":
            return Array(self.type_of(declared["items"], space, depth + 1))
        if kind == "map":
            return Map(self.type_of(declared["values"], space, depth + 1))
        if kind in ("record", "error", "enum", "fixed"):
            return self._defined(kind, declared, space, depth)
        return self._by_name(kind, space)

    def _by_name(self, name: str, space: str) -> AvroType:
        if name in PRIMITIVES:
            return Primitive(name)
        full = name if "." in name or not space else f"{space}.{name}"
        found = self._named.get(full, self._named.get(name))
        if found is None:
            what = "contains itself" if full in self._named else "is not defined"
            raise UnknownSchema(f"the type {name} of its Avro schema {what}")
        return found

    def _defined(self, kind: str, declared: dict[str, Any], space: str, depth: int) -> AvroType:
        space, _, name = (
            declared["name"].rpartition(".")
            if "." in declared["name"]
            else (declared.get("namespace") or space, "", declared["name"])
        )
        full = f"{space}.{name}" if space else name
        self._named[full] = None
        made: AvroType
        if kind == "fixed":
            if type(declared["size"]) is not int or not 0 <= declared["size"] <= LARGEST_FIXED:
                raise UnknownSchema(
                    f"the type {full} of its Avro schema has {declared['size']} bytes, {LARGEST_FIXED} are the limit"
                )
            made = Fixed(declared["size"])
        elif kind == "enum":
            made = Enumeration(tuple(map(str, declared["symbols"])))
        else:
            made = Record(tuple(self._field(field, space, depth) for field in declared["fields"]))
        self._named[full] = made
        return made

    def _field(self, declared: dict[str, Any], space: str, depth: int) -> AvroField:
        number = declared.get("field-id")
        return AvroField(
            declared["name"], number if type(number) is int else None, self.type_of(declared["type"], space, depth + 1)
        )
