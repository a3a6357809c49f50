"""The columns of a shared table: their Arrow types, and where a file keeps them.

In: the schema of the answer. Out: an Arrow schema and, per column, a plain dictionary for the reader of files. Types and features
that cannot be read rightly are refused (LP394), so that no row is ever wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from lakeprune.errors import TableError, UsageError
from lakeprune.storage.sharing.answer import Answer

READABLE = frozenset(
    {"deletionVectors", "columnMapping", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck", "appendOnly", "invariants"}
)
_NAME, _ID = "delta.columnMapping.physicalName", "delta.columnMapping.id"
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_SIMPLE = {
    "string": "string", "long": "int64", "integer": "int32", "short": "int16", "byte": "int8", "float": "float32",
    "double": "float64", "boolean": "bool_", "binary": "binary", "date": "date32",
}  # fmt: skip


def check_readable(answer: Answer) -> None:
    """LP394 for a table whose rows need a feature that is not read here."""
    reader = answer.protocol.get("minReaderVersion", 1)
    unknown = sorted(set(answer.protocol.get("readerFeatures") or ()) - READABLE)
    if unknown or reader > 3:
        what = f"the table needs {', '.join(unknown) or f'a reader of version {reader}'}, which is not read here"
        raise TableError("LP394", what, fix="read it with the connector of the provider")


def chosen_columns(
    answer: Answer, columns: Sequence[str] | None, needed: Sequence[str]
) -> tuple[Any, list[dict[str, Any]], list[str]]:
    """The Arrow schema of what is read, a dictionary per column, and the names that are returned."""
    import pyarrow as pa

    fields = json.loads(answer.metadata["schemaString"])["fields"]
    by_name = {field["name"].lower(): field for field in fields}
    missing = [name for name in columns or () if name.lower() not in by_name]
    if missing:
        there = ", ".join(field["name"] for field in fields[:10])
        raise UsageError("LP298", f"there is no column `{missing[0]}` to select", fix=f"there are: {there}")
    named = [field["name"] for field in fields] if columns is None else [by_name[name.lower()]["name"] for name in columns]
    read = list(dict.fromkeys([*named, *needed]))
    mode = (answer.metadata.get("configuration") or {}).get("delta.columnMapping.mode", "none")
    partitions = set(answer.metadata.get("partitionColumns") or ())
    described = [_described(by_name[name.lower()], partitions, mode) for name in read]
    schema = pa.schema([pa.field(name, arrow_type(by_name[name.lower()]["type"])) for name in read])
    return schema, described, named


def arrow_type(kind: Any) -> Any:
    """The Arrow type of a Delta type."""
    import pyarrow as pa

    if isinstance(kind, str):
        if kind in _SIMPLE:
            return getattr(pa, _SIMPLE[kind])()
        if kind.startswith("timestamp"):
            return pa.timestamp("us", "UTC" if kind == "timestamp" else None)
        if found := _DECIMAL.fullmatch(kind):
            return pa.decimal128(int(found[1]), int(found[2]))
    elif kind["type"] == "struct":
        return pa.struct([pa.field(field["name"], arrow_type(field["type"])) for field in kind["fields"]])
    elif kind["type"] == "array":
        return pa.list_(arrow_type(kind["elementType"]))
    elif kind["type"] == "map":
        return pa.map_(arrow_type(kind["keyType"]), arrow_type(kind["valueType"]))
    raise TableError("LP394", f"a column is of type {str(kind)[:60]}, which is not read here", fix="leave it out with columns=")


def _described(field: dict[str, Any], partitions: set[str], mode: str) -> dict[str, Any]:
    about = field.get("metadata") or {}
    if mode != "none" and not isinstance(field["type"], str):
        _check_nested(field["type"], mode)
    return {
        "physical": about.get(_NAME, field["name"]) if mode != "none" else field["name"],
        "field_id": about.get(_ID) if mode == "id" else None,
        "is_partition": field["name"] in partitions,
        "children": _children(field["type"], mode),
    }


def _children(kind: Any, mode: str) -> list[dict[str, Any]] | None:
    if mode == "none" or isinstance(kind, str) or kind["type"] != "struct":
        return None
    return [_described(child, set(), "name") for child in kind["fields"]]


def _check_nested(kind: Any, mode: str) -> None:
    """Structs are renamed by their fields; inside arrays and maps, and by ids alone, they are not."""
    inside = [kind.get("elementType"), kind.get("keyType"), kind.get("valueType")]
    if mode == "id" or any(isinstance(each, dict) for each in inside):
        what = "a nested column under column mapping is not read here"
        raise TableError("LP394", what, fix="leave it out with columns=")
