"""Random tables: columns, files with rows, and the statistics that some writer left behind for each file.

In: a `random.Random`. Out: a `Table`, complete in memory. delta_log.py writes it down; truth.py asks DuckDB about its rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.generator.columns import ColumnSpec, random_columns
from tests.generator.values import FLOATS, in_zone
from tests.soundness.partition_texts import Recorded, record_value
from tests.soundness.statistics import Statistics, random_statistics
from tests.soundness.writers import Writer

ZONES = ("America/New_York", "Australia/Melbourne", "America/St_Johns", "Asia/Kolkata")
Row = dict[tuple[str, ...], Any]


@dataclass(frozen=True)
class FileSpec:
    name: str
    rows: tuple[Row, ...]
    deleted: frozenset[int]
    partition: dict[ColumnSpec, Recorded]
    statistics: Statistics
    size: int

    @property
    def live(self) -> list[int]:
        return [i for i in range(len(self.rows)) if i not in self.deleted]


class Layout:
    """How the log is written down."""

    COMMITS = "commits"
    CHECKPOINT_JSON = "checkpoint with stats"
    CHECKPOINT_STRUCT = "checkpoint with stats_parsed"
    CHECKPOINT_BOTH = "checkpoint with stats and stats_parsed"
    ALL = (COMMITS, CHECKPOINT_JSON, CHECKPOINT_STRUCT, CHECKPOINT_BOTH)


@dataclass(frozen=True)
class Table:
    columns: tuple[ColumnSpec, ...]
    files: tuple[FileSpec, ...]
    mapped: bool
    layout: str
    zone: str
    zone_is_given: bool
    nan_aware: bool
    configuration: dict[str, str] = field(default_factory=dict)

    @property
    def data_columns(self) -> list[ColumnSpec]:
        return [c for c in self.columns if not c.is_partition]

    @property
    def partition_columns(self) -> list[ColumnSpec]:
        return [c for c in self.columns if c.is_partition]

    def degraded(self, rng: Random) -> Table:
        """The same table with less known: every file loses statistics, or has them widened; nothing is added."""
        return replace(self, files=tuple(replace(f, statistics=f.statistics.degraded(rng)) for f in self.files))


def random_table(rng: Random) -> Table:
    mapped = rng.random() < 0.2
    given = rng.random() < 0.3
    zone = rng.choice(ZONES) if given and rng.random() < 0.5 else "UTC"
    columns = tuple(replace(c, pool=in_zone(c.pool, c.type, zone)) for c in random_columns(rng, mapped=mapped))
    nan_aware = rng.random() < 0.15
    writers = [Writer.SPARK, Writer.OLD_SPARK] if nan_aware else list(Writer)
    files = tuple(_random_file(number, columns, rng, rng.choice(writers)) for number in range(rng.randint(3, 9)))
    return Table(columns, files, mapped, rng.choice(Layout.ALL), zone, given, nan_aware)


def _random_file(number: int, columns: tuple[ColumnSpec, ...], rng: Random, writer: Writer) -> FileSpec:
    count = rng.choice([0, 1, 1, 2, 3, 4, 6])
    data = [c for c in columns if not c.is_partition]
    drawn = {c.path: _column_values(c, count, rng) for c in data}
    absent_structs = [rng.random() < 0.15 for _ in range(count)]
    rows = []
    for i in range(count):
        row = {path: values[i] for path, values in drawn.items()}
        if absent_structs[i]:
            row = {path: None if len(path) > 1 else value for path, value in row.items()}
        rows.append(row)
    deleted = frozenset(i for i in range(count) if rng.random() < 0.4) if rng.random() < 0.25 else frozenset()
    partition = {c: record_value(c, rng) for c in columns if c.is_partition}
    statistics = random_statistics(data, rows, deleted, writer, rng)
    return FileSpec(f"part-{number:05d}.parquet", tuple(rows), deleted, partition, statistics, 1 << number)


def _column_values(column: ColumnSpec, count: int, rng: Random) -> list[Any]:
    """Values from a window of the pool: files of one table touch, overlap or stay apart."""
    start = rng.randrange(len(column.pool))
    window = column.pool[start : start + rng.choice([1, 1, 2, 3, 5])]
    values: list[Any] = [rng.choice(window) for _ in range(count)]
    nulls = rng.choice([0.0, 0.0, 0.0, 0.3, 1.0]) if rng.random() < 0.6 else 0.0
    nans = 0.4 if column.type in FLOATS and rng.random() < 0.4 else 0.0
    values = [math.nan if rng.random() < nans else v for v in values]
    return [None if rng.random() < nulls else v for v in values]
