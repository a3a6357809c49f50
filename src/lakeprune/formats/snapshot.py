"""A table at one version, as every other package sees it.

A format's reader produces a `Snapshot`; programs ask it for the relation of its containers, whose columns relation.py
lists.
Nothing here reads data files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from lakeprune.engines.engine import Engine, EngineError
from lakeprune.errors import TableError
from lakeprune.formats.reads import Reads
from lakeprune.formats.relation import Needs, Relation
from lakeprune.predicate.schema import Schema
from lakeprune.predicate.tree import Column, Profile
from lakeprune.skipping.ladder import Evidence, Level
from lakeprune.storage.storage import Storage, Traffic
from lakeprune.values.types import Scalar

if TYPE_CHECKING:
    from lakeprune.formats.commit import Commit
    from lakeprune.formats.own_skipping import OwnSkipping
    from lakeprune.formats.remedies import Remedies
    from lakeprune.formats.row_source import RowSource

LONGEST_WORDS = 300


class TableFeatures(Struct, frozen=True):
    """What the table declares; the names are those of the JSON contract."""

    reader_version: int | None = None
    writer_version: int | None = None
    reader_features: tuple[str, ...] = ()
    clustering_columns: tuple[str, ...] | None = None
    column_mapping_mode: str = "none"
    deletion_vectors_enabled: bool = False
    in_commit_timestamps: bool = False
    unrecognized_writer_features: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Expected(Struct, frozen=True):
    """What the table itself says a snapshot holds (Delta: the .crc file); None where it says nothing."""

    files: int | None = None
    bytes: int | None = None
    source: str = ""


class Note(Struct, frozen=True):
    """Something to know; `code` is stable."""

    code: str
    message: str


class Declared(Struct, frozen=True):
    """A top-level column as its table declares it, beyond what predicates need."""

    type: str  # as Spark writes it in a schema: a name, or JSON for what is nested
    is_nullable: bool = True
    field_id: int | None = None
    physical: str | None = None  # its name in data files, where the schema's physical name is another thing


class SnapshotFacts(Struct, frozen=True):
    format: str  # in documents: "delta"
    title: str  # in text: "Delta table"
    evidence: Evidence  # the rungs of the format, and what they say about a column
    location: str
    version: int | None  # None for what has no versions
    schema: Schema
    partition_columns: tuple[str, ...]
    features: TableFeatures
    configuration: Mapping[str, str] = MappingProxyType({})
    expected: Expected = Expected()
    notes: tuple[Note, ...] = ()
    computed_columns: Mapping[str, str] = MappingProxyType({})  # whose values the table makes itself: name -> how
    has_hidden_partitions: bool = False  # by functions of columns, so that partition columns do not name a partition
    schema_id: int | None = None  # where schemas are numbered (Iceberg)
    table_id: str | None = None  # by which the table knows itself, wherever it lies
    declared: Mapping[str, Declared] = MappingProxyType({})  # by the names of top-level columns
    has_partition_values_in_files: bool = False  # data files hold their partition columns, too
    written_at: int | None = None  # when this version was committed, in milliseconds since the epoch
    has_tight_bounds: bool = False  # where no row is deleted, recorded bounds are values, as far as their type is not rounded


class Absent(Struct, frozen=True):
    """What a column is in the rows of a file that lacks it: between these, or NULL in all of them."""

    lo: Scalar = None  # None: it is NULL
    hi: Scalar = None
    has_nulls: bool = False  # some may be NULL besides, where a struct above is


class ParquetFiles(Struct, frozen=True):
    """How the data files of a table are reached, and how its columns are found in them."""

    storage: Storage
    folder: str = ""  # below the storage's root: what the keys of files are relative to
    field_ids: Callable[[Column], int | None] | None = None  # None: columns are found by their physical names
    # The ids that columns and structs of a file without any have by their names; None when they are not known.
    ids_by_name: Callable[[Sequence[tuple[str, ...]]], Sequence[int | None] | None] | None = None
    absent: Callable[[Column], Absent | None] | None = None  # what a column is that a file lacks, where that is known


class Snapshot(ABC):
    facts: SnapshotFacts
    is_closed = False  # by whoever opened it: what was kept of it is gone

    @abstractmethod
    def relation(self, engine: Engine, needs: Needs, profile: Profile) -> Relation:
        """The containers: reconciled, one row per live file. Same engine as the snapshot was opened with."""

    @abstractmethod
    def partition_values(self, text: str | None, column: Column, profile: Profile) -> tuple[Scalar, ...] | None:
        """Every value a recorded partition text can stand for, None when that is not known."""

    def keep(self, engine: Engine) -> None:  # noqa: B027  # most formats keep what they read
        """Read everything now that any question about the files can need; the engine stays awake as long as it is asked."""

    def kept_records(self) -> str | None:
        """A FROM item: path, modified, stats_text and vector of every file, by path; None where the engine does not keep that."""
        return None

    def metadata_bytes(self) -> int | None:
        """The size of the files that its relation is read from, None where that is not known."""
        return None

    def groups(self) -> Snapshot | None:
        """The containers above files, as a snapshot with the same ladder; None where there are none, or nothing is known."""
        return None

    def reads(self) -> Mapping[Level, Reads]:
        """What was read so far of the metadata about the containers of each level, where that is counted."""
        return {}

    def file_key(self, engine: Engine, path: str) -> str:  # noqa: ARG002  # formats that record paths in one way only
        """SQL of a data file's path as paths of this table are compared: decoded, relative to the table where it lies inside."""
        return path

    def uri(self, engine: Engine, path: str) -> str:
        """SQL of where a data file lies: a path of this machine, or a URL."""
        return self.file_key(engine, path)

    def parquet_files(self) -> ParquetFiles | None:
        """Its data files, None when they are not Parquet files that can be reached."""
        return None

    def file_of(self, url: str) -> str:
        """The path by which this table knows a data file, of its URL as Spark gives it."""
        return url

    def row_source(self, paths: Collection[str] | None) -> RowSource | None:  # noqa: ARG002  # where rows are read in another way
        """How Spark reads the rows of these files, or of all; None where no way is known."""
        return None

    def writers(self, engine: Engine, paths: Sequence[str]) -> dict[str, str]:  # noqa: ARG002  # where nothing is recorded
        """The name and version of the program that recorded each of these few files, where the metadata still says."""
        return {}

    @abstractmethod
    def check_whole(self) -> None:
        """Raise TableError when some of the metadata that was just read may have been removed before it was read."""

    def check_counted(self, files: int) -> None:  # noqa: B027  # where what was read shows by itself that it is whole
        """Raise TableError when fewer files were found than the metadata records."""

    def remedies(self) -> Remedies:
        """Statements that make the table prune better."""
        from lakeprune.formats.remedies import Remedies

        return Remedies(self.facts)

    def own_skipping(self, profile: Profile) -> OwnSkipping | None:  # noqa: ARG002  # where no engine is known to use less
        """What the format's own engine uses of predicates, None where that is not modelled."""
        return None

    def counted_notes(self, with_vector: int, without_rows: int) -> list[Note]:  # noqa: ARG002  # where nothing is worth a note
        """What to know once files are counted: those with a deletion vector, and those of them whose live rows are not known."""
        return []

    def newest_version(self) -> int | None:
        """The version the table has by now, None when this one is no longer part of it."""
        return self.facts.version

    def commit_marked(self, mark: str) -> Commit | None:  # noqa: ARG002  # for formats that are written
        """The commit after this version whose user metadata holds this mark, None when there is none."""
        return None

    def traffic(self) -> Traffic | None:
        """What was asked of an object store so far, None for a table of this machine."""
        return None

    def close(self) -> None:  # noqa: B027  # most tables hold nothing
        """Give back what was brought here for this snapshot alone; it cannot be read afterwards."""

    def failure(self, error: EngineError) -> TableError:
        """What to tell the user when the engine could not read the files relation."""
        return TableError("LP306", "the table's metadata cannot be read", where=self.facts.location, why=in_short(str(error)))


def in_short(words: str) -> str:
    """An engine's own words on one line of bearable length.

    >>> in_short("no  such\\n column")
    'no such column'
    """
    line = " ".join(words.split())
    return line if len(line) <= LONGEST_WORDS else line[:LONGEST_WORDS] + "..."
