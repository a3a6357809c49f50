"""The JSON document of a statement: its plan, and what came of it.

A field has the name of the model's attribute it is filled from; where the contract has another name, `field` gives it.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, convert, field

from lakeprune.apps.statements.execution import Execution as Executed
from lakeprune.apps.statements.merge.model import MergePart
from lakeprune.apps.statements.model import Fate, Operation, Status
from lakeprune.apps.statements.plan import StatementPlan
from lakeprune.report import gates
from lakeprune.report.amount import Amount
from lakeprune.report.document import Envelope, Outcome, outcome

Result = Literal["planned", "nothing_matches", "guarded", "committed", "differs", "conflict"]


class Assignment(Struct, frozen=True):
    column: str
    expression: str


class Clause(Struct, frozen=True):
    """A conjunct of the condition; `rewritten` is what metadata is asked, where that differs."""

    text: str
    rewritten: str | None


class Statement(Struct, frozen=True):
    """`executed` is the condition without comments and with its clock pinned."""

    operation: Operation
    condition: str
    executed: str
    assignments: list[Assignment]
    clauses: list[Clause]
    partition_only: bool
    timezone: str


class Skipping(Struct, frozen=True):
    total: Amount
    full: Amount
    undecided: Amount


class Verification(Struct, frozen=True):
    """The one scan over the undecided files."""

    files_read: int
    columns: list[str]
    files_without_match: int


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


class Scan(Struct, frozen=True):
    """What Delta itself reads to find the rows of a condition, by its own planning."""

    files: int
    bytes: int


class Strengthening(Struct, frozen=True):
    is_wanted: bool = field(name="wanted")
    condition: str | None
    added: list[str]
    as_written: Scan | None = field(name="delta_scan_as_written")
    scanned: Scan | None = field(name="delta_scan_strengthened")


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
    statement: Statement
    plan: Plan
    execution: Execution | None
    reconciliation: Reconciliation | None


def statement_document(document: StatementPlan | Executed) -> StatementDocument:
    """The whole document."""
    plan, executed = document.parts
    statement = plan.statement
    return StatementDocument(
        table=plan.table,
        version=plan.version,
        result=document.result,
        statement=Statement(
            operation=statement.operation,
            condition=statement.condition,
            executed=statement.executed,
            assignments=[Assignment(*each) for each in statement.assignments],
            clauses=[Clause(*each) for each in plan.skipping.clauses],
            partition_only=plan.skipping.is_partition_only,
            timezone=plan.strengthening.zone,
        ),
        plan=_plan(plan),
        execution=None if executed is None else _execution(executed),
        reconciliation=None if executed is None else _reconciliation(executed),
        elapsed_ms=document.elapsed_ms,
        schema_version=document.schema_version,
        tool_version=document.tool_version,
    )


def _plan(plan: StatementPlan) -> Plan:
    undecided = plan.skipping.undecided.files
    return Plan(
        merge=plan.merge,
        skipping=Skipping(plan.skipping.total, plan.skipping.full, plan.skipping.undecided),
        verification=Verification(
            files_read=undecided,
            columns=list(plan.read_columns),
            files_without_match=undecided + plan.skipping.full.files - plan.effects.touched.files,
        ),
        effects=convert(plan.effects, Effects, from_attributes=True),
        strengthening=convert(plan.strengthening, Strengthening, from_attributes=True),
        guards=[_guard(guard) for guard in plan.guards],
        files=convert(plan.touched, list[TouchedFile], from_attributes=True),
        elapsed_ms=plan.elapsed_ms,
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


def _reconciliation(executed: Executed) -> Reconciliation | None:
    found = executed.reconciliation
    if found is None:
        return None
    checks = [Check(each.name, each.expected, each.found, outcome(each.passed), list(each.details)) for each in found.checks]
    return Reconciliation(outcome(found.passed), checks)
