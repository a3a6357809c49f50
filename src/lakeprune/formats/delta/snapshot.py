"""A Delta table at one version: its facts, and the SQL of its files relation.

In: a replay and a schema. Out: the relation engines/engine.py describes, in layers: live files, parsed statistics, texts, bounds,
domains. Nothing is read until the engine runs the SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.dialect import Dialect
from lakeprune.engines.engine import Engine, EngineError
from lakeprune.errors import TableError
from lakeprune.formats.delta.actions import Declared
from lakeprune.formats.delta.bounds import Stored
from lakeprune.formats.delta.checkpoint import JsonPart, ParquetPart, needed_for
from lakeprune.formats.delta.features import vector_notes
from lakeprune.formats.delta.generated_columns import Source
from lakeprune.formats.delta.ladder import PARTITION, STATISTICS
from lakeprune.formats.delta.log_files import Segment
from lakeprune.formats.delta.nan_aware import commits_to_read, digest_of, nan_aware_files
from lakeprune.formats.delta.partition_sql import PartitionSql
from lakeprune.formats.delta.partition_values import values_of
from lakeprune.formats.delta.replay import Replay, Wanted, key_of
from lakeprune.formats.delta.schema import DeltaSchema
from lakeprune.formats.delta.statistics import StatisticsSql, statistics_column
from lakeprune.formats.relation import Needs, Relation, relation_of
from lakeprune.formats.snapshot import Note, ParquetFiles, Snapshot, SnapshotFacts
from lakeprune.predicate.schema import Role, leaf_paths
from lakeprune.predicate.tree import Column, NanPolicy, Profile
from lakeprune.skipping.ladder import Seen
from lakeprune.storage.storage import Storage, Traffic
from lakeprune.values.types import Family, Scalar

if TYPE_CHECKING:
    from lakeprune.formats.commit import Commit
    from lakeprune.formats.delta.lifted_sql import LiftedSql
    from lakeprune.formats.delta.remedies import DeltaRemedies
    from lakeprune.formats.delta.spark_skipping import DeltaSpark

_DEFAULT_PREFIX = 32


class DeltaSnapshot(Snapshot):
    def __init__(  # noqa: PLR0913  # one caller, open_delta.py, which has them all
        self,
        facts: SnapshotFacts,
        declared: Declared,
        replay: Replay,
        storage: Storage,
        segment: Segment,
        columns: DeltaSchema,
        sources: tuple[Source, ...],
    ) -> None:
        assert facts.version is not None, "every Delta table has versions"
        self.facts = facts
        self.declared = declared
        self._version = facts.version
        self._replay = replay
        self._bytes = replay.bytes  # also once it is kept
        self._storage = storage
        self._segment = segment
        self._once_float = columns.once_float
        self._field_ids = columns.field_ids
        self._sources = {source.physical: source for source in sources}
        self._aware: tuple[str | None] | None = None  # once it is known for good

    def keep(self, engine: Engine) -> None:
        self._replay = self._replay.in_memory() if self._has_typed_statistics() else self._replay.replayed()
        if any(path[-1].type.family is Family.REAL for path in leaf_paths(self.facts.schema.fields)):
            self._aware = (nan_aware_files(engine, self._storage, commits_to_read(self._storage, self._segment)),)

    def kept_records(self) -> str | None:
        live = self._replay.live
        if live is None:
            return None
        ((is_unique,),) = self._replay.engine.query(f"SELECT count(*) = count(DISTINCT path) FROM {live}")
        return f"(SELECT path, modified, stats AS stats_text, vector FROM {live})" if is_unique else None

    def metadata_bytes(self) -> int:
        return self._bytes

    @property
    def storage(self) -> Storage:
        """Where the log lies."""
        return self._storage

    @property
    def once_float(self) -> frozenset[tuple[str, ...]]:
        return self._once_float

    @property
    def field_ids(self) -> dict[tuple[str, ...], int]:
        return self._field_ids

    def relation(self, engine: Engine, needs: Needs, profile: Profile) -> Relation:
        dialect, names = engine.dialect, relation_of(needs)
        by_partition = [
            self._lifted(dialect, k, seen)
            if seen.column.role is Role.DATA
            else _PartitionColumn(PartitionSql(dialect, k, seen.type, profile), seen)
            for k, seen in enumerate(needs.domains)
            if PARTITION in seen.rungs
        ]
        statistics, aware = self._statistics(engine, needs, profile)
        partitions = bool(by_partition or needs.partition_texts or (needs.paths and self.facts.partition_columns))
        if statistics.typed:
            self._storage.need(needed_for(statistics))
        files = self._replay.sql(Wanted(statistics, partitions, needs.paths, needs.times, aware is not None, needs.records))
        if aware is not None:
            same = f"aware.file = files.file AND aware.digest = {digest_of('stats')}"
            joined = f"({files}) AS files LEFT JOIN {aware} AS aware ON {same}"
            files = f"SELECT files.*, aware.file IS NOT NULL AS nan_aware FROM {joined}"

        layer = f"SELECT *, {statistics.parsed()} AS s FROM ({files})"
        texts = [item for column in by_partition for item in column.texts(dialect)]
        layer = f"SELECT {', '.join(['*', 's IS NOT NULL AS is_json', *statistics.stored(), *texts])} FROM ({layer})"
        layer = f"SELECT *, {statistics.strict()} AS z FROM ({layer})"
        values = ["*", *statistics.values(), *(item for column in by_partition for item in column.sql.values())]
        layer = f"SELECT {', '.join(values)} FROM ({layer})"
        lifted = [column.sql.steps() for column in by_partition if isinstance(column, _Lifted)]
        for step in zip(*lifted, strict=True):
            if several := [item for items in step for item in items]:
                layer = f"SELECT *, {', '.join(several)} FROM ({layer})"
        items = ", ".join(self._columns(dialect, needs, names, statistics, by_partition))
        return replace(names, source=f"(SELECT {items} FROM ({layer}))")

    def partition_values(self, text: str | None, column: Column, profile: Profile) -> tuple[Scalar, ...] | None:
        return values_of(text, column.type, profile)

    def file_key(self, engine: Engine, path: str) -> str:
        return key_of(engine.dialect, path, self._storage.root)

    def uri(self, engine: Engine, path: str) -> str:
        dialect, key = engine.dialect, self.file_key(engine, path)
        inside = f"{dialect.text(self._storage.root.rstrip('/') + '/')} || {key}"
        is_elsewhere = f"{dialect.starts_with(key, dialect.text('/'))} OR contains({key}, '://')"
        return f"CASE WHEN {is_elsewhere} THEN {key} ELSE {inside} END"

    def parquet_files(self) -> ParquetFiles:
        ids = self._field_ids
        is_by_id = self.facts.features.column_mapping_mode == "id"
        return ParquetFiles(self._storage, field_ids=(lambda column: ids.get(column.physical)) if is_by_id else None)

    def writers(self, engine: Engine, paths: Sequence[str]) -> dict[str, str]:
        from lakeprune.formats.delta.writers import writers_of

        return writers_of(engine, self._storage, self._version, paths)

    def remedies(self) -> DeltaRemedies:
        from lakeprune.formats.delta.remedies import DeltaRemedies

        return DeltaRemedies(self.facts)

    def own_skipping(self, profile: Profile) -> DeltaSpark:
        from lakeprune.formats.delta.spark_skipping import DeltaSpark

        return DeltaSpark(self.facts, profile)

    def counted_notes(self, with_vector: int, without_rows: int) -> list[Note]:
        return vector_notes(self.facts.features, with_vector, without_rows)

    def check_whole(self) -> None:
        if self._replay.kept is not None:
            return
        # Engines pass over a text file that is gone, and with it over the files it added: log cleanup must not look like that.
        gone = self._storage.missing(self._json_paths())
        if gone is not None:
            what, why = "a file of the log is gone since the table was opened", "what was read of the log may be incomplete"
            raise TableError("LP306", what, where=self._storage.with_places(gone), why=why, fix="explain the table again")

    def failure(self, error: EngineError) -> TableError:
        from lakeprune.formats.delta.failures import log_failure

        self.check_whole()
        return log_failure(str(error), self._storage, self._json_paths())

    def newest_version(self) -> int | None:
        from lakeprune.formats.delta.commits import newest_version

        return newest_version(self._storage, self._version)

    def commit_marked(self, mark: str) -> Commit | None:
        from lakeprune.formats.delta.commits import commit_marked

        return commit_marked(self._storage, self._version + 1, mark)

    def traffic(self) -> Traffic | None:
        return self._storage.traffic()

    def close(self) -> None:
        self._storage.close()

    def _json_paths(self) -> list[str]:
        parts = [self._replay.commits, *self._replay.parts]
        return [path for part in parts if isinstance(part, JsonPart) for path in part.paths]

    def _lifted(self, dialect: Dialect, k: int, seen: Seen) -> _Lifted:
        from lakeprune.formats.delta.lifted_sql import LiftedSql  # few tables have generated columns

        return _Lifted(LiftedSql(dialect, k, self._sources[seen.column.physical]), seen)

    def _has_typed_statistics(self) -> bool:
        return any(
            isinstance(part, ParquetPart) and isinstance(part.fields["add"].get("stats_parsed"), dict)
            for part in self._replay.parts
        )

    def _statistics(self, engine: Engine, needs: Needs, profile: Profile) -> tuple[StatisticsSql, str | None]:
        """The SQL of statistics, and the files whose maximum shows NaN where some column needs to know."""
        columns = tuple(
            statistics_column(k, seen, Stored(seen.type, seen.column.physical in self._once_float, self._prefix_length()))
            for k, seen in enumerate(needs.domains)
            if STATISTICS in seen.rungs
        )
        typed = self._has_typed_statistics()
        is_trusted = profile.nan_policy is NanPolicy.SPARK_WRITERS
        aware = None
        if not is_trusted and any(column.has_bounds and column.seen.type.family is Family.REAL for column in columns):
            (aware,) = self._aware or (nan_aware_files(engine, self._storage, commits_to_read(self._storage, self._segment)),)
        nan_aware = "nan_aware" if aware is not None else "TRUE" if is_trusted else "FALSE"
        return StatisticsSql(engine.dialect, columns, typed, nan_aware), aware

    def _columns(
        self,
        dialect: Dialect,
        needs: Needs,
        names: Relation,
        statistics: StatisticsSql,
        by_partition: Sequence[_PartitionColumn | _Lifted],
    ) -> list[str]:
        bad_size = dialect.fail("a file of the table has no size, or a negative one")
        rows = "CASE WHEN recorded_rows >= 0 THEN recorded_rows END"
        is_sane = f"cardinality >= 0 AND cardinality <= coalesce({rows}, cardinality)"
        items = [
            f"CASE WHEN size >= 0 THEN size ELSE {bad_size} END AS size",
            f"{rows} AS rows",
            f"CASE WHEN NOT has_dv THEN 0 WHEN {is_sane} THEN cardinality END AS deleted",
            f"{_has_stats(statistics)} AS has_stats",
            "has_dv",
        ]
        if needs.paths:
            items += ["path", f"{self._partition_json(dialect)} AS partition"]
        if needs.times:
            items.append("modified")
        if needs.records:
            items += ["stats AS stats_text", "vector"]
        for known in statistics.columns:
            items += statistics.domains(known, names) + (statistics.recorded(known, names) if needs.recorded else [])
        for partition in by_partition:
            items += partition.sql.domains(partition.seen, names)
        for column in needs.partition_texts:
            value, missing = _partition_text(dialect, column.physical[0])
            items += [f"{value} AS {names.text(column)}", f"{missing} AS {names.is_missing(column)}"]
        return items

    def _partition_json(self, dialect: Dialect) -> str:
        physical = {field.name: field.physical for field in self.facts.schema.fields}
        if not self.facts.partition_columns:
            return "'{}'"
        return dialect.json_object(
            [(name, dialect.map_value("partition_values", physical[name])) for name in self.facts.partition_columns]
        )

    def _prefix_length(self) -> int:
        """The length from which a maximum may be truncated."""
        stated = self.facts.configuration.get("delta.dataSkippingStringPrefixLength", "")
        return min(_DEFAULT_PREFIX, int(stated)) if stated.isascii() and stated.isdigit() and len(stated) < 9 else _DEFAULT_PREFIX


class _PartitionColumn(Struct, frozen=True):
    sql: PartitionSql
    seen: Seen

    def texts(self, dialect: Dialect) -> list[str]:
        value, missing = _partition_text(dialect, self.seen.column.physical[0])
        return [f"{value} AS t{self.sql.k}", f"{missing} AS t{self.sql.k}_missing"]


class _Lifted(Struct, frozen=True):
    sql: LiftedSql
    seen: Seen

    def texts(self, dialect: Dialect) -> list[str]:
        items = []
        for column, sql in self.sql.values_of():
            value, missing = _partition_text(dialect, column.physical)
            items += [f"{value} AS t{sql.k}", f"{missing} AS t{sql.k}_missing"]
        return items


def _partition_text(dialect: Dialect, physical: str) -> tuple[str, str]:
    """The recorded text and whether there is none; only a NULL needs the second look."""
    value = dialect.map_value("partition_values", physical)
    return value, f"CASE WHEN {value} IS NOT NULL THEN FALSE ELSE NOT {dialect.map_has_key('partition_values', physical)} END"


def _has_stats(statistics: StatisticsSql) -> str:
    """Statistics are there when they are readable and say at least how many rows there are, or anything asked for."""
    known = ["recorded_rows IS NOT NULL"]
    for column in statistics.columns:
        known += [f"b{column.k}_{part} IS NOT NULL" for part in ("lo", "hi", "n")]
    return "(" + " OR ".join(known) + ")"
