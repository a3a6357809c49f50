"""The commits of a Delta table one by one: which versions there are, when they were made, what they did.

In: a storage. Out: versions, times, and the actions of commits as they are recorded, line by line. Nothing is replayed here; a
commit may hold a million actions, so no commit is ever held as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from lakeprune.errors import TableError
from lakeprune.formats.delta.actions import parsed_line
from lakeprune.formats.delta.log_files import CommitFile, LogFiles, list_log
from lakeprune.formats.delta.time_travel import latest_run, own_time, version_at
from lakeprune.storage.storage import Storage


class CommitActions(Struct, frozen=True):
    """One commit, whose actions are read each time they are asked for."""

    storage: Storage
    file: CommitFile

    @property
    def version(self) -> int:
        return self.file.first

    @property
    def timestamp(self) -> int:
        """Milliseconds since the epoch: as the commit records it, else when its file was written."""
        own = own_time(self.storage, self.file)
        return self.file.entry.modified // 1000 if own is None else own

    def actions(self) -> Iterator[dict[str, Any]]:
        place = self.storage.place(self.file.path)
        with self.storage.open(self.file.path) as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield parsed_line(line, number, place)

    def has(self, kind: str) -> bool:
        """Whether it has an action of this kind; lines without the word are not parsed."""
        place, word = self.storage.place(self.file.path), f'"{kind}"'.encode()
        with self.storage.open(self.file.path) as file:
            return any(word in line and kind in parsed_line(line, number, place) for number, line in enumerate(file, 1))


class History(Struct, frozen=True):
    """The log as it was listed when this was made."""

    storage: Storage
    files: LogFiles

    @property
    def first(self) -> int:
        """The oldest version whose commit, and every commit after it, is still there."""
        run = latest_run(self.files)
        if not run:
            raise TableError("LP312", "the log holds no commits", where=self.storage.location)
        return run[0].first

    def commit(self, version: int) -> CommitActions:
        """LP312 when its commit is not there."""
        file = self.files.commits.get(version)
        if file is None:
            fix = f"the first version with its changes is {self.first}"
            raise TableError("LP312", f"the commit of version {version} does not exist", where=self.storage.location, fix=fix)
        return CommitActions(self.storage, file)

    def version_at(self, micros: int) -> int:
        """The newest version committed at or before this time; LP313 when there is none."""
        return version_at(self.storage, self.files, micros)

    def version_from(self, micros: int) -> int:
        """The oldest version committed at or after this time; one more than the newest when there is none yet."""
        try:
            return self.version_at(micros - 1) + 1
        except TableError as error:
            if error.code != "LP313":
                raise
            return self.first


def history_of(storage: Storage) -> History:
    """Every commit that the log still has."""
    return History(storage, list_log(storage, from_hint=False))


def newest_version_of(storage: Storage) -> int | None:
    """The newest version by a listing from the last checkpoint on."""
    version = list_log(storage, from_hint=True).latest_version()
    return list_log(storage, from_hint=False).latest_version() if version is None else version
