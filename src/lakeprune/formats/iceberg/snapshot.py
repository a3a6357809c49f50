"""An Iceberg table at one snapshot: its facts, and the SQL of its files relation.

In: the table's metadata, its manifests. Out: the relation of formats/relation.py. Manifests are read when a relation first needs
them; data files and delete files never.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.engine import Engine, EngineError
from lakeprune.errors import TableError
from lakeprune.formats.iceberg.files import Asked, Files
from lakeprune.formats.iceberg.initial_defaults import InitialDefaults
from lakeprune.formats.iceberg.ladder import TRANSFORM
from lakeprune.formats.iceberg.locate import Paths, shown_sql
from lakeprune.formats.iceberg.metrics_sql import MetricsSql, Raw, unknown_items, value_items
from lakeprune.formats.iceberg.name_mapping import NameMapping
from lakeprune.formats.iceberg.spark_entries import SparkEntries, not_shown
from lakeprune.formats.iceberg.summaries import manifests_as_groups
from lakeprune.formats.iceberg.transforms import domain_items
from lakeprune.formats.iceberg.tuples import value_of
from lakeprune.formats.reads import Reads
from lakeprune.formats.relation import Needs, Relation, relation_of
from lakeprune.formats.row_source import RowSource
from lakeprune.formats.snapshot import Note, ParquetFiles, Snapshot, SnapshotFacts
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Profile
from lakeprune.skipping.ladder import Level
from lakeprune.storage.storage import Traffic
from lakeprune.values.types import Scalar

if TYPE_CHECKING:
    from lakeprune.formats.iceberg.remedies import IcebergRemedies

_CUT = re.compile(r"truncate\((\d+)\)", re.ASCII)
_DEFAULT_CUT = 16


class Origin(Struct, frozen=True):
    """Where a snapshot comes from, as Iceberg's own runtime would find it."""

    paths: Paths
    metadata: str  # the metadata file, below the root
    manifest_list: str | None
    version: str | None  # its id, branch or tag; None for the table as it is now


class StoredColumns(Struct, frozen=True):
    """How data files without field ids are read, and what a column is that a file lacks."""

    names: NameMapping | None
    defaults: InitialDefaults


class IcebergSnapshot(Snapshot):
    def __init__(
        self,
        facts: SnapshotFacts,
        files: Files | SparkEntries,
        stored: StoredColumns,
        times: dict[int, int],
        origin: Origin,
        list_reads: Reads = Reads(),  # noqa: B008  # frozen
    ) -> None:
        self.facts = facts
        self._list_reads = list_reads
        self._origin = origin
        self._files = files
        self._stored = stored
        self._storage = origin.paths.storage
        self._times = times  # of snapshots that are still listed: milliseconds

    def relation(self, engine: Engine, needs: Needs, profile: Profile) -> Relation:  # noqa: ARG002  # metrics count NaN or do not
        names = relation_of(needs)
        columns = [seen.column for seen in needs.domains]
        values = [column for column in columns if column.role is Role.PARTITION]
        lifted = [seen for seen in needs.domains if TRANSFORM in seen.rungs and seen.type.family is not None]
        metrics = [
            seen.column
            for seen in needs.domains
            if seen not in lifted and seen.column.role is Role.DATA and seen.type.family is not None
        ]
        self._check_records(engine, needs)
        asked = Asked(
            metrics, values, lifted, needs.partition_texts, needs.paths, needs.times, needs.parents, needs.records, needs.within
        )
        table = self._files.table(engine, asked, self._times)
        self._note_repeated()
        recorded = [f"{name} IS NOT NULL" for column in metrics for name in _counts(column)]
        items = ["size", "rows", "deleted", f"{' OR '.join(recorded) or 'TRUE'} AS has_stats", "has_deletes AS has_dv"]
        items += ["path", "partition"] if needs.paths else []
        items += ["modified"] if needs.times else []
        items += ["parent"] if needs.parents else []
        items += ["CAST(NULL AS STRING) AS stats_text", "vector"] if needs.records else []
        for seen, column in zip(needs.domains, columns, strict=True):
            if seen in lifted and self._is_usable(column):
                items += domain_items(engine.dialect, names, seen, self._files.specs)
            elif column.role is Role.PARTITION:
                items += value_items(seen, names, needs)
            elif column in metrics and self._is_usable(column):
                items += MetricsSql(seen, Raw.of(int(column.physical[-1])), self._cut(column)).items(names, needs)
            else:
                items += unknown_items(seen, names, needs)
        for column in needs.partition_texts:
            value = f"v{column.physical[-1]}"
            items += [f"{value}_text AS {names.text(column)}", f"NOT {value}_known AS {names.is_missing(column)}"]
        return replace(names, source=f"(SELECT {', '.join(items)} FROM {table})")

    def file_key(self, engine: Engine, path: str) -> str:
        return shown_sql(engine.dialect, path, self._origin.paths.location)

    def uri(self, engine: Engine, path: str) -> str:
        dialect, paths = engine.dialect, self._origin.paths
        local = dialect.regexp_replace(path, "^(?i)file:/+", "/")
        is_elsewhere = f"{dialect.starts_with(local, dialect.text('/'))} OR contains({path}, '://')"
        return f"CASE WHEN {is_elsewhere} THEN {local} ELSE {dialect.text(paths.base + '/')} || {path} END"

    def _check_records(self, engine: Engine, needs: Needs) -> None:
        if needs.records and not isinstance(self._files, Files):
            what = f"the delete files of an Iceberg table are named by the embedded engine, not by {engine.name}"
            raise TableError("LP349", what, where=self.facts.location, fix="plan the table without Spark")

    def file_of(self, url: str) -> str:
        return self._origin.paths.shown(url)

    def row_source(self, paths: Collection[str] | None) -> RowSource:  # noqa: ARG002  # its runtime reads all of a snapshot
        origin = self._origin
        if origin.manifest_list is not None and not origin.paths.is_where_recorded(origin.manifest_list):
            why = f"the table was copied: its metadata records {origin.paths.location}, where Iceberg's runtime would read"
            raise TableError("LP364", "the table's rows cannot be read by spark", where=self.facts.location, why=why)
        place = origin.paths.place(origin.metadata)
        options = {} if origin.version is None else {"versionAsOf": origin.version}
        return RowSource("Iceberg Spark", "iceberg", (place,), ("_file",), options)

    def groups(self) -> Snapshot | None:
        # Iceberg's entries do not say in which manifest they stand: on Spark nothing is left out by manifests.
        return manifests_as_groups(self.facts, self._files) if isinstance(self._files, Files) else None

    def reads(self) -> Mapping[Level, Reads]:
        return {Level.MANIFEST: self._list_reads, Level.FILE: self._files.reads} if isinstance(self._files, Files) else {}

    def partition_values(self, text: str | None, column: Column, profile: Profile) -> tuple[Scalar, ...] | None:  # noqa: ARG002
        return (value_of(text, column.type),)

    def remedies(self) -> IcebergRemedies:
        from lakeprune.formats.iceberg.remedies import IcebergRemedies

        return IcebergRemedies(self.facts)

    def parquet_files(self) -> ParquetFiles:
        return ParquetFiles(
            self._storage,
            self._origin.paths.folder,
            field_ids=lambda column: int(column.physical[-1]),
            ids_by_name=None if self._stored.names is None else self._stored.names.ids_of,
            absent=self._stored.defaults.absent,
        )

    def has_defaults_inside(self, name: str) -> bool:
        """Whether a field inside a column has a value in files that lack it."""
        fields = self._stored.defaults.declared.get("fields", ())
        return any(field["name"] == name and "initial-default" in json.dumps(field["type"]) for field in fields)

    def check_whole(self) -> None:
        """Manifests are read in this process, and one that is gone is an error then."""

    def check_counted(self, files: int) -> None:
        """Iceberg's runtime does not notice a manifest that was cut off between two blocks; the manifest list counts files."""
        if isinstance(self._files, SparkEntries):
            self._files.check_counted(files, self.facts.location)

    def failure(self, error: EngineError) -> TableError:
        return super().failure(error) if isinstance(self._files, Files) else not_shown(error, self.facts.location)

    def traffic(self) -> Traffic | None:
        return self._storage.traffic()

    def close(self) -> None:
        self._storage.close()

    def _is_usable(self, column: Column) -> bool:
        """Nanoseconds are rounded down to microseconds in this process; on Spark nothing is made of them."""
        return column.statistics_unusable is None or (column.has_nanoseconds and isinstance(self._files, Files))

    def _cut(self, column: Column) -> int:
        """The length from which a recorded maximum may be a prefix: files of earlier settings have the default."""
        names = (f"write.metadata.metrics.column.{'.'.join(column.path)}", "write.metadata.metrics.default")
        modes = (self.facts.configuration.get(name, "") for name in names)
        cuts = (int(match[1]) for mode in modes if (match := _CUT.fullmatch(mode.strip().lower())))
        return min(_DEFAULT_CUT, *cuts, _DEFAULT_CUT)

    def _note_repeated(self) -> None:
        count = self._files.repeated_paths()
        note = Note(
            "paths_repeated", f"{count} live {'path stands' if count == 1 else 'paths stand'} in the manifests more than once"
        )
        if count and note not in self.facts.notes:
            self.facts = replace(self.facts, notes=(*self.facts.notes, note))


def _counts(column: Column) -> tuple[str, ...]:
    raw = Raw.of(int(column.physical[-1]))
    return raw.lo, raw.hi, raw.nulls
