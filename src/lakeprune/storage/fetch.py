"""Bringing files of an object store, or pieces of them, to this machine, many at a time.

In: pieces of listed files. Out: where each lies: in the cache, when what is there is proven to be it, else fetched. Large pieces
come in parts, so that no single request takes long. The first failure ends everything, and nothing half-fetched is left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from threading import BoundedSemaphore, Lock

from msgspec import Struct

from lakeprune.storage.cache import FileCache, Writer
from lakeprune.storage.object.client import ObjectClient
from lakeprune.storage.storage import Entry

PART = 8 << 20
_LARGE = 1 << 20  # of parts this large only some are under way at once: each is held in memory until it is whole
_LARGE_AT_ONCE = 16


class Piece(Struct, frozen=True):
    """Bytes `start` to `end` of a file that was listed."""

    path: str
    entry: Entry
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start

    @property
    def key(self) -> str:
        """What a store says these bytes are; a table made anew at the same place has other etags, or at least other times."""
        whole = f"{self.path}\n{self.entry.etag or self.entry.modified}\n{self.entry.size}"
        return whole if self.size == self.entry.size else f"{whole}\n{self.start}-{self.end}"


def whole(path: str, entry: Entry) -> Piece:
    return Piece(path, entry, 0, entry.size)


class Fetcher:
    def __init__(
        self, client: ObjectClient, cache: FileCache, progress: Callable[[int, int], None] | None, concurrency: int
    ) -> None:
        self.cached_files = self.cached_bytes = 0
        self._client = client
        self._cache = cache
        self._progress = progress
        self._concurrency = concurrency
        self._large = BoundedSemaphore(_LARGE_AT_ONCE)

    def fetch(self, wanted: Sequence[Piece]) -> dict[Piece, str]:
        """Where every wanted piece lies on this machine."""
        if not wanted:
            return {}
        pool = ThreadPoolExecutor(self._concurrency, thread_name_prefix="lakeprune-fetch")
        arriving: list[_Arriving] = []
        before = self._client.requests
        try:
            here = self._cached(pool, wanted)
            arriving += [
                _Arriving(piece, self._cache.writer(piece.key, _name(piece.path))) for piece in wanted if piece not in here
            ]
            meter = _Meter(sum(one.piece.size for one in arriving), self._progress)
            parts = [(one, start) for one in arriving for start in range(0, max(1, one.piece.size), PART)]
            for one, place in pool.map(lambda part: self._part(part[0], part[1], meter), parts):
                if place is not None:
                    here[one.piece] = place
        except BaseException:
            for one in arriving:
                one.writer.discard()
            raise
        finally:
            # After a failure nobody waits for what is under way: each request has a time limit of its own.
            pool.shutdown(wait=False, cancel_futures=True)
        if self._client.requests > before:
            self._cache.make_room()
        return here

    def is_cached(self, piece: Piece) -> bool:
        return self._cache.find(piece.key, piece.size) is not None

    def _cached(self, pool: ThreadPoolExecutor, wanted: Sequence[Piece]) -> dict[Piece, str]:
        places = pool.map(lambda piece: self._cache.find(piece.key, piece.size), wanted)
        here = {piece: place for piece, place in zip(wanted, places, strict=True) if place is not None}
        self.cached_files += len(here)
        self.cached_bytes += sum(piece.size for piece in here)
        return here

    def _part(self, one: _Arriving, start: int, meter: _Meter) -> tuple[_Arriving, str | None]:
        """Fetch one part; the piece's place once its last part is here."""
        piece, end = one.piece, min(start + PART, one.piece.size)
        if start < end:
            with self._large if end - start >= _LARGE else nullcontext():
                one.writer.put(start, self._client.read_range(piece.path, piece.entry, piece.start + start, piece.start + end))
            meter.add(end - start)
        return one, one.writer.finish() if one.is_last_part() else None


def _name(path: str) -> str:
    return path.rpartition("/")[2]


class _Arriving:
    def __init__(self, piece: Piece, writer: Writer) -> None:
        self.piece, self.writer = piece, writer
        self._missing = max(1, -(-piece.size // PART))
        self._lock = Lock()

    def is_last_part(self) -> bool:
        with self._lock:
            self._missing -= 1
            return self._missing == 0


class _Meter:
    """How much is here, reported to whoever wants to know."""

    def __init__(self, total: int, progress: Callable[[int, int], None] | None) -> None:
        self._total, self._progress, self._done = total, progress, 0
        self._lock = Lock()

    def add(self, size: int) -> None:
        if self._progress is not None:
            with self._lock:
                self._done += size
                self._progress(self._done, self._total)
