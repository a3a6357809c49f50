"""Delta tables for tests: real ones through the official writer, and hand-made logs for what no writer produces.

`users` and `users_flat` are the demo's. `write_table` commits one file per list of rows; statistics are the writer's own.
`write_log` writes commit files from plain action dictionaries and no data at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from demo.tables import users, users_flat

__all__ = ["Action", "add", "adds", "metadata", "protocol", "statistics", "users", "users_flat", "write_log", "write_table"]

Action = Mapping[str, Any]


def write_table(path: Path, tables: Iterable[pa.Table], *, partition_by: list[str] | None = None) -> Path:
    """One commit per table, in order: versions 0, 1, 2, ..."""
    for table in tables:
        write_deltalake(path, table, mode="append", partition_by=partition_by)
    return path


def write_log(path: Path, commits: Sequence[Sequence[Action]]) -> Path:
    """A log of exactly these actions, one list per version; nothing is checked."""
    log = path / "_delta_log"
    log.mkdir(parents=True)
    for version, actions in enumerate(commits):
        lines = [json.dumps(action, separators=(",", ":")) + "\n" for action in actions]
        (log / f"{version:020d}.json").write_text("".join(lines), encoding="utf-8")
    return path


def protocol(reader: int = 1, writer: int = 2, **features: Sequence[str]) -> Action:
    """`protocol(3, 7, readerFeatures=[...], writerFeatures=[...])` for tables with features."""
    return {"protocol": {"minReaderVersion": reader, "minWriterVersion": writer, **features}}


def metadata(
    columns: Mapping[str, Any], partition_by: Sequence[str] = (), configuration: Mapping[str, str] | None = None
) -> Action:
    """`metadata({"age": "integer"})`: every column nullable, a type name or a nested type."""
    fields = [{"name": name, "type": type_, "nullable": True, "metadata": {}} for name, type_ in columns.items()]
    return {
        "metaData": {
            "id": "5fba94ed-9794-4965-ba6e-6ee3c0d22af9",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps({"type": "struct", "fields": fields}),
            "partitionColumns": list(partition_by),
            "configuration": dict(configuration or {}),
        }
    }


def add(path: str, *, size: int = 1000, partition: Mapping[str, str | None] | None = None, stats: Any = None) -> Action:
    """A live file; `stats` is the statistics object, a ready-made text, or None for a file without statistics."""
    action: dict[str, Any] = {
        "path": path,
        "partitionValues": dict(partition or {}),
        "size": size,
        "modificationTime": 0,
        "dataChange": True,
    }
    if stats is not None:
        action["stats"] = stats if isinstance(stats, str) else json.dumps(stats)
    return {"add": action}


def statistics(rows: int, **columns: tuple[Any, Any, int | None]) -> dict[str, Any]:
    """`statistics(10, age=(18, 65, 0))`: rows, and per column minimum, maximum, null count; None leaves one out."""
    return {
        "numRecords": rows,
        "minValues": {name: lo for name, (lo, _, _) in columns.items() if lo is not None},
        "maxValues": {name: hi for name, (_, hi, _) in columns.items() if hi is not None},
        "nullCount": {name: nulls for name, (_, _, nulls) in columns.items() if nulls is not None},
    }


def adds(path: Path, version: int) -> list[dict[str, Any]]:
    """The files that one commit adds."""
    lines = (path / "_delta_log" / f"{version:020d}.json").read_text(encoding="utf-8").splitlines()
    return [action["add"] for action in map(json.loads, lines) if "add" in action]
