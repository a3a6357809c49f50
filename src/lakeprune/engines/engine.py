"""The boundary between formats and engines: what an engine offers.

A table format writes its metadata as SQL over `Engine.json_source` and `Engine.parquet_source`; an engine runs it. Neither knows
the other's implementation. formats/relation.py lists the columns of what they make together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from lakeprune.engines.dialect import Dialect, Shape
from lakeprune.errors import TableError

if TYPE_CHECKING:
    from lakeprune.engines.footers import Footers
    from lakeprune.storage.storage import ColumnChunk, Storage

Row = tuple[Any, ...]


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

    def footers(self, paths: Sequence[str]) -> Footers:  # noqa: ARG002
        """What the footers of these Parquet files record. Querying it is an EngineError when one of them cannot be read."""
        what = f"the footers of Parquet files are read by the embedded engine, not by {self.name}"
        raise TableError("LP349", what, fix="explain them without Spark; verify, update, delete and merge need a Delta table")

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
