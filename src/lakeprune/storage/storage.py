"""Where a table's metadata lies, and the few things that are ever asked of it.

In: a location as the user wrote it. Out: a `Storage` rooted there; every path it takes is relative to the root. No storage knows
a table format. Nothing is ever written to a table.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, BinaryIO

from msgspec import Struct

Column = tuple[str, ...]  # of a Parquet file: the names from the root to the leaf


class ColumnChunk(Struct, frozen=True):
    """Where the values of one column of one row group lie in a Parquet file."""

    column: Column
    start: int
    end: int


ChunksOf = Callable[[str], list[ColumnChunk] | None]  # of a Parquet file on this machine; None when they cannot be read


class Entry(Struct, frozen=True):
    name: str
    size: int
    modified: int  # microseconds since the epoch
    etag: str | None = None  # what an object store calls this content


class ColumnUse(Enum):
    """Whether a column of a Parquet file is ever read."""

    ALWAYS = "always"
    PERHAPS = "perhaps"  # only after `Storage.need` asked for it
    NEVER = "never"


class Traffic(Struct, frozen=True):
    """What was asked of an object store: requests without their retries, and what the cache had already."""

    requests: int
    bytes: int
    cached_files: int
    cached_bytes: int


class Storage(ABC):
    location: str  # as the user wrote it, for messages
    root: str  # absolute, without a trailing slash: what absolute paths in metadata are compared with
    pattern: str | None = None  # the files meant below the root, where the location is a file or a glob and not a directory

    def list_from(self, directory: str, name: str, before: str | None = None) -> list[Entry] | None:
        """The directory's files from `name` on and below `before`, sorted by name; None when there is no such directory."""
        entries = self.entries(directory, name, before)
        if entries is None:
            return None
        wanted = (entry for entry in entries if name <= entry.name and (before is None or entry.name < before))
        return sorted(wanted, key=lambda entry: entry.name)

    @abstractmethod
    def entries(self, directory: str, name: str, before: str | None) -> list[Entry] | None:
        """At least those of `list_from`, in any order."""

    def walk(self, wants: Callable[[str], bool]) -> list[Entry] | None:  # noqa: ARG002
        """Every file the location means, named by its path below the root and sorted; None where files are not listed.

        `wants` is asked about what lies in directories: files, and directories with a slash at the end.
        """
        return None

    @abstractmethod
    def size(self, path: str) -> int | None:
        """Bytes of a file, None when there is no such file."""

    def read_if_there(self, path: str, limit: int) -> bytes | None:
        """A small file that may not exist; None also when it is longer than the limit."""
        size = self.size(path)
        return None if size is None or size > limit else self.read(path)

    @abstractmethod
    def open(self, path: str) -> BinaryIO:
        """A file as bytes. Raises TableError when it cannot be read."""

    def open_data(self, path: str, size: int) -> BinaryIO:  # noqa: ARG002  # files of this machine know their size
        """A data file of this size, to be read from anywhere. Raises FileNotFoundError, now or when it is read."""
        return self.open(path)

    @abstractmethod
    def engine_paths(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Where the engine finds these files, all brought there together."""

    def place(self, path: str) -> str:
        """What a file is called in messages."""
        return f"{self.root}/{path}"

    def parquet_paths(self, paths: Sequence[str], chunks_of: ChunksOf, use: Callable[[Column], ColumnUse]) -> tuple[str, ...]:  # noqa: ARG002
        """Where the engine finds these Parquet files, with the columns that are always read."""
        return self.engine_paths(paths)

    has_whole_files = True  # not only the footers of what `footer_paths` names

    def bring_bytes(self, pieces: Sequence[tuple[str, int, int]]) -> None:  # noqa: B027  # where whole files are
        """Fetch these bytes of files that `footer_paths` named, by where the engine finds them: from, up to."""

    def footer_paths(self, files: Sequence[tuple[str, int]]) -> list[str | None]:
        """Where the engine finds these Parquet files, of which only footers are read; None for one that cannot be reached here.

        A file is given by its path, or its whole location when it lies elsewhere, and its size.
        """
        return [None if is_elsewhere(path) else self.engine_paths([path])[0] for path, _ in files]

    def signed_urls(self, paths: Sequence[str], seconds: int) -> list[str] | None:  # noqa: ARG002  # files of this machine have none
        """URLs by which anybody can read these files for so long, None where the store signs none."""
        return None

    def read_range(self, path: str, size: int, start: int, end: int) -> bytes:  # opened instead, on this machine
        """Bytes `start` to `end` of a file with this size, of an object store."""
        raise NotImplementedError(f"{type(self).__name__} opens files")

    def need(self, is_needed: Callable[[Column], bool]) -> None:  # noqa: B027  # files of this machine have every column
        """Make sure that the Parquet files hold these columns too."""

    def bring(self, paths: Sequence[str]) -> None:  # noqa: B027  # nothing to do for files of this machine
        """Announce that these files will be read soon, so that those which exist may be fetched all at once."""

    def missing(self, engine_paths: Sequence[str]) -> str | None:
        """The first of these files that is gone, None when all are there."""
        return next((path for path in engine_paths if not os.path.exists(path)), None)

    def with_places(self, message: str) -> str:
        """An engine's message, its paths replaced by what the files are called in messages."""
        return message

    def traffic(self) -> Traffic | None:
        """What was asked of an object store so far, None for files of this machine."""
        return None

    def close(self) -> None:  # noqa: B027  # nothing to do for files of this machine
        """Remove what was brought here for this run alone."""

    def read(self, path: str) -> bytes:
        """A small file as bytes."""
        with self.open(path) as file:
            return file.read()


def is_elsewhere(path: str) -> bool:
    """Whether a path does not lie below the root of a storage."""
    return path.startswith(("/", "file:")) or "://" in path


def open_storage(location: str, access: Mapping[str, Any]) -> Storage:
    """The storage of a location: a local path, a file:// URL, a shared table, or an object store reached with `access`."""
    scheme, separator, _ = location.partition("://")
    if separator and scheme.isalnum() and scheme.lower() != "file":
        from lakeprune.storage.object.storage import open_object_storage

        return open_object_storage(location, access)
    if "#" in location:
        from lakeprune.storage.sharing.profile import is_shared

        if is_shared(location):
            from lakeprune.storage.sharing.storage import SharedStorage

            return SharedStorage(location)
    from lakeprune.storage.local import LocalStorage

    return LocalStorage(location)
