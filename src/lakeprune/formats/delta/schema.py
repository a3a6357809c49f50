"""A Delta schema as the columns predicates may name.

In: the schema JSON and the table's configuration. Out: `DeltaSchema`. Physical names are taken at every level (trap T52); types
that have no usable order keep their column, since NULL tests still work on it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct

from lakeprune.errors import TableError
from lakeprune.formats.snapshot import Declared
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.values.types import DataType, Kind

_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(-?\d+)\s*\)")
_COLLATED = re.compile(r"string collate (\S+)", re.IGNORECASE)
_CHAR = re.compile(r"\bchar\(", re.IGNORECASE)
_PLAIN = {
    kind.value: DataType(kind) for kind in Kind if kind not in (Kind.DECIMAL, Kind.STRUCT, Kind.ARRAY, Kind.MAP, Kind.OTHER)
}
_BINARY_COLLATIONS = frozenset({"UTF8_BINARY", "spark.UTF8_BINARY"})
_INTEGERS = ("byte", "short", "integer", "long")


class DeltaSchema(Struct, frozen=True):
    schema: Schema
    once_float: frozenset[tuple[str, ...]]  # physical paths of double columns whose older files hold floats
    computed: dict[str, str]  # columns whose values the table makes itself: name -> how
    generated: dict[str, str]  # those that are generated: name -> expression
    field_ids: dict[tuple[str, ...], int]  # by physical path, where column mapping gives them
    declared: dict[str, Declared] = {}  # top-level columns, as they are written


def delta_schema(text: str | None, partition_columns: tuple[str, ...], *, mapped: bool) -> DeltaSchema:
    """The schema of one version. A table that records none has no columns, as Spark sees it."""
    try:
        root = json.loads(text) if text is not None else {"type": "struct", "fields": []}
        reader = _SchemaReader(partition_columns, mapped=mapped)
        fields = tuple(reader.field(item, (), None) for item in _items(root))
        declared = {item["name"]: _declared(item, field, reader) for item, field in zip(_items(root), fields, strict=True)}
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise TableError("LP309", "the table's schema is not readable", why=f"{type(error).__name__}: {error}") from error
    known = {field.name for field in fields}
    if unknown := [name for name in partition_columns if name not in known]:
        raise TableError("LP309", f"the table is partitioned by `{unknown[0]}`, which its schema does not have")
    once_float = frozenset(reader.once_float)
    return DeltaSchema(Schema(fields), once_float, reader.computed, reader.generated, reader.field_ids, declared)


class _SchemaReader:
    def __init__(self, partition_columns: tuple[str, ...], *, mapped: bool) -> None:
        self.partition_columns = frozenset(partition_columns)
        self.mapped = mapped
        self.once_float: set[tuple[str, ...]] = set()
        self.computed: dict[str, str] = {}
        self.generated: dict[str, str] = {}
        self.field_ids: dict[tuple[str, ...], int] = {}

    def field(self, item: dict[str, Any], above: tuple[str, ...], padded: str | None) -> Field:
        name = item["name"]
        metadata = item.get("metadata") or {}
        physical = metadata.get("delta.columnMapping.physicalName", name) if self.mapped else name
        if not isinstance(name, str) or not isinstance(physical, str):
            raise TypeError(f"a column's name is not text: {name!r}")
        path = (*above, physical)
        if self.mapped and isinstance(number := metadata.get("delta.columnMapping.id"), int):
            self.field_ids[path] = number
        if not above and (how := _computed(metadata)) is not None:
            self.computed[name] = how
        if not above and isinstance(expression := metadata.get("delta.generationExpression"), str):
            self.generated[name] = expression
        declared = metadata.get("__CHAR_VARCHAR_TYPE_STRING") or ""
        padded = padded or ("CHAR" if _CHAR.search(str(declared)) else None)
        kind = data_type(item["type"], collation=_collation(metadata, name) or padded)
        children: tuple[Field, ...] = ()
        if kind.kind is Kind.STRUCT:
            children = tuple(self.field(child, path, padded) for child in _items(item["type"]))
        role = Role.PARTITION if not above and name in self.partition_columns else Role.DATA
        return Field(name, physical, kind, role, children, self._distrust(metadata, path))

    def _distrust(self, metadata: dict[str, Any], path: tuple[str, ...]) -> str | None:
        """Why bounds of this column must not be used, given how its type changed over time."""
        for change in metadata.get("delta.typeChanges") or ():
            if change.get("fieldPath"):
                continue  # inside an array or map, which has no bounds
            before, after = change.get("fromType"), change.get("toType")
            if (before, after) == ("float", "double"):
                self.once_float.add(path)
            elif not is_known_widening(before, after):
                return f"its type changed from {before} to {after}"
        return None


def _declared(item: dict[str, Any], field: Field, reader: _SchemaReader) -> Declared:
    written = item["type"]
    kind = written if isinstance(written, str) else json.dumps(written, separators=(",", ":"))
    return Declared(kind, item.get("nullable") is not False, reader.field_ids.get((field.physical,)))


def data_type(declared: Any, *, collation: str | None = None) -> DataType:
    """The type a schema names.

    >>> str(data_type("decimal(10,2)")), str(data_type("string", collation="CHAR"))
    ('decimal(10,2)', 'string collate CHAR')
    """
    if isinstance(declared, dict):
        nested = {"struct": Kind.STRUCT, "array": Kind.ARRAY, "map": Kind.MAP}
        return DataType(nested.get(declared.get("type", ""), Kind.OTHER))
    if not isinstance(declared, str):
        raise TypeError(f"not a type: {declared!r}")
    if declared == "string" or declared.startswith("varchar("):
        return DataType(Kind.STRING, collation=collation)
    if declared.startswith("char("):
        return DataType(Kind.STRING, collation="CHAR")
    if match := _COLLATED.fullmatch(declared):
        return DataType(Kind.STRING, collation=None if match[1] in _BINARY_COLLATIONS else match[1])
    if declared == "decimal":
        return DataType(Kind.DECIMAL, 10, 0)
    if match := _DECIMAL.fullmatch(declared):
        precision, scale = int(match[1]), int(match[2])
        return DataType(Kind.DECIMAL, precision, scale) if 0 <= scale <= precision <= 38 else DataType(Kind.OTHER)
    return _PLAIN.get(declared, DataType(Kind.OTHER))


def is_known_widening(before: Any, after: Any) -> bool:
    """Whether bounds stored for the narrower type still hold, as they are written, for the wider one."""
    if not isinstance(before, str) or not isinstance(after, str):
        return False
    if before in _INTEGERS and after in _INTEGERS:
        return _INTEGERS.index(before) <= _INTEGERS.index(after)
    if before in _INTEGERS:
        return after.startswith("decimal") or (after == "double" and before != "long")
    if before.startswith("decimal") and after.startswith("decimal"):
        narrow, wide = data_type(before), data_type(after)
        return wide.scale >= narrow.scale and wide.precision - wide.scale >= narrow.precision - narrow.scale
    return (before, after) == ("date", "timestamp_ntz")


def _computed(metadata: dict[str, Any]) -> str | None:
    """How the table makes the values of a column, None when writers do."""
    expression = metadata.get("delta.generationExpression")
    if expression is not None:
        return f"generated as {expression}"
    return "an identity column" if any(key.startswith("delta.identity.") for key in metadata) else None


def _items(struct: Any) -> list[dict[str, Any]]:
    if not isinstance(struct, dict) or struct.get("type") != "struct" or not isinstance(struct.get("fields"), list):
        raise ValueError("not a struct")
    fields: list[dict[str, Any]] = struct["fields"]
    return fields


def _collation(metadata: dict[str, Any], name: str) -> str | None:
    collations = metadata.get("__COLLATIONS")
    found = collations.get(name) if isinstance(collations, dict) else None
    return None if found is None or found in _BINARY_COLLATIONS else str(found)
