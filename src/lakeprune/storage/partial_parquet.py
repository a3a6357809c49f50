"""Large Parquet files of which only some columns are fetched.

In: a listed file, and which of its columns are never, always or perhaps read. Out: a file on this machine, of the same length,
that holds the footer and every column that was asked for. The first bytes of all others are such that reading them is an error: a
column that was forgotten can never look like a column of NULLs or zeros.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from lakeprune.storage.cache import unusable
from lakeprune.storage.fetch import Fetcher, Piece
from lakeprune.storage.storage import ChunksOf, Column, ColumnChunk, ColumnUse

WORTH_IT = 16 << 20  # bytes: below, fetching everything is as fast as asking twice (docs/adr/0011)
_SAVING = 0.25  # of the file, at least
_TAIL = 256 << 10
_FOOTER_TAIL = 64 << 10  # of data files, whose footers are small and many
_UNREADABLE = b"\xff" * 16  # no page header begins so


class PartialParquet:
    """One such file. The steps are asked for in order, and what each needs is fetched for many files at once."""

    def __init__(self, file: Piece, place: str) -> None:
        self.file = file
        self.place = place
        self._missing: list[ColumnChunk] = []
        with _writable(place), open(place, "wb") as target:
            target.truncate(file.size)

    def tail(self) -> list[Piece]:
        return [replace(self.file, start=self.file.size - _TAIL)]

    def footer_tail(self) -> list[Piece]:
        """The end of a file of which nothing but the footer is wanted."""
        return [replace(self.file, start=max(0, self.file.size - _FOOTER_TAIL))]

    def rest_of_footer(self, fetched: int | None = None) -> list[Piece]:
        """What the tail did not hold of the footer."""
        size, footer, tail = self.file.size, _footer_size(self.place), fetched or _TAIL
        if footer is None or not tail < footer <= size:
            return []
        return [replace(self.file, start=size - footer, end=size - tail)]

    def bytes(self, start: int, end: int) -> list[Piece]:
        """These bytes, as far as the file has them."""
        first, last = max(0, start), min(end, self.file.size)
        return [replace(self.file, start=first, end=last)] if first < last else []

    def plan(self, chunks_of: ChunksOf, use: Callable[[Column], ColumnUse]) -> list[Piece] | None:
        """What is always read; None when fetching the whole file is the better way."""
        size, footer = self.file.size, _footer_size(self.place)
        chunks = None if footer is None or footer > size else chunks_of(self.place)
        if footer is None or not chunks or not all(4 <= chunk.start <= chunk.end <= size - footer for chunk in chunks):
            return None
        always = _runs(chunk for chunk in chunks if use(chunk.column) is ColumnUse.ALWAYS)
        if sum(end - start for start, end in always) > (1 - _SAVING) * size:
            return None
        with _writable(self.place), open(self.place, "r+b") as target:
            for chunk in chunks:
                target.seek(chunk.start)
                target.write(_UNREADABLE[: chunk.end - chunk.start])
        self._missing = [chunk for chunk in chunks if use(chunk.column) is not ColumnUse.ALWAYS]
        return [replace(self.file, start=start, end=end) for start, end in always]

    def missing(self, is_needed: Callable[[Column], bool]) -> list[Piece]:
        """What is needed and was not asked for yet, chunk by chunk: every predicate finds the same pieces in the cache."""
        wanted = [chunk for chunk in self._missing if is_needed(chunk.column)]
        self._missing = [chunk for chunk in self._missing if not is_needed(chunk.column)]
        return [replace(self.file, start=chunk.start, end=chunk.end) for chunk in wanted]


def open_partially(
    partials: Sequence[PartialParquet], fetcher: Fetcher, chunks_of: ChunksOf, use: Callable[[Column], ColumnUse]
) -> list[PartialParquet]:
    """Those of which only some columns are fetched, with what is always read; the others are better fetched as a whole."""
    bring(fetcher, [(partial, partial.tail()) for partial in partials])
    bring(fetcher, [(partial, partial.rest_of_footer()) for partial in partials])
    plans = [(partial, pieces) for partial in partials if (pieces := partial.plan(chunks_of, use)) is not None]
    bring(fetcher, plans)
    return [partial for partial, _ in plans]


def bring_footers(partials: Sequence[PartialParquet], fetcher: Fetcher) -> None:
    """Fetch the footers of these files, and nothing else of them."""
    bring(fetcher, [(partial, partial.footer_tail()) for partial in partials])
    bring(fetcher, [(partial, partial.rest_of_footer(_FOOTER_TAIL)) for partial in partials])


def bring(fetcher: Fetcher, wanted: Sequence[tuple[PartialParquet, list[Piece]]]) -> None:
    """Fetch pieces of all the files at once, each into its file."""
    here = fetcher.fetch([piece for _, pieces in wanted for piece in pieces])
    for partial, pieces in wanted:
        with _writable(partial.place), open(partial.place, "r+b") as target:
            for piece in pieces:
                target.seek(piece.start)
                with open(here[piece], "rb") as content:
                    while block := content.read(1 << 20):
                        target.write(block)


@contextmanager
def _writable(place: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unusable(os.path.dirname(place), error) from error


def _footer_size(place: str) -> int | None:
    """Bytes of the footer with its length and mark, None when the file does not end as Parquet does."""
    with open(place, "rb") as file:
        file.seek(max(-8, -os.path.getsize(place)), os.SEEK_END)
        end = file.read(8)
    return int.from_bytes(end[:4], "little") + 8 if end[4:] == b"PAR1" else None


def _runs(chunks: Iterable[ColumnChunk]) -> list[tuple[int, int]]:
    """Chunks that follow each other as one range."""
    runs: list[tuple[int, int]] = []
    for chunk in sorted(chunks, key=lambda chunk: chunk.start):
        if runs and runs[-1][1] == chunk.start:
            runs[-1] = (runs[-1][0], chunk.end)
        else:
            runs.append((chunk.start, chunk.end))
    return runs
