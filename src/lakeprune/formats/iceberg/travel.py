"""Which snapshot of a table is meant, and which of its schemas names the columns.

In: the metadata; a snapshot id, a branch or tag, a time, or nothing. Out: the snapshot, None where there is none, and a schema.
A branch moves on, and is read with the table's current schema; a tag, an id and a time are history, and have the snapshot's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeprune.errors import TableError
from lakeprune.formats.format import At
from lakeprune.formats.iceberg.metadata import SnapshotEntry, TableMetadata
from lakeprune.values.literals import format_value
from lakeprune.values.types import TIMESTAMP

MAIN, _TAG = "main", "tag"
_SHOWN = 10


def snapshot_at(metadata: TableMetadata, asked: At, table: str) -> SnapshotEntry | None:
    """The snapshot; `table` is what the table is called in messages."""
    if asked.version is not None:
        return _listed(metadata, asked.version, table, "it never existed, or has expired")
    if asked.ref is not None:
        return _of_reference(metadata, asked.ref, table)
    if asked.timestamp is not None:
        return _of_time(metadata, asked.timestamp, table)
    number = metadata.current_snapshot_id
    if number is None or number == -1:
        main = metadata.refs.get(MAIN)
        if main is None:
            return None
        number = main.snapshot_id
    return _listed(metadata, number, table, "the metadata names it as the current one, and does not list it")


def schema_at(metadata: TableMetadata, asked: At, snapshot: SnapshotEntry | None) -> dict[str, Any]:
    reference = None if asked.ref is None else metadata.refs.get(asked.ref)
    is_history = asked.ref is None if reference is None else reference.type == _TAG
    if asked.is_latest() or snapshot is None or not is_history:
        return metadata.schema(None)
    return metadata.schema(snapshot.schema_id)


def _of_reference(metadata: TableMetadata, name: str, table: str) -> SnapshotEntry | None:
    found = metadata.refs.get(name)
    if found is not None:
        return _listed(
            metadata, found.snapshot_id, table, f"the {found.type} {name} leads to it, and the metadata does not list it"
        )
    if name == MAIN:  # old metadata has no references: the current snapshot is the one of main
        return snapshot_at(metadata, At(), table)
    known = ", ".join(f"{name} ({each.type})" for name, each in sorted(metadata.refs.items())[:_SHOWN])
    fix = (
        f"the table has {known}{' and more' if len(metadata.refs) > _SHOWN else ''}"
        if known
        else "the table has none: leave it out"
    )
    raise TableError("LP312", f"there is no branch or tag `{name}`", where=table, fix=fix)


def _of_time(metadata: TableMetadata, moment: int, table: str) -> SnapshotEntry:
    log = sorted(metadata.snapshot_log, key=lambda entry: entry.timestamp_ms)
    earlier = [entry for entry in log if entry.timestamp_ms * 1000 <= moment]
    if not earlier:
        first = f"the earliest snapshot is of {_shown(log[0].timestamp_ms)}" if log else "the table's snapshot log is empty"
        fix = (
            "give a later time, or the id of a snapshot with --at-version"
            if log
            else "give the id of a snapshot with --at-version"
        )
        raise TableError("LP313", "the table has no snapshot that old", where=table, why=first, fix=fix)
    return _listed(metadata, earlier[-1].snapshot_id, table, "it was the current one at that time, and has expired")


def _listed(metadata: TableMetadata, number: int, table: str, why: str) -> SnapshotEntry:
    found = metadata.snapshot(number)
    if found is None:
        fix = f"available snapshots: {_numbers(metadata.snapshots)}"
        raise TableError("LP312", f"snapshot {number} does not exist", where=table, why=why, fix=fix)
    return found


def _numbers(snapshots: Sequence[SnapshotEntry]) -> str:
    newest = sorted(snapshots, key=lambda each: each.timestamp_ms, reverse=True)
    shown = ", ".join(str(each.snapshot_id) for each in newest[:_SHOWN])
    return f"{shown} and {len(newest) - _SHOWN} older ones" if len(newest) > _SHOWN else shown or "none"


def _shown(milliseconds: int) -> str:
    return format_value(milliseconds * 1000, TIMESTAMP, "UTC").strip("'")
