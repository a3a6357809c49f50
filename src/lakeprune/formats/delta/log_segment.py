"""Which files of the log make up one version: a checkpoint, and the commits after it without a gap.

In: a listing and a target version. Out: `Segment` candidates, best first. `_last_checkpoint` only tells where to start listing;
it may be missing, stale, corrupt or above the target, and nothing depends on it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from msgspec import Struct

from lakeprune.formats.delta.log_files import ABOVE_VERSIONS, LOG, CheckpointFile, CommitFile, LogFiles, sort_out
from lakeprune.formats.format import NotThisFormat
from lakeprune.storage.storage import Storage


class Segment(Struct, frozen=True):
    version: int
    checkpoint: CheckpointFile | None
    commits: tuple[CommitFile, ...]  # oldest first


def list_log(storage: Storage, *, from_hint: bool) -> LogFiles:
    """What the log holds, from the hinted checkpoint on or from the beginning."""
    if storage.pattern is not None:
        raise NotThisFormat("LP302", f"{storage.location} is not a directory", fix="give the table's directory")
    start = f"{_hint(storage):020}" if from_hint else ""
    entries = storage.list_from(LOG, start, before=ABOVE_VERSIONS)
    if entries is None:
        raise NotThisFormat("LP305", f"{storage.location} is not a Delta table: it has no {LOG}", fix="check the path")
    return sort_out(entries)


def latest_version(files: LogFiles) -> int | None:
    """The newest version the log knows of, None for an empty log."""
    known = [*files.commits, *(c.version for c in files.checkpoints), *(c.last for c in files.compactions)]
    return max(known, default=None)


def segments(files: LogFiles, version: int) -> Iterator[Segment]:
    """Every way the log offers to read this version, best first; the caller takes the first whose checkpoint is readable."""
    for checkpoint in files.checkpoints:
        if checkpoint.version <= version:
            commits = _chain(files, checkpoint.version + 1, version)
            if commits is not None:
                yield Segment(version, checkpoint, commits)
    commits = _chain(files, 0, version)
    if commits:
        yield Segment(version, None, commits)


def missing_commits(files: LogFiles, version: int) -> list[int]:
    """The versions whose absence keeps this one from being read."""
    newest = max((c.version for c in files.checkpoints if c.version <= version), default=-1)
    return [v for v in range(newest + 1, min(version, newest + 100_000) + 1) if v not in files.commits]


def readable_versions(files: LogFiles) -> list[tuple[int, int]]:
    """Ranges of versions that can be read, oldest first.

    A version can be read when a checkpoint or commit 0 leads to it through commits without a gap.
    """
    starts = {c.version for c in files.checkpoints}
    ranges: list[list[int]] = []
    for v in sorted({*files.commits, *starts}):
        if v in starts or v == 0:
            if ranges and ranges[-1][1] == v - 1:
                ranges[-1][1] = v
            else:
                ranges.append([v, v])
        elif ranges and ranges[-1][1] == v - 1:
            ranges[-1][1] = v
    return [(first, last) for first, last in ranges]


def _chain(files: LogFiles, first: int, last: int) -> tuple[CommitFile, ...] | None:
    """The commits first..last, a compaction filling in where commits are missing; None when there is a gap.

    A compaction may stand for its commits only as a whole: inside [first, last], nothing of it already taken.
    """
    chain: list[CommitFile] = []
    version = first
    while version <= last:
        commit = files.commits.get(version)
        if commit is None:
            fitting = [c for c in files.compactions if c.first == version and c.last <= last]
            commit = max(fitting, key=lambda c: c.last, default=None)
        if commit is None:
            return None
        chain.append(commit)
        version = commit.last + 1
    return tuple(chain)


def _hint(storage: Storage) -> int:
    """The version `_last_checkpoint` names, 0 when it does not say anything usable."""
    path = f"{LOG}/_last_checkpoint"
    hint = storage.read_if_there(path, 1 << 20)
    if hint is None:
        return 0
    try:
        version = json.loads(hint)["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0
    return version if type(version) is int and 0 <= version < 10**19 else 0
