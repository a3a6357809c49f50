"""Random tables in files of many small row groups, and what the rows of each row group say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from lakeprune.predicate.tree import Column
from lakeprune.predicate.walk import columns_of
from lakeprune.programs.patterns import Evaluation
from lakeprune.programs.row_groups import Asked, RowGroups, Subject
from lakeprune.skipping.plan import Plan
from tests.formats.iceberg import random_tables
from tests.formats.iceberg.widening import wider
from tests.formats.parquet.random_files import write_rows
from tests.formats.parquet.thrift import MAX, MIN, Fields, patch, statistics_in
from tests.soundness.delta_log import arrow_rows, write_log
from tests.soundness.tables import FileSpec, Table
from tests.soundness.truth import Seen, Truth


def write_delta(table: Table, root: Path, rng: Random) -> None:
    log = root / "_delta_log"
    log.mkdir(parents=True)
    for file in table.files:
        write_rows(arrow_rows(table, file), root / file.name, rng)
    write_log(table, log)


def widen(place: Path, types: Mapping[str, str], rng: Random) -> None:
    """Some of the bounds of a footer are wider, and everything else is as it was."""

    def change(footer: Fields) -> None:
        for name, statistics in statistics_in(footer):
            for field in (MIN, MAX):
                if field in statistics and rng.random() < 0.7 and not types[name].startswith("decimal"):
                    kind, bound = statistics[field]
                    statistics[field] = (kind, wider(bound, types[name], rng, is_upper=field == MAX))

    patch(place, change)


def types_of(table: Table) -> dict[str, str]:
    """The types of columns by their names in footers, as Iceberg calls them."""
    return {".".join(column.physical): random_tables.iceberg_type(column.type) for column in table.data_columns}


def groups_of(table: Table, root: Path) -> list[tuple[str, int, FileSpec]]:
    """Path, row group and a file that has nothing but its live rows."""
    found = []
    for file in table.files:
        metadata = pq.ParquetFile(root / file.name).metadata
        start = 0
        for number in range(metadata.num_row_groups):
            end = start + metadata.row_group(number).num_rows
            others = frozenset(row for row in range(len(file.rows)) if not start <= row < end)
            found.append((file.name, number, replace(file, deleted=file.deleted | others)))
            start = end
    return found


class GroupTruth:
    """What the rows of each row group say."""

    def __init__(self, table: Table, root: Path) -> None:
        groups = groups_of(table, root)
        self._keys = [(path, number) for path, number, _ in groups]
        self._truth = Truth(replace(table, files=tuple(file for _, _, file in groups)), root) if groups else None

    def seen(self, predicates: Sequence[str]) -> list[dict[tuple[str, int], Seen] | None]:
        if self._truth is None:
            return [{} for _ in predicates]
        found = self._truth.seen(predicates)
        return [None if each is None else dict(zip(self._keys, each, strict=True)) for each in found]

    def close(self) -> None:
        if self._truth is not None:
            self._truth.close()


def row_groups_of(evaluation: Evaluation, plans: Sequence[Plan]) -> RowGroups:
    return RowGroups(evaluation, [Subject(plan, read_by(plan)) for plan in plans], Asked())


def read_by(plan: Plan) -> tuple[Column, ...]:
    return tuple(dict.fromkeys(column for clause in plan.clauses for column in columns_of(clause.predicate)))


def kept_groups(groups: RowGroups, number: int) -> set[tuple[str, int]]:
    return {key for key, verdict in _verdicts(groups, number) if verdict != "DROP"}


def _verdicts(groups: RowGroups, number: int) -> Iterator[tuple[tuple[str, int], str]]:
    for file in groups.listed(number):
        for group in file.row_groups:
            yield (file.path, group.number), group.signature.verdict.name


Write = Callable[[Table, Path, Random], None]


def write_iceberg(table: Table, root: Path, rng: Random) -> None:
    """An Iceberg table whose files are in many row groups; some of them have no field ids, and prove nothing."""
    random_tables.write(table, root, rng)
    _, ids = random_tables._schema(table.columns)
    for file in table.files:
        rows = arrow_rows(table, file)
        if rng.random() < 0.9:
            rows = rows.cast(pa.schema([_with_ids(field, (field.name,), ids) for field in rows.schema]))
        pq.write_table(rows, root / file.name, row_group_size=rng.randint(1, 3), store_decimal_as_integer=rng.random() < 0.5)


def _with_ids(field: pa.Field, path: tuple[str, ...], ids: dict[tuple[str, ...], int]) -> pa.Field:
    kind = field.type
    if pa.types.is_struct(kind):
        kind = pa.struct([_with_ids(kind.field(n), (*path, kind.field(n).name), ids) for n in range(kind.num_fields)])
    return pa.field(field.name, kind, metadata={"PARQUET:field_id": str(ids[path])})
