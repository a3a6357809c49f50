"""Delta tables for tests: real ones through the official writer, and hand-made logs for what no writer produces.

`users` and `users_flat` are the demo's. `write_table` commits one file per list of rows; statistics are the writer's own.
`write_log` and `Log` write actions one by one (demo/delta_log.py) and no data at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from demo.delta_log import (
    Action,
    add,
    deletion_vector,
    featured,
    field,
    mapping,
    metadata,
    protocol,
    remove,
    statistics,
    write_commit,
    write_lines,
    write_log,
)
from demo.tables import users, users_flat
from tests.builders.checkpoint import write_checkpoint

__all__ = [
    "PROTOCOL",
    "Action",
    "Log",
    "add",
    "adds",
    "bounds",
    "deletion_vector",
    "featured",
    "field",
    "mapping",
    "metadata",
    "protocol",
    "remove",
    "statistics",
    "users",
    "users_flat",
    "write_log",
    "write_table",
]

PROTOCOL = protocol()


class Log:
    """A table made of nothing but its log, written action by action: commits, compactions, checkpoints, hints."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log = path / "_delta_log"
        self.log.mkdir(parents=True)

    def commit(self, version: int, *actions: Action) -> Log:
        write_commit(self.log, version, actions)
        return self

    def compaction(self, first: int, last: int, *actions: Action) -> Log:
        write_lines(self.log / f"{first:020}.{last:020}.compacted.json", actions)
        return self

    def checkpoint(self, version: int, *actions: Action, name: str = "", parsed: pa.DataType | None = None) -> Log:
        """A Parquet checkpoint with these actions; `parsed` is the type of stats_parsed."""
        write_checkpoint(self.log / (name or f"{version:020}.checkpoint.parquet"), actions, parsed=parsed)
        return self

    def sidecar(self, name: str, *actions: Action) -> Log:
        write_checkpoint(self.log / "_sidecars" / name, actions)
        return self

    def hint(self, text: str) -> Log:
        (self.log / "_last_checkpoint").write_text(text)
        return self


def write_table(path: Path, tables: Iterable[pa.Table], *, partition_by: list[str] | None = None) -> Path:
    """One commit per table, in order: versions 0, 1, 2, ..."""
    for table in tables:
        write_deltalake(path, table, mode="append", partition_by=partition_by)
    return path


def bounds(low: Any, high: Any, nulls: Any = 0, rows: Any = 10, column: str = "x") -> dict[str, Any]:
    """The statistics of one column, with null where one is None."""
    return {"numRecords": rows, "minValues": {column: low}, "maxValues": {column: high}, "nullCount": {column: nulls}}


def adds(path: Path, version: int) -> list[dict[str, Any]]:
    """The files that one commit adds."""
    lines = (path / "_delta_log" / f"{version:020d}.json").read_text(encoding="utf-8").splitlines()
    return [action["add"] for action in map(json.loads, lines) if "add" in action]
