"""Opening a Delta table: from a location to a `DeltaSnapshot`.

In: a storage, an engine, the version or time asked for. Out: a snapshot. Only `_delta_log` is listed; of its files only the
needed commits, the checkpoint's few small rows and the checksum are read here.
"""

from __future__ import annotations

import json
from typing import Any

from lakeprune.engines.engine import Engine
from lakeprune.errors import TableError
from lakeprune.formats.delta.actions import Declared, state_of_commits
from lakeprune.formats.delta.checkpoint import Checkpoint, CheckpointUnusable, JsonPart, read_checkpoint
from lakeprune.formats.delta.features import check_reader, declared_features, feature_notes, mapping_mode
from lakeprune.formats.delta.generated_columns import evidence_of, sources_of
from lakeprune.formats.delta.log_files import LOG, LogFiles, Segment, list_log
from lakeprune.formats.delta.replay import Replay
from lakeprune.formats.delta.schema import delta_schema
from lakeprune.formats.delta.snapshot import DeltaSnapshot
from lakeprune.formats.delta.time_travel import own_time, version_at
from lakeprune.formats.format import At, refuse_ref
from lakeprune.formats.snapshot import Expected, Note, SnapshotFacts
from lakeprune.predicate.schema import Schema
from lakeprune.storage.storage import Storage

_LARGEST_CHECKSUM = 1 << 24  # newer checksums carry every file; such a list is not needed here
_BLANK = 64  # bytes: commits this small are looked at, for they may hold nothing but white space


def open_delta(storage: Storage, engine: Engine, at: At, files: LogFiles) -> DeltaSnapshot:
    """The table at that version, by its log. Raises TableError when it cannot be read, TableRefused when it must not be."""
    segment, checkpoint, problems = _locate(storage, engine, at, files)
    _check_not_empty(storage, segment)
    state = state_of_commits(storage, reversed(segment.commits))
    if checkpoint is not None:
        state = state.or_older(checkpoint.state)
    protocol, metadata = state.protocol, state.metadata
    if protocol is None or metadata is None:
        what = f"version {segment.version} of the table has no {'protocol' if protocol is None else 'metadata'}"
        raise TableError("LP308", what, where=storage.location)
    check_reader(protocol)
    mapped = mapping_mode(metadata) != "none"
    columns = delta_schema(metadata.schema_text, metadata.partition_columns, mapped=mapped)
    sources = sources_of(columns.schema, columns.generated, protocol)
    expected, doubts = _expected(storage, segment.version)
    features = declared_features(protocol, metadata, _clustering(state.clustering, columns.schema))
    facts = SnapshotFacts(
        "delta",
        "Delta table",
        evidence_of(sources),
        storage.location,
        segment.version,
        columns.schema,
        metadata.partition_columns,
        features,
        metadata.configuration,
        expected,
        (*problems, *doubts, *feature_notes(protocol, metadata)),
        columns.computed,
        table_id=metadata.table_id,
        declared=columns.declared,
        written_at=_written_at(storage, segment, files, has_own_times=features.in_commit_timestamps),
        has_tight_bounds=True,
    )
    commits = None
    if segment.commits:
        paths = storage.engine_paths([commit.path for commit in segment.commits])
        sizes = [commit.entry.size for commit in segment.commits]
        commits = JsonPart(paths, max(sizes), sum(sizes))
    replay = Replay(engine, storage.root, commits, checkpoint.parts if checkpoint else ())
    return DeltaSnapshot(facts, Declared(protocol, metadata), replay, storage, segment, columns, sources)


def _locate(storage: Storage, engine: Engine, asked: At, files: LogFiles) -> tuple[Segment, Checkpoint | None, list[Note]]:
    """The log files of the version asked for; the whole log is listed only when the hint does not lead there."""
    if asked.is_latest() or asked.ref is not None:
        refuse_ref(asked, "Delta tables have", storage.location)
        version = files.latest_version()
        if version is not None:
            found = _first_readable(storage, engine, files, version)
            if not isinstance(found, str):
                return found
        files = list_log(storage, from_hint=False)
    newest = files.latest_version()
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


def _written_at(storage: Storage, segment: Segment, files: LogFiles, *, has_own_times: bool) -> int | None:
    """When the version was committed, in milliseconds: by the commit itself, otherwise by its file; None when that is gone."""
    read = {commit.first: commit for commit in segment.commits if commit.first == commit.last}
    commit = read.get(segment.version) or files.commits.get(segment.version)
    if commit is None:
        return None
    return (
        (own_time(storage, commit) if has_own_times and commit.first in read else None) or commit.entry.modified // 1000 or None
    )


def _first_readable(
    storage: Storage, engine: Engine, files: LogFiles, version: int
) -> tuple[Segment, Checkpoint | None, list[Note]] | str:
    """The first segment whose checkpoint can be read, or why there is none ("" when the log offers none at all)."""
    problems: list[Note] = []
    for segment in files.segments(version):
        storage.bring(segment.paths)
        if segment.checkpoint is None:
            return segment, None, problems
        try:
            return segment, read_checkpoint(engine, storage, segment.checkpoint), problems
        except CheckpointUnusable as error:
            message = f"checkpoint {segment.checkpoint.version} is not used: {error}"
            problems.append(Note("checkpoint_unusable", message))
    return "; ".join(note.message for note in problems)


def _check_not_empty(storage: Storage, segment: Segment) -> None:
    """Raise LP307 for a commit without any action, however old: the files it added or removed would be missed silently."""
    for commit in segment.commits:
        size = commit.entry.size
        if size == 0 or (size < _BLANK and not storage.read(commit.path).strip()):
            why = "it is being written right now, or its content was lost"
            fix = "try again; if it stays so, restore it from a copy or explain an older version with --at-version"
            raise TableError("LP307", "a commit of the log is empty", where=storage.place(commit.path), why=why, fix=fix)


def _cannot_rebuild(storage: Storage, files: LogFiles, version: int, why: str) -> TableError:
    missing = files.missing_commits(version)
    gap = f"commit {missing[0]} is missing" if missing else "no checkpoint and no first commit"
    what, why = f"version {version} cannot be rebuilt from the log", "; ".join(filter(None, [why, gap]))
    return TableError("LP311", what, where=storage.location, why=why)


def _no_such_version(storage: Storage, files: LogFiles, version: int) -> TableError:
    ranges = ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in files.readable_versions())
    fix = f"available versions: {ranges or 'none'}"
    return TableError("LP312", f"version {version} does not exist", where=storage.location, fix=fix)


def _expected(storage: Storage, version: int) -> tuple[Expected, list[Note]]:
    """What the checksum file says the version holds; a damaged one is worth a note, never an error."""
    name = f"{version:020}.crc"
    size = storage.size(f"{LOG}/{name}")
    if size is None or size > _LARGEST_CHECKSUM:
        return Expected(), []
    try:
        checksum: Any = json.loads(storage.read(f"{LOG}/{name}"))
        files, total = checksum.get("numFiles"), checksum.get("tableSizeBytes")
    except (ValueError, AttributeError, RecursionError):
        return Expected(), [Note("checksum_unreadable", f"{name} is not readable and was not used")]
    return Expected(_count(files), _count(total), name), []


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


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
