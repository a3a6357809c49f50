"""Tables in a directory of this machine.

In: a path or a file:// URL. Out: a `Storage`. What cannot be read is a TableError with the system's reason.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from lakeprune.errors import TableError
from lakeprune.storage.storage import Entry, Storage


class LocalStorage(Storage):
    """A directory of this machine."""

    def __init__(self, location: str) -> None:
        self.location = location
        self.root = os.path.abspath(_local_path(location))
        with _readable(location, "the table"):
            if not os.path.lexists(self.root):
                raise TableError("LP301", f"there is nothing at {location}", fix="check the path; a table is a directory")
            if not os.path.isdir(self.root):
                os.stat(self.root)  # says so when it is a loop of links or not permitted
                raise TableError("LP302", f"{location} is not a directory", fix="give the table's directory")

    def entries(self, directory: str, name: str, before: str | None) -> list[Entry] | None:  # noqa: ARG002  # few are not wanted
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
        return found

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
