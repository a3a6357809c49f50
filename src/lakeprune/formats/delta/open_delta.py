"""Opening a Delta table: from a location to a `DeltaSnapshot`.

In: a storage, an engine, the version or time asked for. Out: a snapshot. Only `_delta_log` is listed; of its files only the
needed commits, the checkpoint's few small rows and the checksum are read here.
"""

from __future__ import annotations

import json

from lakeprune.engines.engine import Engine
from lakeprune.errors import TableError
from lakeprune.formats.delta.actions import Metadata, Protocol, TableState, state_of_commits
from lakeprune.formats.delta.checkpoint import Checkpoint, CheckpointUnusable, JsonPart, read_checkpoint
from lakeprune.formats.delta.checksum import expected_of
from lakeprune.formats.delta.features import check_reader, declared_features, feature_notes, mapping_mode
from lakeprune.formats.delta.ladder import EVIDENCE
from lakeprune.formats.delta.log_files import LOG, LogFiles
from lakeprune.formats.delta.log_segment import Segment, latest_version, list_log, missing_commits, readable_versions, segments
from lakeprune.formats.delta.replay import Replay
from lakeprune.formats.delta.schema import delta_schema
from lakeprune.formats.delta.snapshot import DeltaSnapshot
from lakeprune.formats.delta.time_travel import version_at
from lakeprune.formats.format import At
from lakeprune.formats.snapshot import Note, SnapshotFacts
from lakeprune.predicate.schema import Schema
from lakeprune.storage.storage import Storage

_BLANK = 64  # bytes: commits this small are looked at, for they may hold nothing but white space


def open_delta(storage: Storage, engine: Engine, asked: At) -> DeltaSnapshot:
    """The table at that version. Raises TableError when it cannot be read, TableRefused when it must not be."""
    segment, checkpoint, problems = _locate(storage, engine, asked)
    _check_not_empty(storage, segment)
    state = state_of_commits(storage, reversed(segment.commits))
    if checkpoint is not None:
        state = state.or_older(checkpoint.state)
    protocol, metadata = _complete(state, storage, segment.version)
    check_reader(protocol)
    mapped = mapping_mode(metadata) != "none"
    columns = delta_schema(metadata.schema_text, metadata.partition_columns, mapped=mapped)
    expected, doubts = expected_of(storage, segment.version)
    facts = SnapshotFacts(
        "delta",
        "Delta table",
        EVIDENCE,
        storage.location,
        segment.version,
        columns.schema,
        metadata.partition_columns,
        declared_features(protocol, metadata, _clustering(state.clustering, columns.schema)),
        metadata.configuration,
        expected,
        (*problems, *doubts, *feature_notes(protocol)),
        columns.computed,
    )
    commits = None
    if segment.commits:
        paths = storage.engine_paths([commit.path for commit in segment.commits])
        commits = JsonPart(paths, max(commit.entry.size for commit in segment.commits))
    replay = Replay(engine, storage.root, commits, checkpoint.parts if checkpoint else ())
    return DeltaSnapshot(facts, replay, storage, columns.once_float)


def _locate(storage: Storage, engine: Engine, asked: At) -> tuple[Segment, Checkpoint | None, list[Note]]:
    """The log files of the version asked for; the whole log is listed only when the hint does not lead there."""
    if asked.is_latest():
        files = list_log(storage, from_hint=True)
        version = latest_version(files)
        if version is not None:
            found = _first_readable(storage, engine, files, version)
            if not isinstance(found, str):
                return found
    files = list_log(storage, from_hint=False)
    newest = latest_version(files)
    if newest is None:
        raise TableError("LP305", f"{storage.location} is not a Delta table: its log is empty")
    version = newest
    if asked.version is not None:
        version = asked.version
        if not 0 <= version <= newest:
            raise _no_such_version(storage, files, version)
    elif asked.timestamp is not None:
        version = version_at(storage, files, asked.timestamp)
    found = _first_readable(storage, engine, files, version)
    if isinstance(found, str):
        if found or version == newest:
            raise _cannot_rebuild(storage, files, version, found)
        raise _no_such_version(storage, files, version)
    return found


def _first_readable(
    storage: Storage, engine: Engine, files: LogFiles, version: int
) -> tuple[Segment, Checkpoint | None, list[Note]] | str:
    """The first segment whose checkpoint can be read, or why there is none ("" when the log offers none at all)."""
    problems: list[Note] = []
    for segment in segments(files, version):
        storage.bring(_paths_of(segment))
        if segment.checkpoint is None:
            return segment, None, problems
        try:
            return segment, read_checkpoint(engine, storage, segment.checkpoint), problems
        except CheckpointUnusable as error:
            message = f"checkpoint {segment.checkpoint.version} is not used: {error}"
            problems.append(Note("checkpoint_unusable", message))
    return "; ".join(note.message for note in problems)


def _paths_of(segment: Segment) -> list[str]:
    checkpoint = segment.checkpoint.paths if segment.checkpoint else ()
    return [*checkpoint, *(commit.path for commit in segment.commits), f"{LOG}/{segment.version:020}.crc"]


def _check_not_empty(storage: Storage, segment: Segment) -> None:
    """Raise LP307 for a commit without any action, however old: the files it added or removed would be missed silently."""
    for commit in segment.commits:
        size = commit.entry.size
        if size == 0 or (size < _BLANK and not storage.read(commit.path).strip()):
            raise TableError(
                "LP307",
                "a commit of the log is empty",
                where=storage.place(commit.path),
                why="it is being written right now, or its content was lost",
                fix="try again; if it stays so, restore it from a copy or explain an older version with --at-version",
            )


def _cannot_rebuild(storage: Storage, files: LogFiles, version: int, why: str) -> TableError:
    missing = missing_commits(files, version)
    gap = f"commit {missing[0]} is missing" if missing else "no checkpoint and no first commit"
    return TableError(
        "LP311",
        f"version {version} cannot be rebuilt from the log",
        where=storage.location,
        why="; ".join(filter(None, [why, gap])),
    )


def _no_such_version(storage: Storage, files: LogFiles, version: int) -> TableError:
    ranges = ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in readable_versions(files))
    return TableError(
        "LP312", f"version {version} does not exist", where=storage.location, fix=f"available versions: {ranges or 'none'}"
    )


def _complete(state: TableState, storage: Storage, version: int) -> tuple[Protocol, Metadata]:
    if state.protocol is None or state.metadata is None:
        what = "protocol" if state.protocol is None else "metadata"
        raise TableError("LP308", f"version {version} of the table has no {what}", where=storage.location)
    return state.protocol, state.metadata


def _clustering(configuration: str | None, schema: Schema) -> tuple[str, ...] | None:
    """The clustering columns by their logical names, None when there are none or they are not known."""
    if not configuration:
        return None
    try:
        columns = json.loads(configuration)["clusteringColumns"]
        return tuple(_logical([str(part) for part in column], schema) for column in columns)
    except (ValueError, KeyError, TypeError):
        return None


def _logical(physical: list[str], schema: Schema) -> str:
    fields, names = schema.fields, []
    for part in physical:
        field = next((field for field in fields if field.physical == part), None)
        names.append(field.name if field else part)
        fields = field.children if field else ()
    return ".".join(names)
