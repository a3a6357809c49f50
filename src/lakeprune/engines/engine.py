"""The boundary between formats and engines: what an engine offers.

A table format writes its metadata as SQL over `Engine.json_source` and `Engine.parquet_source`; an engine runs it. Neither knows
the other's implementation. formats/relation.py lists the columns of what they make together.
"""

from __future__ import annotations

from _thread import allocate_lock  # threading.Lock, without the cost of importing threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lakeprune.engines.dialect import Dialect, Shape
from lakeprune.errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeprune.storage.storage import ColumnChunk, Storage

Row = tuple[Any, ...]


class EngineError(Exception):
    """The engine could not run a query; the caller says what that means for the user."""


class Element(Struct, frozen=True):
    """A node of a schema tree, the root included; its children follow it."""

    name: str
    physical_type: str | None
    type_name: str | None  # upper-case SQL, with INT96 for what has no other name
    repetition: str | None
    children: int | None
    field_id: int | None = None


class Footers(Struct, frozen=True):
    """FROM items over what the footers of some Parquet files record, unjudged; `file` is the path that the engine was given.

    files     file, rows
    julian    file: those whose writer may have recorded days of the Julian calendar
    schemas   elements, file
              the distinct schemas, each with the first of its files: a JSON list of `Element`, in the order of the footer
    chunks    file, column_path, rows, num_values, min_text, max_text, is_max_exact, nulls, nans, has_type_order, created_by
              one row per row group and leaf, its names joined by ", "; the deprecated min and max are left out
    """

    files: str
    julian: str
    schemas: str
    chunks: str


class ManifestEntries(Struct, frozen=True):
    """A FROM item over the entries of a snapshot's manifests, as an engine's own Iceberg connector reads them.

    status, snapshot_id, sequence_number, spec_id, content, file_path, file_format, record_count, file_size_in_bytes,
    referenced_data_file, and the maps value_counts, null_value_counts, nan_value_counts, lower_bounds and upper_bounds by field
    id. p{id} is the value of the partition field with that id, NULL also for files of a spec without it: dates and times as whole
    numbers, other values in the types of bounds. `types` says what kind of value the connector takes each for.
    """

    source: str
    types: Mapping[int, str]  # "date", "timestamp", "timestamp_ntz", or Spark's name of another type


class ReadFooters(Struct, frozen=True):
    """FROM items over the footers of some Parquet files, each read once and whole, unjudged.

    files     file, rows, created_by, elements, is_julian
              `elements` is a JSON list of `Element`, in the order of the footer; `is_julian` as above
    chunks    file, row_group, leaf, rows, num_values, min_text, max_text, is_max_exact, old_min_text, old_max_text, nulls, nans,
              has_type_order, start_byte, end_byte, has_bloom, bloom_start, bloom_end, column_path
              one row per row group and leaf, which are numbered from 0; `old_*` are the deprecated bounds; the bytes are those of
              the column chunk, from the first of its pages to the end of the last, and of its Bloom filter, whose end need not be
              recorded
    """

    files: str
    chunks: str
    kept: tuple[str, ...] = ()  # what `Engine.forget` drops


class Typed(Struct, frozen=True):
    """A condition in Spark SQL over typed columns: name and Spark's name of the type, in the order of the values."""

    sql: str
    columns: tuple[tuple[str, str], ...]
    zone: str  # of the session that asks


class Truth(Enum):
    TRUE = "true"
    FALSE = "false"
    NULL = "null"
    FAILED = "failed"  # it cannot be evaluated


class Engine(ABC):
    """Runs SQL over metadata files. `name` is shown to users; `dialect` prints what engines write differently."""

    name: str
    dialect: Dialect

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._users = 0
        self.sleeps = 0  # how often everything that was kept has been let go

    @abstractmethod
    def query(self, sql: str) -> list[Row]:
        """All rows of a small result. Raises EngineError with the engine's own message."""

    @abstractmethod
    def stream(self, sql: str) -> Iterator[Row]:
        """Rows of a large result, without holding all of them."""

    @abstractmethod
    def arrow(self, sql: str) -> pa.Table:
        """A result as Arrow columns, which are made without a Python value per row."""

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

    def footers(self, paths: Sequence[str]) -> Footers:
        """What the footers of these Parquet files record. Querying it is an EngineError when one of them cannot be read."""
        what = f"the footers of Parquet files are not read by {self.name}: {len(paths)} files"
        raise TableError("LP349", what, fix="explain them with the embedded engine")

    def manifest_entries(self, metadata: str, snapshot_id: int, fields: Mapping[int, str]) -> ManifestEntries | None:  # noqa: ARG002
        """The entries of a snapshot of the Iceberg table with this metadata file; None where this process reads manifests itself.

        `fields` are the partition fields that the connector shows, in its order: id and name.
        """
        return None

    footers_at_once = 1 << 30  # how many are read by one call

    def read_footers(self, paths: Sequence[str]) -> ReadFooters:
        """What these footers record, read now. An EngineError names the file that cannot be read."""
        what = f"row groups are not read by {self.name}: {len(paths)} footers"
        raise TableError("LP349", what, fix="explain the table with the embedded engine, or without --row-groups")

    def forget(self, read: ReadFooters) -> None:  # noqa: B027  # most engines drop what nobody refers to
        """Nobody reads these footers any more."""

    reads_bloom = False  # whether it can look a value up in Bloom filters

    def bloom_probe(self, paths: Sequence[str], column: str, value: str) -> str:
        """A FROM item: file, row_group, and whether the Bloom filter of a top-level column excludes the value, which is SQL."""
        raise NotImplementedError(f"{self.name} reads no Bloom filters: {column} = {value} in {len(paths)} files")

    def evaluates(self, condition: Typed) -> bool:  # noqa: ARG002  # most engines know no other SQL than their own
        """Whether this engine gives the condition, as its user wrote it, a truth value that depends on its columns alone."""
        return False

    def truths(self, condition: Typed, rows: Sequence[Sequence[str | None]]) -> list[Truth]:
        """The condition on each of these rows, whose values are text that the types of its columns have."""
        raise NotImplementedError(f"{self.name} evaluates no conditions: {condition.sql} on {len(rows)} rows")

    @abstractmethod
    def lookup(self, columns: Sequence[str], types: Sequence[str], rows: Sequence[Row]) -> str:
        """A FROM item over a small relation made of these rows."""

    takes_columns = False  # whether it takes a relation of many rows from this process

    def columns(self, names: Sequence[str], types: Sequence[str], values: Sequence[Sequence[Any]]) -> str:
        """A FROM item over a relation of many rows, given by its columns; decimals are given as text."""
        return self.lookup(names, types, list(zip(*values, strict=True)))

    keeps_cheaply = False  # whether what is kept costs little beside computing it again

    @abstractmethod
    def kept(self, sql: str, where: str = "") -> str:
        """A FROM item over the result of a query, computed once and kept as long as the engine is awake.

        A condition on the query's own columns is cheaper here than around the query: it reads them as they were computed.
        """

    def drop(self, kept: str) -> None:  # noqa: B027  # most engines drop what nobody refers to
        """Nobody reads this any more, which `kept` gave."""

    def storage(self, location: str) -> Storage | None:  # noqa: ARG002  # most engines have no places of their own
        """Where the engine itself reaches this location; None when the process reads it and hands files to the engine."""
        return None

    @contextmanager
    def awake(self) -> Iterator[None]:
        """Inside, what was kept stays; when the last one leaves, the engine may free its threads and memory until it is asked."""
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self.sleeps += 1
                    self._let_go()

    @abstractmethod
    def _let_go(self) -> None:
        """Nobody needs anything any more, and nobody comes meanwhile."""
