"""Hand-made Delta logs, and the files relation of a table as plain dictionaries.

`Log` writes commits, checkpoints and checksums action by action, so that a test shows exactly what the log says. `files` opens a
table and gives one dictionary per live file, with the domain of every asked column.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakeprune.engines.engine import Needs
from lakeprune.formats.registry import open_table
from lakeprune.formats.snapshot import Snapshot
from lakeprune.predicate.schema import Field, Role
from lakeprune.predicate.tree import Column, Profile
from tests.builders.engine import ENGINE

Action = dict[str, Any]
PROFILE = Profile(now=0)
PROTOCOL: Action = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
VECTORS: Action = {
    "protocol": {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["deletionVectors"],
        "writerFeatures": ["deletionVectors"],
    }
}

_VECTOR = pa.struct(
    [("storageType", pa.string()), ("pathOrInlineDv", pa.string()), ("offset", pa.int32()), ("cardinality", pa.int64())]
)
_ADD = [
    ("path", pa.string()),
    ("partitionValues", pa.map_(pa.string(), pa.string())),
    ("size", pa.int64()),
    ("stats", pa.string()),
    ("deletionVector", _VECTOR),
]
_METADATA = pa.struct(
    [
        ("id", pa.string()),
        ("schemaString", pa.string()),
        ("partitionColumns", pa.list_(pa.string())),
        ("configuration", pa.map_(pa.string(), pa.string())),
    ]
)
_PROTOCOL = pa.struct(
    [
        ("minReaderVersion", pa.int32()),
        ("minWriterVersion", pa.int32()),
        ("readerFeatures", pa.list_(pa.string())),
        ("writerFeatures", pa.list_(pa.string())),
    ]
)


class Log:
    """A table made of nothing but its log."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log = path / "_delta_log"
        self.log.mkdir(parents=True)

    def commit(self, version: int, *actions: Action) -> Log:
        text = "".join(json.dumps(action) + "\n" for action in actions)
        (self.log / f"{version:020}.json").write_text(text)
        return self

    def compaction(self, first: int, last: int, *actions: Action) -> Log:
        text = "".join(json.dumps(action) + "\n" for action in actions)
        (self.log / f"{first:020}.{last:020}.compacted.json").write_text(text)
        return self

    def checkpoint(self, version: int, *actions: Action, name: str = "", parsed: pa.DataType | None = None) -> Log:
        """A Parquet checkpoint with these actions; `parsed` is the type of stats_parsed."""
        name = name or f"{version:020}.checkpoint.parquet"
        self.parquet(name, actions, parsed)
        return self

    def parquet(self, name: str, actions: Sequence[Action], parsed: pa.DataType | None = None) -> None:
        add = pa.struct([*_ADD, *([("stats_parsed", parsed)] if parsed is not None else [])])
        kinds = {"protocol": _PROTOCOL, "metaData": _METADATA, "add": add, "sidecar": pa.struct([("path", pa.string())])}
        used = {kind: kinds[kind] for kind in kinds if any(kind in action for action in actions) or kind == "add"}
        rows = [{kind: _shaped(action.get(kind)) for kind in used} for action in actions]
        (self.log / name).parent.mkdir(exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(list(used.items()))), self.log / name)

    def hint(self, text: str) -> Log:
        (self.log / "_last_checkpoint").write_text(text)
        return self


def _shaped(action: Any) -> Any:
    """Maps as pyarrow takes them."""
    if isinstance(action, dict):
        return {
            key: list(value.items()) if key in ("partitionValues", "configuration") and isinstance(value, dict) else value
            for key, value in action.items()
        }
    return action


def metadata(fields: Mapping[str, Any], partitions: Sequence[str] = (), configuration: Mapping[str, str] | None = None) -> Action:
    """The metaData action of a table with these columns: a type, or a whole field as a dictionary."""
    items = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}} if "name" not in kind else kind
        for name, kind in fields.items()
    ]
    schema = json.dumps({"type": "struct", "fields": items})
    return {
        "metaData": {
            "id": "a",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": schema,
            "partitionColumns": list(partitions),
            "configuration": dict(configuration or {}),
        }
    }


def add(
    path: str, stats: Any = None, *, dv: Action | None = None, partition: Mapping[str, str | None] | None = None, size: Any = 1
) -> Action:
    text = stats if stats is None or isinstance(stats, str) else json.dumps(stats)
    action = {
        "path": path,
        "partitionValues": dict(partition or {}),
        "size": size,
        "modificationTime": 1,
        "dataChange": True,
        "stats": text,
    }
    return {"add": {**action, **({"deletionVector": dv} if dv else {})}}


def remove(path: str, *, dv: Action | None = None) -> Action:
    return {"remove": {"path": path, "deletionTimestamp": 1, "dataChange": True, **({"deletionVector": dv} if dv else {})}}


def vector(name: str, cardinality: int, offset: int | None = 1) -> Action:
    found = {"storageType": "u", "pathOrInlineDv": name, "sizeInBytes": 34, "cardinality": cardinality}
    return {**found, **({"offset": offset} if offset is not None else {})}


def bounds(low: Any, high: Any, nulls: Any = 0, rows: Any = 10, column: str = "x") -> dict[str, Any]:
    return {"numRecords": rows, "minValues": {column: low}, "maxValues": {column: high}, "nullCount": {column: nulls}}


def opened(path: Path | str, *, version: int | None = None, timestamp: int | None = None) -> Snapshot:
    return open_table(str(path), ENGINE, version=version, timestamp=timestamp)


def columns(snapshot: Snapshot) -> tuple[Column, ...]:
    """Every leaf column of a snapshot."""
    found: list[Column] = []

    def walk(fields: Sequence[Field], path: tuple[str, ...], physical: tuple[str, ...], role: Role | None) -> None:
        for field in fields:
            here, there = (*path, field.name), (*physical, field.physical)
            if field.children:
                walk(field.children, here, there, field.role)
            else:
                found.append(Column(here, there, field.type, role or field.role, field.statistics_unusable))

    walk(snapshot.facts.schema.fields, (), (), None)
    return tuple(found)


def files(snapshot: Snapshot, profile: Profile = PROFILE) -> list[dict[str, Any]]:
    """The files relation, ordered by path; per column path joined by dots its domain as a dictionary."""
    asked = columns(snapshot)
    texts = tuple(column for column in asked if column.role is Role.PARTITION)
    sql = snapshot.files_sql(ENGINE, Needs(asked, texts, paths=True), profile)
    names = [row[0] for row in ENGINE.query(f"DESCRIBE {sql}")]
    rows = [dict(zip(names, row, strict=True)) for row in ENGINE.query(f"SELECT * FROM ({sql}) ORDER BY path")]
    for row in rows:
        for k, column in enumerate(asked):
            prefix = f"c{k}_"
            row[".".join(column.path)] = {name.removeprefix(prefix): row.pop(name) for name in names if name.startswith(prefix)}
    return rows


def paths(snapshot: Snapshot) -> list[str]:
    return [row["path"] for row in files(snapshot)]
