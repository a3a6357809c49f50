"""A verification: the plan's report beside what its files hold. Numbers only, and the files that contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct, convert, field

from lakeprune.apps.verify.sampled import Sampled
from lakeprune.report.document import Document, Envelope, Outcome, View, outcome
from lakeprune.report.model import Report
from lakeprune.report.verdict import Keeps
from lakeprune.skipping.verdict import Verdict

if TYPE_CHECKING:
    from lakeprune.apps.verify.audit_model import Audit
    from lakeprune.report.explanation import Explanation

NAMED = 100  # contradicting files that are named; all are counted


class Violation(Struct, frozen=True):
    """A file whose rows contradict its verdict."""

    path: str
    verdict: Verdict
    live: int
    matching: int

    @property
    def message(self) -> str:
        if self.verdict is Verdict.DROP:
            return f"dropped, yet {self.matching} of its {self.live} rows match"
        return f"reported as fully matched, yet {self.live - self.matching} of its {self.live} rows do not"


class Slack(Struct, frozen=True):
    """Kept files without a match: the clause that came closest to dropping them, and what stood in the way."""

    clause: str | None
    keeps: Keeps = field(name="reason")
    files: int
    bytes: int


class Truth(Struct, frozen=True):
    """What the checked files hold; after a sample these are not all files of the table."""

    checked_files: int
    live_rows: int
    matching_rows: int
    files_with_match: int
    bytes_with_match: int
    files_with_wrong_row_count: int


class DeltaSpark(Struct, frozen=True):
    """What Delta Spark itself plans to read for the same query; bytes are null where the session gives no JVM handle."""

    files: int
    bytes: int | None


class Verification(Document, frozen=True):
    kind: ClassVar[str] = "verify"

    report: Report
    truth: Truth
    sampled: Sampled | None  # of the dropped files; None: all were checked
    slack: tuple[Slack, ...]
    violations: tuple[Violation, ...]
    violation_count: int
    delta_spark: DeltaSpark
    elapsed_ms: int
    audit: Audit | None = None

    @property
    def is_sound(self) -> bool:
        """Whether no checked file contradicts its verdict."""
        return self.violation_count == 0

    @property
    def passed(self) -> bool:
        """Whether nothing that was asked for found anything wrong."""
        return self.is_sound and (self.audit is None or self.audit.passed)

    @property
    def result(self) -> Outcome:
        return outcome(self.passed)

    @property
    def plan(self) -> Explanation:
        """The document of the plan that was verified."""
        from lakeprune.report.explanation import explanation

        return explanation(self.report)

    @property
    def is_complete(self) -> bool:
        """Whether every file was checked."""
        return self.sampled is None or self.sampled.is_complete

    @property
    def kept_without_match(self) -> int:
        return sum(slack.files for slack in self.slack)

    @property
    def efficiency(self) -> float | None:
        """Of the files that hold no match, the share that metadata excludes, 1 when there are none; None after a sample."""
        if not self.is_complete:
            return None
        without = self.report.numbers.total.files - self.truth.files_with_match
        return (self.report.numbers.total.files - self.report.numbers.kept.files) / without if without else 1.0

    @property
    def read_amplification(self) -> float | None:
        """Bytes to read per byte in files with a match; None when nothing matches, and after a sample."""
        with_match = self.truth.bytes_with_match
        return self.report.numbers.kept.bytes / with_match if with_match and self.is_complete else None

    def __repr__(self) -> str:
        return f"<Verification of {self.report!r}: {'sound' if self.is_sound else f'{self.violation_count} violations'}>"

    def to_struct(self, _: View) -> Envelope:
        from lakeprune.apps.verify import document

        return convert(self, document.Verification, from_attributes=True)
