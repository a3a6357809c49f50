"""What the text of UPDATE and DELETE has of its own in the seven steps; merge.py has the same functions for MERGE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.printable import printable
from lakeprune.report.amount import amount_text, files_text

if TYPE_CHECKING:
    from lakeprune.apps.statements.plan import StatementPlan

NOTHING = "nothing matches"


def statement_text(plan: StatementPlan) -> str:
    """The statement in one line."""
    statement = plan.statement
    assigned = ", ".join(f"{column} = {value}" for column, value in statement.assignments)
    return f"{statement.operation.value.upper()}{f' SET {assigned}' if assigned else ''} WHERE {statement.condition}"


def validate(plan: StatementPlan) -> Iterator[str]:
    if plan.skipping.is_partition_only:
        yield "the condition is about partition columns only: metadata decides it"


def skip(plan: StatementPlan) -> Iterator[str]:
    yield f"{amount_text(plan.skipping.full)} fully matched, {amount_text(plan.skipping.undecided)} undecided"


def verify(plan: StatementPlan) -> Iterator[str]:
    undecided = plan.skipping.undecided.files
    if not undecided:
        yield "nothing is undecided, so no file is read"
        return
    left = undecided - (plan.effects.touched.files - plan.skipping.full.files)
    columns = ", ".join(map(printable, plan.read_columns)) or "no column"
    yield f"one scan of {files_text(undecided)}, reading {columns}: {left} without a match"
