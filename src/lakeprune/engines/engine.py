"""The boundary between tables and engines: what an engine offers, and the columns a files relation has.

A table format writes its metadata as SQL over `Engine.json_source` and `Engine.parquet_source`; an engine runs it. Neither knows
the other's implementation. A files relation has one row per live file and these columns:

    size          bytes of the file
    rows          physical rows, NULL when unknown
    deleted       rows hidden by a deletion vector, 0 without one, NULL when a deletion vector does not say
    has_stats     whether the file carries any statistics
    has_dv        whether it carries a deletion vector
    path          as recorded in the log               } only when `Needs.paths`
    partition     partition values as JSON text        }
    modified      when it was written, milliseconds since the epoch, NULL when unknown; only when `Needs.times`

    per column k of Needs.domains, in order (docs/traps.md lists what each must survive):
    c{k}_lo c{k}_hi    inclusive bounds of every live non-NULL, non-NaN value; NULL = unbounded; BIGINT, DOUBLE, DECIMAL, STRING,
                       BINARY or BOOLEAN by the type's family (dates and timestamps as BIGINT days and microseconds)
    c{k}_cut           text only: hi is a truncated prefix, so values may extend it
    c{k}_nn c{k}_an    proven without NULL, proven all NULL; never NULL themselves
    c{k}_nf            floats only: proven without NaN; never NULL
    c{k}_counted       whether the null count is known (for partition columns: the value is known)

    the same of a data column, as the log states it before it is judged, only when `Needs.recorded`:
    c{k}_first c{k}_last    the bounds, also where they contradict each other
    c{k}_nulls              the null count

    per column j of Needs.partition_texts:
    p{j}          the partition value as recorded, NULL for NULL
    p{j}_missing  the file does not record this partition column
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lakeprune.engines.dialect import Dialect, Shape
from lakeprune.predicate.tree import Column

if TYPE_CHECKING:
    from lakeprune.storage.storage import ColumnChunk, Storage

Row = tuple[Any, ...]


class Needs(Struct, frozen=True):
    """What an evaluation asks to know of every file, and nothing more."""

    domains: tuple[Column, ...] = ()
    partition_texts: tuple[Column, ...] = ()
    paths: bool = False
    times: bool = False
    recorded: bool = False


class EngineError(Exception):
    """The engine could not run a query; the caller says what that means for the user."""


class Engine(ABC):
    """Runs SQL over metadata files. `name` is shown to users; `dialect` prints what engines write differently."""

    name: str
    dialect: Dialect

    @abstractmethod
    def query(self, sql: str) -> list[Row]:
        """All rows of a small result. Raises EngineError with the engine's own message."""

    @abstractmethod
    def stream(self, sql: str) -> Iterator[Row]:
        """Rows of a large result, without holding all of them."""

    @abstractmethod
    def json_source(self, paths: Sequence[str], shape: Shape, *, largest_file: int) -> str:
        """A FROM item over newline-delimited JSON: exactly these fields, and a `filename` column."""

    @abstractmethod
    def parquet_source(self, paths: Sequence[str]) -> str:
        """A FROM item over Parquet files; a field that some of them lack is NULL there."""

    @abstractmethod
    def parquet_fields(self, paths: Sequence[str]) -> dict[str, Any]:
        """The fields of that FROM item: name -> upper-case SQL type name, or nested dict for a struct."""

    def parquet_chunks(self, path: str) -> list[ColumnChunk] | None:  # noqa: ARG002
        """Where the columns of one Parquet file lie; None when this engine does not know, or cannot read the footer."""
        return None

    @abstractmethod
    def lookup(self, columns: Sequence[str], types: Sequence[str], rows: Sequence[Row]) -> str:
        """A FROM item over a small relation made of these rows."""

    @abstractmethod
    def kept(self, sql: str) -> str:
        """A FROM item over the result of a query, computed once and kept as long as the engine is awake."""

    def storage(self, location: str) -> Storage | None:  # noqa: ARG002  # most engines have no places of their own
        """Where the engine itself reaches this location; None when the process reads it and hands files to the engine."""
        return None

    @abstractmethod
    def awake(self) -> AbstractContextManager[None]:
        """Inside, what was kept stays; when the last one leaves, the engine may free its threads and memory until it is asked."""
