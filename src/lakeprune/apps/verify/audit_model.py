"""An audit: recorded statistics beside what the files hold. Numbers, and the faults by name up to a limit."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from lakeprune.apps.verify.sampled import Sampled
from lakeprune.programs.audit import Fault

UNKNOWN_WRITER = "unknown"


class StatisticsFault(Struct, frozen=True):
    """One promise of one file that its rows do not keep."""

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


class FaultyFiles(Struct, frozen=True):
    """How many files have one kind of fault in one column."""

    column: str | None
    fault: Fault
    files: int


class Audit(Struct, frozen=True):
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
        """Whether no file that was looked into breaks a promise."""
        return self.wrong_files == 0

    @property
    def fault_count(self) -> int:
        return sum(count.files for count in self.counts)

    def __repr__(self) -> str:
        told = "right" if self.passed else f"{self.wrong_files} files wrong"
        return f"<Audit of {self.table!r} version {self.version}: {self.checked_files} files checked, {told}>"

    def __str__(self) -> str:
        return self.to_text()

    def to_dict(self) -> dict[str, Any]:
        """The JSON document as Python values."""
        from lakeprune.apps.verify.as_json import audit_document

        return audit_document(self)

    def to_json(self) -> str:
        import json

        return json.dumps(self.to_dict(), indent=2) + "\n"

    def to_text(self) -> str:
        from lakeprune.apps.verify.as_text import audit_text

        return audit_text(self)

    def to_html(self) -> str:
        """One self-contained page."""
        from lakeprune.apps.verify.as_html import audit_page

        return audit_page(self)

    def _repr_html_(self) -> str:
        from lakeprune.apps.verify.as_html import audit_fragment

        return audit_fragment(self)
