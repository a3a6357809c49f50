"""The names in `_delta_log` and what each of them is.

In: a listing. Out: `LogFiles`: commits, compactions and checkpoints by version. Names the protocol does not know are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from lakeprune.storage.storage import Entry

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


class LogFiles(Struct, frozen=True):
    commits: dict[int, CommitFile]
    compactions: tuple[CommitFile, ...]
    checkpoints: tuple[CheckpointFile, ...]  # newest first, the preferred one of a version first


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
