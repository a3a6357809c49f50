"""The lines that only a MERGE has in the text of its seven steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.printable import printable, shortened
from lakeprune.report.amount import files_text

if TYPE_CHECKING:
    from lakeprune.apps.statements.merge.model import MergePart, Obstacle
    from lakeprune.apps.statements.plan import StatementPlan


def source_lines(part: MergePart) -> Iterator[str]:
    """The source and its keys."""
    yield f"source: {_count(part.source_rows, 'row')}, read once and kept: these are the rows that are merged"
    if part.added_columns:
        named = ", ".join(map(printable, part.added_columns))
        yield f"schema: if a row changes, the table gets {_count(len(part.added_columns), 'new column')}: {named}"
    for key in part.keys:
        about = "" if key.is_listed else "about "
        nulls = f", {key.nulls} NULL" if key.nulls else ""
        yield f"key {shortened(key.text)}: {about}{_count(key.distinct, 'value')}{nulls}"


def obstacle_lines(part: MergePart) -> Iterator[str]:
    """What keeps files from being excluded, and what would help."""
    for obstacle in part.obstacles:
        yield f"note: {shortened(obstacle.message)}"
        if obstacle.fix is not None:
            yield f"  {printable(obstacle.fix)}{_saving(obstacle)}"


def verify_lines(plan: StatementPlan) -> Iterator[str]:
    """What was read to count the rows."""
    files = plan.skipping.undecided.files
    if not files:
        yield "no file can hold a match, so none is read"
        return
    columns = ", ".join(map(printable, plan.read_columns)) or "no column"
    yield f"one join of the source with {files_text(files)}, reading {columns}: {plan.effects.touched.files} to be changed"


def _saving(obstacle: Obstacle) -> str:
    if obstacle.files_before is None or obstacle.files_after is None:
        return ""
    return f": Delta would scan {files_text(obstacle.files_after)} instead of {obstacle.files_before}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
