"""Where a table's metadata lies, and the few things that are ever asked of it.

In: a location as the user wrote it. Out: a `Storage` rooted there; every path it takes is relative to the root. A directory of
this machine is here, an object store in object_storage.py. Nothing is ever written to a table.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any, BinaryIO

from msgspec import Struct

from lakeprune.errors import TableError

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
    root: str  # absolute, without a trailing slash: what absolute paths inside a log are compared with

    @abstractmethod
    def list_from(self, directory: str, name: str) -> list[Entry] | None:
        """The directory's files whose names are not below `name`, sorted by name; None when there is no such directory."""

    @abstractmethod
    def size(self, path: str) -> int | None:
        """Bytes of a file, None when there is no such file."""

    @abstractmethod
    def read_if_there(self, path: str, limit: int) -> bytes | None:
        """A small file that may not exist; None also when it is longer than the limit."""

    @abstractmethod
    def open(self, path: str) -> BinaryIO:
        """A file of the log as bytes. Raises TableError when it cannot be read."""

    @abstractmethod
    def engine_paths(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Where the engine finds these files of the log, all brought there together."""

    @abstractmethod
    def place(self, path: str) -> str:
        """What a file of the log is called in messages."""

    def parquet_paths(self, paths: Sequence[str], chunks_of: ChunksOf, use: Callable[[Column], ColumnUse]) -> tuple[str, ...]:  # noqa: ARG002
        """Where the engine finds these Parquet files, with the columns that are always read."""
        return self.engine_paths(paths)

    def need(self, is_needed: Callable[[Column], bool]) -> None:  # noqa: B027  # files of this machine have every column
        """Make sure that the Parquet files hold these columns too."""

    def bring(self, paths: Sequence[str]) -> None:  # noqa: B027  # nothing to do for files of this machine
        """Announce that these files will be read soon, so that those which exist may be fetched all at once."""

    def missing(self, engine_paths: Sequence[str]) -> str | None:
        """The first of these files of the log that is gone, None when all are there."""
        return next((path for path in engine_paths if not os.path.exists(path)), None)

    def with_places(self, words: str) -> str:
        """An engine's words, its paths replaced by what the files are called in messages."""
        return words

    def traffic(self) -> Traffic | None:
        """What was asked of an object store so far, None for files of this machine."""
        return None

    def close(self) -> None:  # noqa: B027  # nothing to do for files of this machine
        """Remove what was brought here for this run alone."""

    def read(self, path: str) -> bytes:
        """A small file as bytes."""
        with self.open(path) as file:
            return file.read()


class LocalStorage(Storage):
    """A directory of this machine."""

    def __init__(self, location: str) -> None:
        self.location = location
        self.root = os.path.abspath(_local_path(location))
        with _readable(location, "the table"):
            if not os.path.lexists(self.root):
                raise TableError("LP301", f"there is nothing at {location}", fix="check the path; a Delta table is a directory")
            if not os.path.isdir(self.root):
                os.stat(self.root)  # says so when it is a loop of links or not permitted
                raise TableError(
                    "LP302", f"{location} is not a directory", fix="give the table's directory, the one holding _delta_log"
                )

    def list_from(self, directory: str, name: str) -> list[Entry] | None:
        path = self.place(directory)
        found = []
        with _readable(path, "the directory"):
            if not os.path.lexists(path):
                return None
            with os.scandir(path) as entries:
                for entry in entries:
                    if entry.name >= name and entry.is_file():
                        stat = entry.stat()
                        found.append(Entry(entry.name, stat.st_size, stat.st_mtime_ns // 1000))
        return sorted(found, key=lambda entry: entry.name)

    def size(self, path: str) -> int | None:
        place = self.place(path)
        with _readable(place, "the file"):
            return os.stat(place).st_size if os.path.isfile(place) else None

    def read_if_there(self, path: str, limit: int) -> bytes | None:
        size = self.size(path)
        return None if size is None or size > limit else self.read(path)

    def open(self, path: str) -> BinaryIO:
        place = self.place(path)
        with _readable(place, "the file"):
            return open(place, "rb")  # the caller closes it

    def engine_paths(self, paths: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(self.place, paths))

    def place(self, path: str) -> str:
        return f"{self.root}/{path}"


def open_storage(location: str, access: Mapping[str, Any]) -> Storage:
    """The storage of a location: a local path, a file:// URL, or an object store reached as `access` says (store_options.py)."""
    scheme, separator, _ = location.partition("://")
    if separator and scheme.isalnum() and scheme.lower() != "file":
        from lakeprune.storage.object.storage import open_object_storage

        return open_object_storage(location, access)
    return LocalStorage(location)


def _local_path(location: str) -> str:
    if not location or "\0" in location:
        raise TableError("LP301", "the location is empty or not a path", where=repr(location))
    if location[:5].lower() != "file:":
        return os.path.expanduser(location)
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(location.replace("?", "%3F").replace("#", "%23"))
    if parts.netloc not in ("", "localhost"):
        raise TableError("LP303", f"{location} names another machine", fix="a local file:// URL has three slashes")
    return unquote(parts.path)


@contextmanager
def _readable(place: str, what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TableError("LP304", f"{what} cannot be read: {reason}", where=place) from error
