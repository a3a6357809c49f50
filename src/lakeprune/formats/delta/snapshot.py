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
from lakeprune.formats.delta.bounds import Stored
from lakeprune.formats.delta.checkpoint import JsonPart, ParquetPart
from lakeprune.formats.delta.column_use import needed_for
from lakeprune.formats.delta.file_actions import Wanted, key_of
from lakeprune.formats.delta.partition_sql import PartitionSql
from lakeprune.formats.delta.partition_values import values_of
from lakeprune.formats.delta.replay import Replay
from lakeprune.formats.delta.statistics import StatisticsSql, statistics_column
from lakeprune.formats.relation import Needs, Relation, relation_of
from lakeprune.formats.snapshot import Snapshot, SnapshotFacts
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Profile
from lakeprune.storage.storage import Storage, Traffic
from lakeprune.values.types import Scalar

if TYPE_CHECKING:
    from lakeprune.formats.commit import Commit
    from lakeprune.formats.delta.remedies import DeltaRemedies
    from lakeprune.formats.delta.spark_skipping import DeltaSpark

_DEFAULT_PREFIX = 32


class DeltaSnapshot(Snapshot):
    def __init__(self, facts: SnapshotFacts, replay: Replay, storage: Storage, once_float: frozenset[tuple[str, ...]]) -> None:
        assert facts.version is not None, "every Delta table has versions"
        self.facts = facts
        self._version = facts.version
        self._replay = replay
        self._storage = storage
        self._once_float = once_float

    def relation(self, engine: Engine, needs: Needs, profile: Profile) -> Relation:
        dialect, names = engine.dialect, relation_of(needs)
        by_partition = [
            _PartitionColumn(PartitionSql(dialect, k, column.type, profile), column)
            for k, column in enumerate(needs.domains)
            if column.role is Role.PARTITION
        ]
        statistics = self._statistics(dialect, needs, profile)
        partitions = bool(by_partition or needs.partition_texts or (needs.paths and self.facts.partition_columns))
        if statistics.typed:
            self._storage.need(needed_for(statistics))
        files = self._replay.sql(Wanted(statistics, partitions, needs.paths, needs.times))

        layer = f"SELECT *, {statistics.parsed()} AS s FROM ({files})"
        texts = [item for column in by_partition for item in column.texts(dialect)]
        layer = f"SELECT {', '.join(['*', 's IS NOT NULL AS is_json', *statistics.stored(), *texts])} FROM ({layer})"
        layer = f"SELECT *, {statistics.strict()} AS z FROM ({layer})"
        values = ["*", *statistics.values(), *(item for column in by_partition for item in column.sql.values())]
        layer = f"SELECT {', '.join(values)} FROM ({layer})"
        items = ", ".join(self._columns(dialect, needs, names, statistics, by_partition))
        return replace(names, source=f"(SELECT {items} FROM ({layer}))")

    def partition_values(self, text: str | None, column: Column, profile: Profile) -> tuple[Scalar, ...] | None:
        return values_of(text, column.type, profile)

    def file_key(self, engine: Engine, path: str) -> str:
        return key_of(engine.dialect, path, self._storage.root)

    def writers(self, engine: Engine, paths: Sequence[str]) -> dict[str, str]:
        from lakeprune.formats.delta.writers import writers_of

        return writers_of(engine, self._storage, self._version, paths)

    def remedies(self) -> DeltaRemedies:
        from lakeprune.formats.delta.remedies import DeltaRemedies

        return DeltaRemedies(self.facts)

    def own_skipping(self, profile: Profile) -> DeltaSpark:
        from lakeprune.formats.delta.spark_skipping import DeltaSpark

        return DeltaSpark(self.facts, profile)

    def check_whole(self) -> None:
        # Engines pass over a text file that is gone, and with it over the files it added: log cleanup must not look like that.
        gone = self._storage.missing(self._json_paths())
        if gone is not None:
            from lakeprune.formats.delta.failures import vanished

            raise vanished(self._storage.with_places(gone))

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

    def _statistics(self, dialect: Dialect, needs: Needs, profile: Profile) -> StatisticsSql:
        columns = tuple(
            statistics_column(k, column, Stored(column.type, column.physical in self._once_float, self._prefix_length()))
            for k, column in enumerate(needs.domains)
            if column.role is Role.DATA
        )
        typed = any(
            isinstance(part, ParquetPart) and isinstance(part.fields["add"].get("stats_parsed"), dict)
            for part in self._replay.parts
        )
        return StatisticsSql(dialect, columns, typed, profile.nan_aware_writers)

    def _columns(
        self,
        dialect: Dialect,
        needs: Needs,
        names: Relation,
        statistics: StatisticsSql,
        by_partition: list[_PartitionColumn],
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
        for known in statistics.columns:
            items += statistics.domains(known, names) + (statistics.recorded(known, names) if needs.recorded else [])
        for partition in by_partition:
            items += partition.sql.domains(partition.column, names)
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
    column: Column

    def texts(self, dialect: Dialect) -> list[str]:
        value, missing = _partition_text(dialect, self.column.physical[0])
        return [f"{value} AS t{self.sql.k}", f"{missing} AS t{self.sql.k}_missing"]


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
