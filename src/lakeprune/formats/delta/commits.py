"""Finding one commit of a Delta log by a mark in its user metadata, and reading what it did.

In: a storage, the first version to look at, the mark. Out: a `Commit`. Only the commit that has the mark is parsed; of the others
nothing but the bytes is looked at.
"""

from __future__ import annotations

import json
from typing import Any

from lakeprune.formats.commit import Commit, FileAction
from lakeprune.formats.delta.actions import parsed_line
from lakeprune.formats.delta.log_files import LOG
from lakeprune.storage.storage import Storage

STATEMENTS = frozenset({"UPDATE", "DELETE", "MERGE"})


def newest_version(storage: Storage, known: int) -> int | None:
    """The last version, from one that existed; None when that one is gone, as in a table that was made anew."""
    if storage.size(_path(known)) is None:
        return None
    version = known
    while storage.size(_path(version + 1)) is not None:
        version += 1
    return version


def commit_marked(storage: Storage, first: int, mark: str) -> Commit | None:
    """The statement's commit with this mark among the versions from `first` on.

    Whatever the table does on its own after a commit, like compacting, runs in the same session and carries the mark as well.
    """
    version = first
    while storage.size(path := _path(version)) is not None:
        text = storage.read(path)
        if mark.encode() in text:
            actions = [parsed_line(line, n, storage.place(path)) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
            if (found := _commit(version, actions, mark)) is not None:
                return found
        version += 1
    return None


def _path(version: int) -> str:
    return f"{LOG}/{version:020}.json"


def _commit(version: int, actions: list[dict[str, Any]], mark: str) -> Commit | None:
    infos: list[dict[str, Any]] = _of(actions, "commitInfo")
    info = infos[0] if infos else {}
    if mark not in str(info.get("userMetadata")) or info.get("operation") not in STATEMENTS:
        return None
    return Commit(
        version,
        info["operation"],
        info.get("readVersion"),
        {str(name): str(value) for name, value in (info.get("operationMetrics") or {}).items()},
        tuple(map(_file, _of(actions, "add"))),
        tuple(map(_file, _of(actions, "remove"))),
        len(_of(actions, "cdc")),
    )


def _of(actions: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [action[kind] for action in actions if isinstance(action.get(kind), dict)]


def _file(action: dict[str, Any]) -> FileAction:
    vector = action.get("deletionVector") or {}
    return FileAction(action["path"], action.get("size"), _rows(action.get("stats")), vector.get("cardinality", 0), bool(vector))


def _rows(stats: Any) -> int | None:
    try:
        recorded = json.loads(stats).get("numRecords") if isinstance(stats, str) else None
    except (ValueError, AttributeError):
        return None
    return recorded if type(recorded) is int else None
