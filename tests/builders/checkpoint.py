"""Parquet checkpoints of a Delta log, written from the same action dictionaries as commits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_TEXT, _TEXTS = pa.string(), pa.map_(pa.string(), pa.string())
_VECTOR = {
    "storageType": _TEXT,
    "pathOrInlineDv": _TEXT,
    "offset": pa.int32(),
    "sizeInBytes": pa.int32(),
    "cardinality": pa.int64(),
}
_ADD = {
    "path": _TEXT,
    "partitionValues": _TEXTS,
    "size": pa.int64(),
    "modificationTime": pa.int64(),
    "dataChange": pa.bool_(),
    "tags": _TEXTS,
    "stats": _TEXT,
    "deletionVector": pa.struct(_VECTOR.items()),
}
_METADATA = {
    "id": _TEXT,
    "format": pa.struct([("provider", _TEXT), ("options", _TEXTS)]),
    "schemaString": _TEXT,
    "partitionColumns": pa.list_(_TEXT),
    "configuration": _TEXTS,
    "createdTime": pa.int64(),
}
_PROTOCOL = {
    "minReaderVersion": pa.int32(),
    "minWriterVersion": pa.int32(),
    "readerFeatures": pa.list_(_TEXT),
    "writerFeatures": pa.list_(_TEXT),
}


def write_checkpoint(
    path: Path, actions: Iterable[Mapping[str, Any]], *, parsed: pa.DataType | None = None, json_stats: bool = True
) -> None:
    """These actions and no other columns; `parsed` is the type of stats_parsed, `json_stats=False` leaves `stats` out."""
    add = {name: kind for name, kind in _ADD.items() if json_stats or name != "stats"}
    if parsed is not None:
        add["stats_parsed"] = parsed
    kinds = {"protocol": _PROTOCOL, "metaData": _METADATA, "add": add, "sidecar": {"path": _TEXT}}
    rows = list(actions)
    used = {kind: fields for kind, fields in kinds.items() if kind == "add" or any(kind in row for row in rows)}
    schema = pa.schema([(kind, pa.struct(fields.items())) for kind, fields in used.items()])
    shaped = [{kind: _shaped(row[kind]) for kind in used if kind in row} for row in rows]
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(shaped, schema=schema), path)


def _shaped(value: Any) -> Any:
    """Maps as pyarrow takes them, at any depth."""
    if not isinstance(value, dict):
        return value
    maps = ("partitionValues", "configuration", "options", "tags")
    return {key: list(one.items()) if key in maps and isinstance(one, dict) else _shaped(one) for key, one in value.items()}
