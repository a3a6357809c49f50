"""Which version a table had at a time.

In: the log and a time in microseconds. Out: a version. Commits written since in-commit timestamps were enabled tell their time
themselves; for older ones it is the time their file was written, made strictly increasing as Spark does.
"""

from __future__ import annotations

from typing import Any

from lakeprune.errors import TableError
from lakeprune.formats.delta.actions import parsed_line, state_of_commits
from lakeprune.formats.delta.log_files import CommitFile, LogFiles
from lakeprune.storage.storage import Storage


def version_at(storage: Storage, files: LogFiles, timestamp: int) -> int:
    """The newest version committed at or before this time. Raises LP313 when there was none yet."""
    commits = latest_run(files)
    if not commits:
        raise TableError("LP313", "the log holds no commits to tell their times", where=storage.location)
    enabled = _enablement(storage, commits)
    older = [commit for commit in commits if enabled is None or commit.first < enabled[0]]
    newer = commits[len(older) :]
    if enabled is not None and newer and timestamp >= enabled[1] * 1000:
        return _search(storage, newer, timestamp)
    candidate, clock = None, None
    for commit in older:
        clock = commit.entry.modified if clock is None else max(commit.entry.modified, clock + 1000)
        if clock <= timestamp:
            candidate = commit.first
    if candidate is None:
        raise _too_early(storage, older[0].first if older else commits[0].first)
    return candidate


def latest_run(files: LogFiles) -> list[CommitFile]:
    """The newest commits without a gap between them, oldest first."""
    run: list[CommitFile] = []
    for version in sorted(files.commits, reverse=True):
        if run and run[-1].first != version + 1:
            break
        run.append(files.commits[version])
    return run[::-1]


def _enablement(storage: Storage, commits: list[CommitFile]) -> tuple[int, int] | None:
    """Version and time (milliseconds) from which commits tell their own time, None when they do not."""
    first = own_time(storage, commits[-1])
    if first is None:
        return None
    state = state_of_commits(storage, reversed(commits))
    configuration = state.metadata.configuration if state.metadata else {}
    version = configuration.get("delta.inCommitTimestampEnablementVersion", "")
    time = configuration.get("delta.inCommitTimestampEnablementTimestamp", "")
    if all(text.isascii() and text.isdigit() and len(text) < 19 for text in (version, time)):
        return int(version), int(time)
    # Not recorded: enabled since the table's first commit.
    return commits[0].first, own_time(storage, commits[0]) or 0


def _search(storage: Storage, commits: list[CommitFile], timestamp: int) -> int:
    """Binary search: in-commit timestamps increase from commit to commit."""
    low, high = 0, len(commits) - 1
    while low < high:
        middle = (low + high + 1) // 2
        time = own_time(storage, commits[middle])
        if time is None:
            raise TableError("LP306", "a commit does not tell its time", where=storage.place(commits[middle].path))
        low, high = (middle, high) if time * 1000 <= timestamp else (low, middle - 1)
    first = own_time(storage, commits[low])
    if first is None or first * 1000 > timestamp:
        raise _too_early(storage, commits[0].first)
    return commits[low].first


def own_time(storage: Storage, commit: CommitFile) -> int | None:
    """The in-commit timestamp in milliseconds; the protocol puts it into the first line."""
    place = storage.place(commit.path)
    with storage.open(commit.path) as file:
        line = file.readline()
    action: Any = parsed_line(line, 1, place).get("commitInfo") if line.strip() else None
    time = action.get("inCommitTimestamp") if isinstance(action, dict) else None
    return time if type(time) is int else None


def _too_early(storage: Storage, first: int) -> TableError:
    return TableError(
        "LP313",
        "the table has no version that old",
        where=storage.location,
        fix=f"the first version with a known time is {first}",
    )
