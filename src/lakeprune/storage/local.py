"""Tables in a directory of this machine, or some files of it.

In: a path or a file:// URL. Out: a `Storage`. What cannot be read is a TableError with the system's reason.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from lakeprune.errors import TableError
from lakeprune.storage.storage import Entry, Storage, is_elsewhere


class LocalStorage(Storage):
    """A directory of this machine, one of its files, or those that a glob names."""

    def __init__(self, location: str) -> None:
        self.location = location
        self.root = os.path.abspath(_local_path(location))
        with _readable(location, "the table"):
            if not os.path.lexists(self.root):
                self.root, self.pattern = _split_glob(self.root)
                if self.pattern is None or not os.path.isdir(self.root):
                    raise TableError("LP301", f"there is nothing at {location}", fix=_what_it_may_be(location))
            elif not os.path.isdir(self.root):
                os.stat(self.root)  # says so when it is a loop of links or not permitted
                self.root, self.pattern = os.path.split(self.root)
                self.root = self.root.rstrip("/")

    def walk(self, wants: Callable[[str], bool]) -> list[Entry]:
        with _readable(self.location, "the directory"):
            if self.pattern is None:
                found = dict(_walk(self.root, "", wants, ()))
            elif os.path.lexists(self.place(self.pattern)):
                found = dict([_entry(self.root, self.pattern)])
            else:
                from glob import glob

                found = {}
                for path in glob(self.pattern, root_dir=self.root, recursive=True):
                    folder = f"{path.rstrip('/')}/" if os.path.isdir(self.place(path)) else None
                    found.update([_entry(self.root, path)] if folder is None else _walk(self.root, folder, wants, ()))
        return sorted(found.values(), key=lambda entry: entry.name)

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

    def open(self, path: str) -> BinaryIO:
        place = self.place(path)
        with _readable(place, "the file"):
            return open(place, "rb")  # the caller closes it

    def engine_paths(self, paths: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(self.place, paths))

    def footer_paths(self, files: Sequence[tuple[str, int]]) -> list[str | None]:
        return [self._anywhere(path) if is_elsewhere(path) else self.place(path) for path, _ in files]

    def _anywhere(self, path: str) -> str | None:
        """A path of this machine outside of the root."""
        if path.startswith("/"):
            return path
        return _local_path(path) if path[:5].lower() == "file:" else None


def _split_glob(path: str) -> tuple[str, str | None]:
    """The directory above the first name with a glob character, and the pattern below it; None when there is no such name.

    >>> _split_glob("/t/year=*/a.parquet"), _split_glob("/t/a")
    (('/t', 'year=*/a.parquet'), ('/t/a', None))
    """
    names = path.split("/")
    first = next((number for number, name in enumerate(names) if any(letter in name for letter in "*?[")), None)
    return (path, None) if first is None else ("/".join(names[:first]), "/".join(names[first:]))


def _walk(
    root: str, above: str, wants: Callable[[str], bool], inside: tuple[tuple[int, int], ...]
) -> Iterator[tuple[str, Entry]]:
    """The files below a directory of the root; a link that leads back to a directory above it is not followed."""
    place = f"{root}/{above}"
    stat = os.stat(place)
    identity = (stat.st_dev, stat.st_ino)
    if identity in inside:
        return
    with os.scandir(place) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            is_directory = entry.is_dir()
            path = above + entry.name + ("/" if is_directory else "")
            if not wants(path):
                continue
            if is_directory:
                yield from _walk(root, path, wants, (*inside, identity))
            else:
                yield _entry(root, path)


def _entry(root: str, path: str) -> tuple[str, Entry]:
    stat = os.stat(f"{root}/{path}")
    return path, Entry(path, stat.st_size, stat.st_mtime_ns // 1000)


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


def _what_it_may_be(location: str) -> str:
    if location.startswith("dbfs:/"):
        return "dbfs:/ is known on Databricks alone: give /dbfs/... there, elsewhere the store's URL (s3://, abfss://, gs://)"
    if re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*){1,2}", location):
        query = f'lakeprune explain --engine spark --sql "SELECT * FROM {location} WHERE ..."'
        return f"give its path; a name in a catalog is known to PyIceberg (--catalog NAME) or to Spark: {query}"
    return "check the path; a table is a directory"


@contextmanager
def _readable(place: str, what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TableError("LP304", f"{what} cannot be read: {reason}", where=place) from error
