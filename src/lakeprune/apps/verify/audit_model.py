"""An audit: recorded statistics beside what the files hold. Numbers, and the faults by name up to a limit."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import Struct, convert

from lakeprune.apps.verify.sampled import Sampled
from lakeprune.programs.audit import Fault, FaultyFiles
from lakeprune.report.document import Document, Envelope, Outcome, View, outcome

UNKNOWN_WRITER = "unknown"


class StatisticsFault(Struct, frozen=True):
    """One recorded statistic of one file that its rows contradict."""

    path: str
    column: str | None  # None: the number of rows
    fault: Fault
    recorded: Any
    found: Any
    writer: str

    @property
    def message(self) -> str:
        return {
            Fault.ROWS: f"the log says {self.recorded} live rows, the file has {self.found}",
            Fault.MINIMUM: f"the log says no value is below {self.recorded}, the file holds {self.found}",
            Fault.MAXIMUM: f"the log says no value is above {self.recorded}, the file holds {self.found}",
            Fault.NULLS: f"the log counts {self.recorded} NULLs, the file has {self.found}",
            Fault.NAN: f"the log says there is no NaN, the file has {self.found}",
        }[self.fault]


class Audit(Document, frozen=True):
    kind: ClassVar[str] = "audit"

    table: str
    version: int
    files: int  # of the table
    columns: tuple[str, ...]  # with statistics, so these were compared
    sampled: Sampled | None
    checked_files: int
    wrong_files: int
    counts: tuple[FaultyFiles, ...]
    faults: tuple[StatisticsFault, ...]
    elapsed_ms: int

    @property
    def passed(self) -> bool:
        """Whether no file that was checked has a wrong statistic."""
        return self.wrong_files == 0

    @property
    def result(self) -> Outcome:
        return outcome(self.passed)

    @property
    def fault_count(self) -> int:
        return sum(count.files for count in self.counts)

    def __repr__(self) -> str:
        outcome = "right" if self.passed else f"{self.wrong_files} files wrong"
        return f"<Audit of {self.table!r} version {self.version}: {self.checked_files} files checked, {outcome}>"

    def to_struct(self, _: View) -> Envelope:
        from lakeprune.apps.verify import document

        return convert(self, document.Audit, from_attributes=True)
