"""The files of `_delta_log`: what each name is, and which of them make up one version.

In: a listing and a target version. Out: `LogFiles` (commits, compactions and checkpoints by version; other names are ignored) and
`Segment` candidates, best first: a checkpoint, and the commits after it without a gap. `_last_checkpoint` only says where to
start listing; it may be missing, stale, corrupt or above the target, and nothing depends on it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from lakeprune.formats.format import NotThisFormat
from lakeprune.storage.storage import Entry, Storage

LOG = "_delta_log"
ABOVE_VERSIONS = ":"  # names of versions begin with a digit: what follows them, sidecars among it, need not be listed
SIDECARS = f"{LOG}/_sidecars"
_NAME = re.compile(
    r"(?P<version>\d{20})\.(?:"
    r"(?P<commit>json)|(?P<last>\d{20})\.compacted\.json|"
    r"checkpoint\.(?:(?P<classic>parquet)|(?P<part>\d{10})\.(?P<parts>\d{10})\.parquet|"
    r"(?P<uuid>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\.(?:json|parquet)))"
)


class CommitFile(Struct, frozen=True):
    """A commit, or a compaction standing for several: its actions count as those of version `last`."""

    first: int
    last: int
    entry: Entry

    @property
    def path(self) -> str:
        return f"{LOG}/{self.entry.name}"


class CheckpointFile(Struct, frozen=True):
    """A complete checkpoint by name; what is in it is known only after reading it."""

    version: int
    entries: tuple[Entry, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(f"{LOG}/{entry.name}" for entry in self.entries)

    @property
    def is_json(self) -> bool:
        return self.entries[0].name.endswith(".json")

    @property
    def bytes(self) -> int:
        return sum(entry.size for entry in self.entries)


class Segment(Struct, frozen=True):
    version: int
    checkpoint: CheckpointFile | None
    commits: tuple[CommitFile, ...]  # oldest first

    @property
    def paths(self) -> list[str]:
        """Everything that may be read of it, its checksum included."""
        checkpoint = self.checkpoint.paths if self.checkpoint else ()
        return [*checkpoint, *(commit.path for commit in self.commits), f"{LOG}/{self.version:020}.crc"]


class LogFiles(Struct, frozen=True):
    commits: dict[int, CommitFile]
    compactions: tuple[CommitFile, ...]
    checkpoints: tuple[CheckpointFile, ...]  # newest first, the preferred one of a version first

    def latest_version(self) -> int | None:
        """The newest version the log knows of, None for an empty log."""
        known = [*self.commits, *(c.version for c in self.checkpoints), *(c.last for c in self.compactions)]
        return max(known, default=None)

    def segments(self, version: int) -> Iterator[Segment]:
        """Every way to read this version, best first; the caller takes the first whose checkpoint is readable."""
        for checkpoint in self.checkpoints:
            if checkpoint.version <= version:
                commits = self._chain(checkpoint.version + 1, version)
                if commits is not None:
                    yield Segment(version, checkpoint, commits)
        commits = self._chain(0, version)
        if commits:
            yield Segment(version, None, commits)

    def missing_commits(self, version: int) -> list[int]:
        """The versions whose absence keeps this one from being read."""
        newest = max((c.version for c in self.checkpoints if c.version <= version), default=-1)
        return [v for v in range(newest + 1, min(version, newest + 100_000) + 1) if v not in self.commits]

    def readable_versions(self) -> list[tuple[int, int]]:
        """Ranges of versions, oldest first, to which a checkpoint or commit 0 leads through commits without a gap."""
        starts = {c.version for c in self.checkpoints}
        ranges: list[tuple[int, int]] = []
        for version in sorted({*self.commits, *starts}):
            if ranges and ranges[-1][1] == version - 1:
                ranges[-1] = (ranges[-1][0], version)
            elif version == 0 or version in starts:
                ranges.append((version, version))
        return ranges

    def _chain(self, first: int, last: int) -> tuple[CommitFile, ...] | None:
        """The commits first..last, a compaction filling in where commits are missing; None when there is a gap.

        A compaction may stand for its commits only as a whole: inside [first, last], nothing of it already taken.
        """
        chain: list[CommitFile] = []
        version = first
        while version <= last:
            commit = self.commits.get(version)
            if commit is None:
                fitting = [c for c in self.compactions if c.first == version and c.last <= last]
                commit = max(fitting, key=lambda c: c.last, default=None)
            if commit is None:
                return None
            chain.append(commit)
            version = commit.last + 1
        return tuple(chain)


def list_log(storage: Storage, *, from_hint: bool) -> LogFiles:
    """What the log holds, from the hinted checkpoint on or from the beginning."""
    if storage.pattern is not None:
        raise NotThisFormat("LP302", f"{storage.location} is not a directory", fix="give the table's directory")
    start = f"{_hint(storage):020}" if from_hint else ""
    entries = storage.list_from(LOG, start, before=ABOVE_VERSIONS)
    if entries is None:
        inside, _, _ = storage.location.rstrip("/").rpartition(f"/{LOG}")
        fix = f"give the table's own folder: {inside}" if inside else "check the path"
        raise NotThisFormat("LP305", f"{storage.location} is not a Delta table: it has no {LOG}", fix=fix)
    return sort_out(entries)


def sort_out(entries: Iterable[Entry]) -> LogFiles:
    """The listing, sorted out. Empty checkpoints and compactions are left out; empty commits are not."""
    commits: dict[int, CommitFile] = {}
    compactions: list[CommitFile] = []
    whole: list[tuple[int, int, str, CheckpointFile]] = []
    parts: dict[tuple[int, int], dict[int, Entry]] = {}
    for entry in entries:
        match = _NAME.fullmatch(entry.name)
        if match is None:
            continue
        version = int(match["version"])
        if match["commit"]:
            commits[version] = CommitFile(version, version, entry)
        elif entry.size == 0:
            continue
        elif match["last"]:
            if version < (last := int(match["last"])):
                compactions.append(CommitFile(version, last, entry))
        elif match["part"]:
            parts.setdefault((version, int(match["parts"])), {})[int(match["part"])] = entry
        else:
            rank = 0 if match["classic"] else 2
            whole.append((version, rank, entry.name, CheckpointFile(version, (entry,))))
    for (version, count), found in parts.items():
        if sorted(found) == list(range(1, count + 1)):
            whole.append((version, 1, f"{count:010}", CheckpointFile(version, tuple(found[i] for i in sorted(found)))))
    # Several checkpoints of one version are equivalent; Spark and the kernels prefer uuid, then more parts, then classic.
    whole.sort(key=lambda item: item[:3], reverse=True)
    return LogFiles(commits, tuple(compactions), tuple(item[3] for item in whole))


def _hint(storage: Storage) -> int:
    """The version `_last_checkpoint` names, 0 when it does not say anything usable."""
    try:
        version = json.loads(storage.read_if_there(f"{LOG}/_last_checkpoint", 1 << 20) or b"")["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0
    return version if type(version) is int and 0 <= version < 10**19 else 0
