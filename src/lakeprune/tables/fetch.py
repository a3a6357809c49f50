"""Bringing files of an object store to this machine, many at a time.

In: listed files. Out: where each lies: in the cache, when what is there is proven to be it, else fetched. Large files come in
parts, so that no single request takes long. The first failure ends everything, and nothing half-fetched is left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from lakeprune.tables.log_cache import LogCache, Writer
from lakeprune.tables.object_client import ObjectClient
from lakeprune.tables.storage import Entry

PART = 8 << 20
_CONNECTIONS = 16


class Fetcher:
    def __init__(self, client: ObjectClient, cache: LogCache, progress: Callable[[int, int], None] | None) -> None:
        self.cached_files = self.cached_bytes = 0
        self._client = client
        self._cache = cache
        self._progress = progress

    def fetch(self, wanted: Sequence[tuple[str, Entry]]) -> dict[str, str]:
        """The path on this machine of every wanted file, by its path in the table."""
        pool = ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="lakeprune-fetch")
        files: list[_File] = []
        try:
            found = dict(zip((path for path, _ in wanted), pool.map(self._cached, wanted), strict=True))
            here = {path: place for path, place in found.items() if place is not None}
            self.cached_files += len(here)
            self.cached_bytes += sum(entry.size for path, entry in wanted if path in here)
            files += [
                _File(path, entry, self._cache.writer(key_of(path, entry), _name(path)))
                for path, entry in wanted
                if path not in here
            ]
            meter = _Meter(sum(file.entry.size for file in files), self._progress)
            parts = [(file, start) for file in files for start in range(0, max(1, file.entry.size), PART)]
            for file, place in pool.map(lambda part: self._part(part[0], part[1], meter), parts):
                if place is not None:
                    here[file.path] = place
            return here
        except BaseException:
            for file in files:
                file.writer.discard()
            raise
        finally:
            # After a failure nobody waits for what is under way: each request has a time limit of its own.
            pool.shutdown(wait=False, cancel_futures=True)

    def _cached(self, item: tuple[str, Entry]) -> str | None:
        path, entry = item
        return self._cache.find(key_of(path, entry), entry.size)

    def _part(self, file: _File, start: int, meter: _Meter) -> tuple[_File, str | None]:
        """Fetch one part; the file's place once its last part is here."""
        end = min(start + PART, file.entry.size)
        if start < end:
            file.writer.put(start, self._client.read_range(file.path, file.entry, start, end))
            meter.add(end - start)
        return file, file.writer.finish() if file.is_last_part() else None


def key_of(path: str, entry: Entry) -> str:
    """What a store says a file is; a table made anew at the same place has other etags, or at least other times."""
    return f"{path}\n{entry.etag or entry.modified}\n{entry.size}"


def _name(path: str) -> str:
    return path.rpartition("/")[2]


class _File:
    def __init__(self, path: str, entry: Entry, writer: Writer) -> None:
        self.path, self.entry, self.writer = path, entry, writer
        self._missing = max(1, -(-entry.size // PART))
        self._lock = Lock()

    def is_last_part(self) -> bool:
        with self._lock:
            self._missing -= 1
            return self._missing == 0


class _Meter:
    """How much is here, told to whoever wants to know."""

    def __init__(self, total: int, progress: Callable[[int, int], None] | None) -> None:
        self._total, self._progress, self._done = total, progress, 0
        self._lock = Lock()

    def add(self, size: int) -> None:
        if self._progress is not None:
            with self._lock:
                self._done += size
                self._progress(self._done, self._total)
