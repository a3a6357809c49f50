"""Protocol, metadata and domain metadata: the few actions that say what a table is.

In: commits, newest first, and what a checkpoint holds. Out: `TableState` at one version; the newest action of each kind wins.
Lines about files are never parsed here: a commit may hold a million of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from msgspec import Struct

from lakeprune.errors import TableError
from lakeprune.formats.delta.log_files import CommitFile
from lakeprune.storage.storage import Storage

_BLOCK = 1 << 22
_KEYS = (b'"protocol"', b'"metaData"', b'"domainMetadata"', b'"sidecar"')


class Protocol(Struct, frozen=True):
    reader_version: int
    writer_version: int
    reader_features: tuple[str, ...] = ()
    writer_features: tuple[str, ...] = ()


class Metadata(Struct, frozen=True):
    schema_text: str | None  # None when the table records no schema
    partition_columns: tuple[str, ...]
    configuration: dict[str, str]
    table_id: str | None = None
    name: str | None = None
    description: str | None = None
    created: int | None = None  # milliseconds since the epoch


class Declared(Struct, frozen=True):
    """What a version of a table says it is."""

    protocol: Protocol
    metadata: Metadata


class TableState(Struct, frozen=True):
    """What is known so far; None where no action was seen. `clustering` is "" when the domain was removed."""

    protocol: Protocol | None = None
    metadata: Metadata | None = None
    clustering: str | None = None

    def or_older(self, older: TableState) -> TableState:
        """This, completed by what an older part of the log says."""
        return TableState(
            self.protocol or older.protocol,
            self.metadata or older.metadata,
            older.clustering if self.clustering is None else self.clustering,
        )

    def is_complete(self) -> bool:
        if self.protocol is None or self.metadata is None:
            return False
        return self.clustering is not None or "clustering" not in self.protocol.writer_features


def state_of_commits(storage: Storage, commits: Iterable[CommitFile]) -> TableState:
    """What these commits (newest first) say; reading stops as soon as nothing older can matter."""
    state = TableState()
    for commit in commits:
        state = state.or_older(state_of_lines(action_lines(storage, commit.path), storage.place(commit.path)))
        if state.is_complete():
            break
    return state


def action_lines(storage: Storage, path: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a log file that can hold protocol, metadata, domain metadata or a sidecar, with their numbers."""
    with storage.open(path) as file:
        for number, block in _blocks(file):
            if any(key in block for key in _KEYS):
                for offset, line in enumerate(block.split(b"\n")):
                    if any(key in line for key in _KEYS):
                        yield number + offset, line


def state_of_lines(lines: Iterable[tuple[int, bytes]], place: str) -> TableState:
    """What the last action of each kind in one file says."""
    state = TableState()
    for number, line in lines:
        state = state_of_action(parsed_line(line, number, place), f"{place}, line {number}").or_older(state)
    return state


def parsed_line(line: bytes, number: int, place: str) -> dict[str, Any]:
    try:
        action = json.loads(line)
        if not isinstance(action, dict):
            raise TypeError("not a JSON object")
    except (ValueError, TypeError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise TableError("LP306", "a line of the log is not readable", where=f"{place}, line {number}", why=reason) from error
    return action


def _protocol_of(action: dict[str, Any], place: str) -> Protocol:
    reader, writer = action.get("minReaderVersion"), action.get("minWriterVersion")
    if type(reader) is not int:
        raise TableError("LP308", "the table's protocol names no reader version", where=place)
    return Protocol(
        reader,
        writer if type(writer) is int else 0,
        _strings(action.get("readerFeatures"), "readerFeatures", place),
        _strings(action.get("writerFeatures"), "writerFeatures", place),
    )


def _metadata_of(action: dict[str, Any], place: str) -> Metadata:
    schema = action.get("schemaString")
    if schema is not None and not isinstance(schema, str):
        raise TableError("LP308", "the table's schema is not text", where=place)
    configuration = action.get("configuration") or {}
    if not isinstance(configuration, dict):
        raise TableError("LP308", "the table's configuration is not a map", where=place)
    columns = _strings(action.get("partitionColumns"), "partitionColumns", place)
    settings = {str(key): str(value) for key, value in configuration.items() if value is not None}
    id_, name, description = (
        value if isinstance(value := action.get(key), str) else None for key in ("id", "name", "description")
    )
    created = action.get("createdTime")
    return Metadata(schema, columns, settings, id_, name, description, created if type(created) is int else None)


def _clustering_of(action: dict[str, Any]) -> str | None:
    """The clustering domain's configuration, "" when removed, None when the action is about another domain."""
    if action.get("domain") != "delta.clustering":
        return None
    return "" if action.get("removed") else str(action.get("configuration") or "")


def state_of_action(action: dict[str, Any], place: str) -> TableState:
    """What one action says, given as in a commit."""
    protocol, metadata, domain = (action.get(key) for key in ("protocol", "metaData", "domainMetadata"))
    return TableState(
        _protocol_of(protocol, place) if isinstance(protocol, dict) else None,
        _metadata_of(metadata, place) if isinstance(metadata, dict) else None,
        _clustering_of(domain) if isinstance(domain, dict) else None,
    )


def _strings(value: Any, name: str, place: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TableError("LP308", f"{name} is not a list of names", where=place)
    return tuple(value)


def _blocks(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The file in blocks of whole lines, each with the number of its first line."""
    number, rest = 1, b""
    while block := file.read(_BLOCK):
        whole, newline, tail = (rest + block).rpartition(b"\n")
        if newline:
            yield number, whole
            number += whole.count(b"\n") + 1
        rest = tail
    if rest:
        yield number, rest
