"""One small table made by hand, asked one question: what lakeprune says, and whether the rows allow it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.generator.columns import ColumnSpec
from tests.soundness.delta_log import write_table
from tests.soundness.partition_texts import Recorded
from tests.soundness.pruning import Pruner
from tests.soundness.statistics import Statistics
from tests.soundness.tables import FileSpec, Layout, Row, Table
from tests.soundness.tight import profile_of
from tests.soundness.truth import Truth
from tests.soundness.verdict import Verdict, complaint
from tests.soundness.writers import Bounds, Writer, bounds_of


@dataclass(frozen=True)
class Scene:
    """Files of one column `x`, each a list of values, with the statistics that `writer` would record."""

    type: str
    files: Sequence[Sequence[Any]]
    writer: Writer = Writer.SPARK
    partition: Recorded | None = None  # of a column `p`, the same for every file
    partition_type: str = "string"
    without_null_counts: bool = False
    zone: str | None = None
    nan_aware: bool = False
    deleted: frozenset[int] = frozenset()
    stated: Mapping[int, Bounds] = field(default_factory=dict)  # by file: bounds instead of the writer's
    layout: str = Layout.COMMITS


def table_of(scene: Scene) -> Table:
    x = ColumnSpec(("x",), ("x",), scene.type)
    p = ColumnSpec(("p",), ("p",), scene.partition_type, is_partition=True)
    files = []
    for number, values in enumerate(scene.files):
        bounds = {x: scene.stated.get(number) or bounds_of(values, scene.type, scene.writer)}
        nulls = {x: None if scene.without_null_counts else sum(v is None for v in values)}
        partition = {} if scene.partition is None else {p: scene.partition}
        rows: tuple[Row, ...] = tuple({("x",): value} for value in values)
        statistics = Statistics(scene.writer, len(values), bounds, nulls)
        files.append(FileSpec(f"part-{number:05d}.parquet", rows, scene.deleted, partition, statistics, 1 << number))
    columns = (x,) if scene.partition is None else (x, p)
    zone, given = scene.zone or "UTC", scene.zone is not None
    return Table(columns, tuple(files), False, scene.layout, zone, given, scene.nan_aware)


def verdicts(scene: Scene, where: str, root: Path) -> list[Verdict]:
    """What lakeprune says about each file."""
    table = table_of(scene)
    if not root.joinpath("_delta_log").exists():
        write_table(table, root)
    pruner = Pruner(root, profile_of(table))
    return pruner.verdicts([pruner.plan(where)])[0]


def complaints(scene: Scene, where: str, root: Path, duckdb: str | None = None) -> list[str]:
    """Everything that is unsound about the verdicts; `duckdb` is the predicate in DuckDB's words when they differ."""
    found = verdicts(scene, where, root)
    truth = Truth(table_of(scene), root)
    (seen,) = truth.seen([duckdb or where])
    truth.close()
    assert seen is not None, truth
    return [problem for verdict, one in zip(found, seen, strict=True) if (problem := complaint(verdict, one)) is not None]
