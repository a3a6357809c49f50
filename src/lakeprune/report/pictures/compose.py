"""The picture of one explanation: strips, heat map, largest files. Reads the metadata, so it is made only when asked for."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from lakeprune.predicate.schema import Field, Role
from lakeprune.predicate.tree import Column
from lakeprune.predicate.walk import columns_of
from lakeprune.programs.patterns import Evaluation
from lakeprune.programs.sketch import Detail, Sketch, Subject
from lakeprune.report.model import FileReport
from lakeprune.report.pictures.lanes import Named, in_order
from lakeprune.report.pictures.model import (
    MOST_CELLS,
    MOST_LANES,
    MOST_MARKS,
    MOST_STRIPS,
    Cell,
    Counts,
    Heat,
    Picture,
    Strip,
    Undrawn,
)
from lakeprune.report.pictures.strips import Scene, binned_strip, exact_strip
from lakeprune.skipping.plan import Plan
from lakeprune.values.types import NESTED_KINDS, Family

_NOTHING: Counts = (0, 0, 0)


def compose(evaluation: Evaluation, plan: Plan, total: Counts, largest: Iterable[FileReport], *, has_predicate: bool) -> Picture:
    """The picture of a plan; `total` are the table's files by verdict."""
    facts = evaluation.snapshot.facts
    columns, undrawn = _drawn(plan)
    partitions = tuple(_column(field) for name in facts.partition_columns for field in facts.schema.fields if field.name == name)
    detail = Detail.FILES if sum(total) <= MOST_MARKS else Detail.BINS
    sketch = Sketch(evaluation, plan, Subject(tuple(columns), partitions, detail, has_predicate))
    found, count = sketch.partitions(MOST_CELLS)
    chosen = found[:MOST_LANES]
    seen: Counts = _sum(partition.files for partition in chosen)
    others = (count - len(chosen), (total[0] - seen[0], total[1] - seen[1], total[2] - seen[2]))
    lanes = tuple(in_order(chosen, partitions, evaluation))
    scene = Scene(sketch, plan, evaluation.profile, len(partitions), lanes, others)
    whole = replace(scene, lanes=(Named((), (), total, _NOTHING),), others=(0, _NOTHING))
    scenes = [whole if column.role is Role.PARTITION else scene for column in columns]
    strips = _strips(scenes, columns, detail) if sum(total) else [None for _ in columns]
    undrawn += [
        Undrawn(".".join(column.path), "no file has a minimum or maximum of it")
        for column, strip in zip(columns, strips, strict=True)
        if strip is None
    ]
    heat = _heat(in_order(found, partitions, evaluation), partitions, count) if partitions and sum(total) else None
    return Picture(tuple(strip for strip in strips if strip is not None), tuple(undrawn), heat, tuple(largest))


def _strips(scenes: list[Scene], columns: list[Column], detail: Detail) -> list[Strip | None]:
    scened = list(enumerate(zip(scenes, columns, strict=True)))
    if detail is Detail.FILES:
        marks = scenes[0].sketch.marks() if scenes else []
        return [exact_strip(scene, column, k, marks) for k, (scene, column) in scened]
    return [binned_strip(scene, column, k, scene.sketch.lanes([n.texts for n in scene.lanes])) for k, (scene, column) in scened]


def _drawn(plan: Plan) -> tuple[list[Column], list[Undrawn]]:
    """The columns of the predicate that have an order to draw, and why the others do not appear."""
    drawn: list[Column] = []
    undrawn: list[Undrawn] = []
    for column in dict.fromkeys(column for clause in plan.clauses for column in columns_of(clause.predicate)):
        name = ".".join(column.path)
        if column.type.kind in NESTED_KINDS or column.type.family in (None, Family.BYTES):
            undrawn.append(Undrawn(name, f"a {column.type} has no range that could be drawn"))
        elif column.statistics_unusable is not None:
            undrawn.append(Undrawn(name, column.statistics_unusable))
        elif len(drawn) == MOST_STRIPS:
            undrawn.append(Undrawn(name, f"only the first {MOST_STRIPS} columns of a predicate are drawn"))
        else:
            drawn.append(column)
    return drawn, undrawn


def _column(field: Field) -> Column:
    return Column((field.name,), (field.physical,), field.type, Role.PARTITION, field.statistics_unusable)


def _heat(cells: list[Named], partitions: tuple[Column, ...], count: int) -> Heat:
    names = tuple(column.path[0] for column in partitions)
    return Heat(names, tuple(Cell(cell.labels, cell.files, cell.bytes) for cell in cells), count)


def _sum(counts: Iterable[Counts]) -> Counts:
    columns = list(zip(*counts, strict=True)) or [(), (), ()]
    dropped, kept, full = map(sum, columns)
    return dropped, kept, full
