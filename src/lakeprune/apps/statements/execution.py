"""Steps 6 and 7: a plan carried out and its commit checked.

In: a `PlannedStatement`. Out: an `Execution`. A table that moved since the plan is planned afresh and the guards are asked again;
a conflict is a value; a commit of ours is found by its mark even when Spark failed after writing it. Nothing is hidden.
"""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, ClassVar

from lakeprune.apps.statements.model import Status
from lakeprune.apps.statements.reconcile import Check, Reconciliation, reconcile
from lakeprune.errors import EXIT_GATE_FAILED, EXIT_OK, StatementError, UsageError
from lakeprune.report.document import Document, Envelope, View

if TYPE_CHECKING:
    from lakeprune.apps.statements.document import Result
    from lakeprune.apps.statements.plan import StatementPlan
    from lakeprune.apps.statements.planning import PlannedStatement
    from lakeprune.formats.commit import Commit


class Execution(Document, frozen=True):
    kind: ClassVar[str] = "statement"
    schema_version: ClassVar[str] = "2.2.0"

    plan: StatementPlan  # the last one made, which is the one that was executed
    status: Status
    attempts: int
    notes: tuple[str, ...]  # what happened to the table meanwhile
    conflict: str | None  # Delta's class and message
    commit: Commit | None
    reconciliation: Reconciliation | None
    elapsed_ms: int

    @property
    def passed(self) -> bool:
        """Whether it was done as planned, or rightly not at all."""
        if self.status is Status.COMMITTED:
            return self.reconciliation is not None and self.reconciliation.passed
        return self.status is Status.NOTHING_MATCHES

    @property
    def result(self) -> Result:
        """How it ended, as its document has it."""
        if self.plan.is_empty:
            return "nothing_matches"
        return "differs" if self.status is Status.COMMITTED and not self.passed else self.status.value

    @property
    def parts(self) -> tuple[StatementPlan, Execution | None]:
        """The plan, and what came of it."""
        return self.plan, self

    @property
    def exit_code(self) -> int:
        return EXIT_OK if self.passed else EXIT_GATE_FAILED

    def to_struct(self, _: View) -> Envelope:
        from lakeprune.apps.statements.document import statement_document

        return statement_document(self)

    def __repr__(self) -> str:
        version = "" if self.commit is None else f" as version {self.commit.version}"
        return f"<Execution of {self.plan!r}: {self.status.value}{version}>"


class Conflict(Exception):
    """Another commit came first; the message is Delta's, `name` is Delta's class of the conflict."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def execute(plan: PlannedStatement, retry: int) -> Execution:
    """Carry it out, planning afresh after a conflict as often as `retry` allows."""
    if type(retry) is not int or retry < 0:
        raise UsageError("LP252", f"retry is {retry!r}", fix="give a whole number, 0 or more")
    started = time.perf_counter()
    notes: list[str] = []
    attempts = 0

    def ended(status: Status, conflict: str | None = None, commit: Commit | None = None) -> Execution:
        checked = None if commit is None else _reconciled(plan, commit, notes)
        elapsed = round((time.perf_counter() - started) * 1000)
        return Execution(plan, status, attempts, tuple(notes), conflict, commit, checked, elapsed)

    while True:
        plan = _fresh(plan, notes)
        if plan.is_empty:
            return ended(Status.NOTHING_MATCHES)
        if not plan.passed:
            return ended(Status.GUARDED)
        attempts += 1
        try:
            commit = _committed(plan, notes)
        except Conflict as conflict:
            message = f"{conflict.name}: {conflict}"
            if attempts > retry:
                return ended(Status.CONFLICT, message)
            notes.append(f"attempt {attempts} met a conflict and wrote nothing: {message}")
            plan = plan.again()
            continue
        if commit is not None:
            return ended(Status.COMMITTED, commit=commit)
        plan = _overtaken(plan, notes)
        return ended(Status.NOTHING_MATCHES)


def _fresh(plan: PlannedStatement, notes: list[str]) -> PlannedStatement:
    """The plan at the latest version; noted when that is another one than it was made for."""
    if plan.newest_version() == plan.version:
        return plan
    newer = plan.again()
    changed = "the same files" if _files(newer) == _files(plan) else "other files"
    notes.append(f"the table moved from version {plan.version} to {newer.version}: planned afresh, {changed} are to be changed")
    return newer


def _files(plan: StatementPlan) -> dict[str, int | None]:
    return {file.key: file.matching for file in plan.touched}


def _committed(plan: PlannedStatement, notes: list[str]) -> Commit | None:
    """The commit of this statement; None when Delta found nothing to change and made none."""
    mark = f"lakeprune:{uuid.uuid4()}"
    try:
        plan.write(mark)
    except (Conflict, StatementError) as error:
        # Spark may fail after the commit was written: only the log knows whether it was.
        if (written := plan.commit_marked(mark)) is None:
            raise
        notes.append(f"the commit was written, then Spark reported: {error}")
        return written
    return plan.commit_marked(mark)


def _overtaken(plan: PlannedStatement, notes: list[str]) -> PlannedStatement:
    """The plan of the table as somebody else left it, in which nothing matches any more."""
    newer = plan.again()
    if newer.version == plan.version or not newer.is_empty:
        what = "the commit of this statement is not in the log, although Spark reports no failure"
        raise StatementError("LP412", what, where=plan.table, fix="look at DESCRIBE HISTORY before running it again")
    notes.append(f"by version {newer.version} somebody else had changed every row that matched")
    return newer


def _reconciled(plan: PlannedStatement, commit: Commit, notes: list[str]) -> Reconciliation:
    """The commit beside the plan of the version that Delta's transaction really read."""
    read = commit.read_version
    if read is not None and read != plan.version:
        notes.append(f"Delta's transaction read version {read}: the commit is checked against a plan of that version")
        plan = plan.again(read)
    keys = plan.keys_of([action.path for action in (*commit.added, *commit.removed)])
    broken = [Check(f"guard {guard.name}", 0, 1, False, (guard.message,)) for guard in plan.guards if not guard.passed]
    return Reconciliation((*reconcile(plan, commit, keys).checks, *broken))
