"""A planned statement as values: what it will do to which files. Holds no session and no table: it may be kept and printed.

Made by planning.py, shown by render/, compared with a commit by reconcile.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct, field

from lakeprune.apps.statements.model import Effects, Fate, Operation, Touched
from lakeprune.formats.delta.spark_scan import DeltaScan
from lakeprune.report.amount import Amount
from lakeprune.report.document import Document, Envelope, View
from lakeprune.report.gates import Assertion

if TYPE_CHECKING:
    from lakeprune.apps.statements.document import Result
    from lakeprune.apps.statements.execution import Execution
    from lakeprune.apps.statements.merge.model import MergePart


class SetColumn(Struct, frozen=True):
    column: str
    expression: str


class Clause(Struct, frozen=True):
    """A conjunct of the condition; `rewritten` is what metadata is asked, where that differs."""

    text: str
    rewritten: str | None


class StatementText(Struct, frozen=True):
    """What was asked for; `condition` is as written, `executed` without comments and with the clock pinned."""

    operation: Operation
    condition: str
    executed: str
    zone: str = field(name="timezone")
    assignments: tuple[SetColumn, ...] = ()
    clauses: tuple[Clause, ...] = ()
    is_partition_only: bool = field(default=False, name="partition_only")
    is_zoned: bool = field(default=False, name="timezone_matters")


class Skipping(Struct, frozen=True):
    """Step 2: what metadata says of all files."""

    total: Amount
    full: Amount
    undecided: Amount

    @property
    def candidates(self) -> Amount:
        return self.full + self.undecided


class Verification(Struct, frozen=True):
    """Step 3: the one scan over the undecided files."""

    files_read: int
    columns: tuple[str, ...]
    files_without_match: int


class Strengthening(Struct, frozen=True):
    """Step 6: what Delta itself would scan to find the rows, and with which condition it scans less.

    `as_written` is None where nothing matches: Delta evaluates its whole log to plan a scan, and nobody needs the answer.
    """

    as_written: DeltaScan | None = field(name="delta_scan_as_written")
    condition: str | None  # None when nothing is added
    added: tuple[str, ...]
    scanned: DeltaScan | None = field(name="delta_scan_strengthened")
    is_wanted: bool = field(name="wanted")


class StatementPlan(Document, frozen=True):
    kind: ClassVar[str] = "statement"
    schema_version: ClassVar[str] = "2.2.0"

    table: str
    version: int
    statement: StatementText
    skipping: Skipping
    read_columns: tuple[str, ...]  # of the undecided files
    touched: tuple[Touched, ...]
    effects: Effects
    is_empty: bool  # no row changes, so that there is nothing to commit
    strengthening: Strengthening
    guards: tuple[Assertion, ...]
    elapsed_ms: int
    merge: MergePart | None = None  # what only a MERGE has

    @property
    def passed(self) -> bool:
        """Whether no guard refuses it."""
        return all(guard.passed for guard in self.guards)

    @property
    def result(self) -> Result:
        """How far it came, as its document has it."""
        return "nothing_matches" if self.is_empty else "planned" if self.passed else "guarded"

    @property
    def parts(self) -> tuple[StatementPlan, Execution | None]:
        """The plan, and what came of it."""
        return self, None

    @property
    def verification(self) -> Verification:
        undecided = self.skipping.undecided.files
        return Verification(undecided, self.read_columns, undecided + self.skipping.full.files - self.effects.touched.files)

    @property
    def condition(self) -> str:
        """The condition that is executed."""
        return self.strengthening.condition or self.statement.executed

    def keys(self, *fates: Fate) -> frozenset[str]:
        """The files that share one of these fates."""
        return frozenset(file.key for file in self.touched if file.fate in fates)

    def to_struct(self, _: View) -> Envelope:
        from lakeprune.apps.statements.document import statement_document

        return statement_document(self)

    def __repr__(self) -> str:
        name = self.statement.operation.value.upper()
        return f"<Plan of {name} on {self.table} version {self.version}: {self.effects.touched.files} files>"
