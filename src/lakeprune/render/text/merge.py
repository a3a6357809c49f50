"""The lines that a MERGE has of its own in the text of the seven steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.printable import printable, shortened
from lakeprune.report.amount import amount_text, files_text

if TYPE_CHECKING:
    from lakeprune.apps.statements.merge.model import MergePart, Obstacle
    from lakeprune.apps.statements.plan import StatementPlan


NOTHING = "no row changes"  # rows may match to which no clause applies


def statement_text(plan: StatementPlan) -> str:
    """The statement in one line."""
    part = _part(plan)
    return f"MERGE USING {part.source} ON {plan.statement.condition} {' '.join(part.clauses)}"


def validate(plan: StatementPlan) -> Iterator[str]:
    """The source and its keys."""
    part = _part(plan)
    yield f"source: {_count(part.source_rows, 'row')}, read once and kept: these are the rows that are merged"
    if part.added_columns:
        named = ", ".join(map(printable, part.added_columns))
        yield f"schema: if a row changes, the table gets {_count(len(part.added_columns), 'new column')}: {named}"
    for key in part.keys:
        about = "" if key.is_listed else "about "
        nulls = f", {key.nulls} NULL" if key.nulls else ""
        yield f"key {shortened(key.text)}: {about}{_count(key.distinct, 'value')}{nulls}"


def skip(plan: StatementPlan) -> Iterator[str]:
    """What keeps files from being skipped, and what would help."""
    yield f"{amount_text(plan.skipping.undecided)} may hold a row with a key of the source"
    for obstacle in _part(plan).obstacles:
        yield f"note: {shortened(obstacle.message)}"
        if obstacle.fix is not None:
            yield f"  {printable(obstacle.fix)}{_saving(obstacle)}"


def verify(plan: StatementPlan) -> Iterator[str]:
    """What was read to count the rows."""
    files = plan.skipping.undecided.files
    if not files:
        yield "no file can hold a match, so none is read"
        return
    columns = ", ".join(map(printable, plan.read_columns)) or "no column"
    yield f"one join of the source with {files_text(files)}, reading {columns}: {plan.effects.touched.files} to be changed"


def _part(plan: StatementPlan) -> MergePart:
    assert plan.merge is not None, "every MERGE has it"
    return plan.merge


def _saving(obstacle: Obstacle) -> str:
    if obstacle.files_before is None or obstacle.files_after is None:
        return ""
    return f": Delta would scan {files_text(obstacle.files_after)} instead of {obstacle.files_before}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
