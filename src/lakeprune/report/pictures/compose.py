"""The picture of one explanation: strips, heat map, largest files. Reads the metadata, so it is made only when asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column
from lakeprune.predicate.walk import columns_of
from lakeprune.programs.patterns import Evaluation
from lakeprune.programs.sketch import Sketch, Subject
from lakeprune.report.model import FileReport
from lakeprune.report.pictures.model import (
    MOST_CELLS,
    MOST_LANES,
    MOST_MARKS,
    MOST_STRIPS,
    VERDICTS,
    Cell,
    Counts,
    Heat,
    Picture,
    Undrawn,
)
from lakeprune.report.pictures.strips import Lanes, strip
from lakeprune.skipping.plan import Plan
from lakeprune.values.types import NESTED_KINDS, Family


def compose(evaluation: Evaluation, plan: Plan, total: Counts, largest: Iterable[FileReport], *, has_predicate: bool) -> Picture:
    """The picture of a plan; `total` are the table's files by shade."""
    facts = evaluation.snapshot.facts
    fields = {field.name: field for field in facts.schema.fields}
    partitions = tuple(Column.at((fields[name],)) for name in facts.partition_columns)
    columns, undrawn = _drawn(plan)
    sketch = Sketch(evaluation, plan, Subject(tuple(columns), partitions, sum(total) <= MOST_MARKS, has_predicate))
    cells, count = _partitions(sketch) if partitions and sum(total) else ([], 0)
    whole = Lanes(sketch.lanes([]), (("all files", total),))
    # Files of one partition need no lanes, nor does a partition column, on whose axis they lie apart.
    # Partitions of one file share a lane: a lane each would be a page of air.
    apart = [cell for cell in cells if sum(cell.files) > 1][:MOST_LANES] if count > 1 else []
    lanes = _lanes(sketch, _in_order(apart, evaluation, partitions), cells, count, total) if apart else whole
    strips = []
    for k, column in enumerate(columns):
        found = strip(sketch, k, whole if column.role is Role.PARTITION else lanes, plan, evaluation.profile)
        if found is None:
            undrawn.append(Undrawn(".".join(column.path), "no file has a minimum or maximum of it"))
        else:
            strips.append(found)
    heat = Heat(facts.partition_columns, tuple(_in_order(cells, evaluation, partitions)), count) if count else None
    return Picture(tuple(strips), tuple(undrawn), heat, tuple(largest))


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


def _partitions(sketch: Sketch) -> tuple[list[Cell], int]:
    """The partitions with most to read, and how many there are."""
    rows, count = sketch.partitions(MOST_CELLS)
    cells = []
    shades = len(VERDICTS)
    for row in rows:
        numbers = tuple(map(int, row[-2 * shades :]))
        cells.append(Cell(tuple(row[: -2 * shades]), numbers[:shades], numbers[shades:]))
    return cells, count


def _in_order(cells: list[Cell], evaluation: Evaluation, columns: tuple[Column, ...]) -> list[Cell]:
    """The partitions in the order of their values, not of their texts: 2 before 10, NULL last."""

    def key(text: str | None, column: Column) -> tuple[int, Any]:
        values = evaluation.snapshot.partition_values(text, column, evaluation.profile)
        if values is None:
            return 1, text or ""
        return (2, "") if not values or values[0] is None else (0, values[0])

    return sorted(cells, key=lambda cell: [key(text, column) for text, column in zip(cell.texts, columns, strict=True)])


def _lanes(sketch: Sketch, apart: list[Cell], cells: list[Cell], count: int, total: Counts) -> Lanes:
    """A lane for each of the partitions `apart`, and one for all others; `cells` are those of `count` that are known."""
    labels = [(" / ".join(cell.labels), cell.files) for cell in apart]
    if others := count - len(apart):
        rest = tuple(every - sum(cell.files[shade] for cell in apart) for shade, every in enumerate(total))
        partitions = f"partition{'s' if others > 1 else ''}"
        is_single = sum(rest) == others and len(cells) == count
        labels.append((f"{others:,} {partitions} of one file" if is_single else f"{others:,} other {partitions}", rest))
    return Lanes(sketch.lanes([cell.texts for cell in apart]), tuple(labels))
