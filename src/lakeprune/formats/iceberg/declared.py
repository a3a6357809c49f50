"""The types of Iceberg columns as Spark writes them in a schema: names, and JSON for what is nested.

In: the JSON of an Iceberg schema. Out: a `Declared` per column. `physical` is the name that a column had first: where it differs
from its name, older data files have it under another one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from lakeprune.formats.iceberg.schema import data_type
from lakeprune.formats.snapshot import Declared


def declared_columns(schema: Mapping[str, Any], earlier: Iterable[Mapping[str, Any]]) -> dict[str, Declared]:
    """The columns of a schema; `earlier` are all schemas that the table ever had."""
    first: dict[int, str] = {}
    for each in sorted(earlier, key=lambda each: each.get("schema-id", 0)):
        for field in each.get("fields", ()):
            first.setdefault(int(field["id"]), str(field["name"]))
    found = {}
    for field in schema.get("fields", ()):
        kind = _type(field["type"])
        text = kind if isinstance(kind, str) else json.dumps(kind, separators=(",", ":"))
        number, name = int(field["id"]), str(field["name"])
        found[name] = Declared(text, not field.get("required", False), number, first.get(number, name))
    return found


def _type(declared: Any) -> Any:
    if not isinstance(declared, Mapping):
        return str(data_type(declared))
    match declared["type"]:
        case "list":
            is_nullable = not declared.get("element-required", False)
            return {"type": "array", "elementType": _type(declared["element"]), "containsNull": is_nullable}
        case "map":
            is_nullable = not declared.get("value-required", False)
            key, value = _type(declared["key"]), _type(declared["value"])
            return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": is_nullable}
        case _:
            return {"type": "struct", "fields": [_field(field) for field in declared["fields"]]}


def _field(field: Mapping[str, Any]) -> dict[str, Any]:
    nullable = not field.get("required", False)
    return {"name": field["name"], "type": _type(field["type"]), "nullable": nullable, "metadata": {"id": field["id"]}}
