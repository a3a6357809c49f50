"""A snapshot made of Python rows: the files relation without any table behind it, for tests of what comes after reading."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.engine import Engine
from lakeprune.formats.delta.ladder import EVIDENCE
from lakeprune.formats.relation import Needs, Relation, relation_of
from lakeprune.formats.snapshot import Expected, Snapshot, SnapshotFacts, TableFeatures
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.predicate.tree import Column, Profile
from lakeprune.skipping.ladder import Evidence
from lakeprune.values.types import DataType, Family, Scalar

_SQL_TYPES = {
    Family.BOOLEAN: "BOOLEAN",
    Family.INTEGER: "BIGINT",
    Family.REAL: "DOUBLE",
    Family.DECIMAL: "DECIMAL(38, 10)",
    Family.TEXT: "VARCHAR",
    Family.BYTES: "BLOB",
}


class File(Struct, frozen=True):
    """One file: bounds as {column: (lo, hi, null count)}, None for what is not recorded."""

    path: str
    size: int | None = 1000  # None: not known
    rows: int | None = 10
    deleted: int = 0
    partition: Mapping[str, str | None] | None = None
    stats: Mapping[str, tuple[Any, Any, int | None]] | None = None
    lifted: Mapping[str, tuple[Any, Any, int | None]] | None = None  # the same, as partition values of other columns prove it
    modified: int | None = None


class RowsSnapshot(Snapshot):
    """A table of these columns and files; partition columns hold text."""

    def __init__(
        self,
        columns: Mapping[str, DataType],
        files: Sequence[File],
        *,
        partition_by: Sequence[str] = (),
        lifted: Sequence[str] = (),  # data columns about which partition values say something
        expected: Expected | None = None,
    ) -> None:
        fields = [
            Field(name, name, kind, Role.PARTITION if name in partition_by else Role.DATA) for name, kind in columns.items()
        ]
        self.files = files
        rungs_of = EVIDENCE.rungs_of
        self.facts = SnapshotFacts(
            "delta",
            "Delta table",
            Evidence(
                EVIDENCE.ladder, lambda column: frozenset(EVIDENCE.ladder) if column.path[0] in lifted else rungs_of(column)
            ),
            "rows",
            3,
            Schema(tuple(fields)),
            tuple(partition_by),
            TableFeatures(1, 2),
            expected=expected or Expected(),
        )

    def relation(self, engine: Engine, needs: Needs, profile: Profile) -> Relation:  # noqa: ARG002  # the NaN policy does not matter here
        names = ["size", "rows", "deleted", "has_stats", "has_dv", "path", "partition"]
        types = ["BIGINT", "BIGINT", "BIGINT", "BOOLEAN", "BOOLEAN", "VARCHAR", "VARCHAR"]
        named = relation_of(needs)
        for seen in needs.domains:
            assert seen.type.family is not None
            bound = _SQL_TYPES[seen.type.family]
            names += [named.lo(seen), named.hi(seen), named.is_truncated(seen), named.no_null(seen)]
            names += [named.all_null(seen), named.nan_free(seen), named.has_nan(seen), named.is_counted(seen)]
            types += [bound, bound, *["BOOLEAN"] * 6]
        if needs.times:
            names.append("modified")
            types.append("BIGINT")
        for column in needs.partition_texts:
            names += [named.text(column), named.is_missing(column)]
            types += ["VARCHAR", "BOOLEAN"]
        return replace(named, source=engine.lookup(names, types, [self._row(file, needs) for file in self.files]))

    def _row(self, file: File, needs: Needs) -> tuple[Any, ...]:
        partition = dict(file.partition or {})
        flags = [file.stats is not None, file.deleted > 0]
        row: list[Any] = [file.size, file.rows, file.deleted, *flags, file.path, json.dumps(partition)]
        for seen in needs.domains:
            (rung,) = seen.rungs
            if seen.column.role is Role.PARTITION:
                row += _partition_domain(partition, seen.column)
            else:
                row += _domain(file, file.stats if rung is EVIDENCE.ladder[-1] else file.lifted, seen.column)
        if needs.times:
            row.append(file.modified)
        for column in needs.partition_texts:
            row += [partition.get(column.path[0]), column.path[0] not in partition]
        return tuple(row)

    def check_whole(self) -> None:
        """Nothing of it can vanish."""

    def partition_values(self, text: str | None, column: Column, profile: Profile) -> tuple[Scalar, ...] | None:  # noqa: ARG002
        return (text,)


def _partition_domain(partition: Mapping[str, str | None], column: Column) -> list[Any]:
    value = partition.get(column.path[0])
    known = column.path[0] in partition
    return [value, value, False, value is not None, known and value is None, True, False, known]


def _domain(file: File, known: Mapping[str, tuple[Any, Any, int | None]] | None, column: Column) -> list[Any]:
    lo, hi, nulls = (known or {}).get(column.path[0], (None, None, None))
    all_null = nulls is not None and nulls == file.rows
    return [lo, hi, False, nulls == 0, all_null, column.type.family is not Family.REAL, False, nulls is not None]
