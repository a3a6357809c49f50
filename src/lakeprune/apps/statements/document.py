"""The JSON document of a statement: its plan, and what came of it.

A field has the name of the model's attribute it is filled from; where the contract has another name, `field` gives it.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, convert, field

from lakeprune.apps.statements.execution import Execution as Executed
from lakeprune.apps.statements.merge.model import MergePart
from lakeprune.apps.statements.model import Fate, Status
from lakeprune.apps.statements.plan import Skipping, StatementPlan, StatementText, Strengthening, Verification
from lakeprune.report import gates
from lakeprune.report.amount import Amount
from lakeprune.report.document import Envelope, Outcome, outcome

Result = Literal["planned", "nothing_matches", "guarded", "committed", "differs", "conflict"]


class Effects(Struct, frozen=True):
    """What the statement does. Rows are null when the log does not say how many there are."""

    touched: Amount
    rewritten: Amount
    removed: Amount = field(name="removed_whole")
    vectors: Amount = field(name="deletion_vectors")
    updated: int | None = field(name="rows_updated")
    deleted: int | None = field(name="rows_deleted")
    inserted: int | None = field(name="rows_inserted")
    copied: int | None = field(name="rows_copied")
    write_amplification: float | None


class Guard(Struct, frozen=True):
    name: Literal["max_rewrite_bytes", "max_files", "max_rows", "partition_filter"]
    result: Outcome
    threshold: int | None
    actual: int | None
    message: str | None


class TouchedFile(Struct, frozen=True):
    path: str
    size: int = field(name="bytes")
    live: int | None = field(name="live_rows")
    matching: int | None = field(name="matching_rows")
    fate: Fate


class Plan(Struct, frozen=True):
    """`merge` is null for any other statement."""

    merge: MergePart | None
    skipping: Skipping
    verification: Verification
    effects: Effects
    strengthening: Strengthening
    guards: list[Guard]
    files: list[TouchedFile]
    elapsed_ms: int


class Execution(Struct, frozen=True):
    status: Status
    version: int | None
    read_version: int | None
    attempts: int
    notes: list[str]
    conflict: str | None
    operation_metrics: dict[str, str]
    elapsed_ms: int


class Check(Struct, frozen=True):
    name: str
    expected: int
    found: int
    result: Outcome
    details: list[str]


class Reconciliation(Struct, frozen=True):
    result: Outcome
    checks: list[Check]


class StatementDocument(Envelope, frozen=True):
    """The whole document. `elapsed_ms` is that of the execution, or of a plan that was not executed."""

    table: str
    version: int
    result: Result
    statement: StatementText
    plan: Plan
    execution: Execution | None
    reconciliation: Reconciliation | None


def statement_document(document: StatementPlan | Executed) -> StatementDocument:
    """The whole document."""
    plan, executed = document.parts
    found = None if executed is None else executed.reconciliation
    return StatementDocument(
        table=plan.table,
        version=plan.version,
        result=document.result,
        statement=plan.statement,
        plan=Plan(
            merge=plan.merge,
            skipping=plan.skipping,
            verification=plan.verification,
            effects=convert(plan.effects, Effects, from_attributes=True),
            strengthening=plan.strengthening,
            guards=[_guard(guard) for guard in plan.guards],
            files=convert(plan.touched, list[TouchedFile], from_attributes=True),
            elapsed_ms=plan.elapsed_ms,
        ),
        execution=None if executed is None else _execution(executed),
        reconciliation=None if found is None else convert(found, Reconciliation, from_attributes=True),
        elapsed_ms=document.elapsed_ms,
        schema_version=document.schema_version,
        tool_version=document.tool_version,
    )


def _guard(guard: gates.Assertion) -> Guard:
    name: Any = guard.name
    details: dict[str, Any] = guard.details
    message = None if guard.passed else guard.message
    return Guard(name, outcome(guard.passed), details.get("threshold"), details.get("actual"), message)


def _execution(executed: Executed) -> Execution:
    commit = executed.commit
    return Execution(
        status=executed.status,
        version=None if commit is None else commit.version,
        read_version=None if commit is None else commit.read_version,
        attempts=executed.attempts,
        notes=list(executed.notes),
        conflict=executed.conflict,
        operation_metrics={} if commit is None else dict(commit.metrics),
        elapsed_ms=executed.elapsed_ms,
    )
