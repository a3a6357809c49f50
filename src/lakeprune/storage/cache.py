"""Metadata files fetched from object stores, kept on this machine.

In: the identity of an object (store, path, etag, size) and its bytes. Out: a path whose content is proven to be those bytes. An
entry's name holds the digest of its key and of its content: it is written once, under another name first, never changed, and read
only after its digest was checked. Several processes may share a directory; what is damaged is removed and fetched again.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from contextlib import suppress
from io import BufferedRandom, BufferedReader
from threading import Lock

from lakeprune.errors import UsageError

IN_USE = 3600  # seconds: what was used this recently is not removed to make room, somebody may be reading it
_LEFT_BEHIND = 24 * 3600  # seconds after which an unfinished file belongs to nobody
_ROOM = 0.8  # of the limit, left after making room
_LONGEST_NAME = 80
_PART = ".part"


class FileCache:
    """The entries of one table, in a directory of their own below the cache's."""

    def __init__(self, directory: str, table: str, limit: int) -> None:
        self.limit = limit
        self._cache = directory
        self._home = os.path.join(directory, _digest(table)[:32])
        try:
            os.makedirs(self._home, mode=0o700, exist_ok=True)
            self._names = {name.split("-", 1)[0]: name for name in os.listdir(self._home) if not name.endswith(_PART)}
        except OSError as error:
            raise unusable(directory, error) from error

    def find(self, key: str, size: int) -> str | None:
        """Where the content of this key lies, None when it is not here or not whole."""
        name = self._names.get(_digest(key)[:32])
        if name is None:
            return None
        path = os.path.join(self._home, name)
        try:
            with open(path, "rb") as file:
                is_whole = os.fstat(file.fileno()).st_size == size and _digest_of(file) == name.split("-", 2)[1]
            if is_whole:
                os.utime(path)  # the time of the last use
                return path
            os.unlink(path)
        except OSError:
            return None  # removed meanwhile by another process, or not readable: it is fetched again
        return None

    def writer(self, key: str, name: str) -> Writer:
        """A new entry, to be filled; nobody sees it before it is whole."""
        return Writer(self._home, _digest(key)[:32], name[-_LONGEST_NAME:])

    def make_room(self) -> None:
        """Remove the entries that were not used for longest, until the whole cache is well below its limit."""
        now, entries = time.time(), []
        for directory, _, names in os.walk(self._cache):
            for name in names:
                path = os.path.join(directory, name)
                with suppress(OSError):
                    stat = os.stat(path)
                    if name.endswith(_PART) and now - stat.st_mtime > _LEFT_BEHIND:
                        os.unlink(path)
                    elif name.count("-") >= 2:  # nothing but entries is ever removed, whatever else lies in a given directory
                        entries.append((stat.st_mtime, stat.st_size, path))
        total = sum(size for _, size, _ in entries)
        if total <= self.limit:
            return
        for used, size, path in sorted(entries):
            if total <= self.limit * _ROOM or now - used < IN_USE:
                return
            with suppress(OSError):
                os.unlink(path)
                total -= size


class Writer:
    """An entry being written, by several threads, in any order."""

    def __init__(self, home: str, key: str, name: str) -> None:
        self._home, self._key, self._name = home, key, name
        self._lock = Lock()
        self._temporary = ""
        self._file: BufferedRandom | None = None  # opened by the first part: thousands of entries may be waiting
        self._is_over = False

    def put(self, offset: int, content: bytes) -> None:
        with self._lock:
            if self._is_over:
                return  # discarded, since another part could not be fetched
            try:
                file = self._opened()
                file.seek(offset)
                file.write(content)
            except OSError as error:
                raise unusable(self._home, error) from error

    def finish(self) -> str:
        """Where the entry lies, under its final name; "" when it was discarded meanwhile."""
        with self._lock:
            if self._is_over:
                return ""
            try:
                with self._opened() as file:
                    file.flush()
                    file.seek(0)
                    digest = _digest_of(file)
                path = os.path.join(self._home, f"{self._key}-{digest}-{self._name}")
                os.replace(self._temporary, path)
            except OSError as error:
                raise unusable(self._home, error) from error
            self._is_over = True
            return path

    def discard(self) -> None:
        """Remove what was not finished."""
        with self._lock, suppress(OSError):
            if not self._is_over and self._file is not None:
                self._file.close()
                os.unlink(self._temporary)
            self._is_over = True

    def _opened(self) -> BufferedRandom:
        if self._file is None:
            handle, self._temporary = tempfile.mkstemp(suffix=_PART, dir=self._home)
            self._file = open(handle, "w+b")  # noqa: SIM115  # closed by `finish` or `discard`
        return self._file


def default_directory() -> str:
    """The user's own cache directory."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "lakeprune")


def unusable(directory: str, error: OSError) -> UsageError:
    fix = "name a writable directory with --cache-dir, or use --no-cache"
    return UsageError("LP234", "the cache of metadata files cannot be used", where=directory, why=error.strerror, fix=fix)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _digest_of(file: BufferedRandom | BufferedReader) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()
