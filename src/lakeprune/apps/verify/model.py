"""A verification: the plan's report beside what the rows say. Numbers only, and the files that contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from lakeprune.apps.verify.sampled import Sampled
from lakeprune.report.document import Document
from lakeprune.report.model import Report
from lakeprune.report.verdict import Keeps
from lakeprune.skipping.verdict import Verdict

if TYPE_CHECKING:
    from lakeprune.apps.verify.audit_model import Audit

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
        return f"said to match with every row, yet {self.live - self.matching} of its {self.live} rows do not"


class Slack(Struct, frozen=True):
    """Kept files without a match: the clause that came closest to dropping them, and what stood in the way."""

    clause: str | None
    keeps: Keeps
    files: int
    bytes: int


class Truth(Struct, frozen=True):
    """What the files that were looked into hold."""

    checked_files: int
    live_rows: int
    matching_rows: int
    files_with_match: int
    bytes_with_match: int
    files_told_wrong: int  # whose recorded number of live rows is not what they hold


class Verification(Document, frozen=True):
    kind: ClassVar[str] = "verify"

    report: Report
    truth: Truth
    sampled: Sampled | None  # of the dropped files; None: all were looked into
    slack: tuple[Slack, ...]
    violations: tuple[Violation, ...]
    violation_count: int
    delta_spark_files: int
    delta_spark_bytes: int | None  # None where only the number of files can be had
    elapsed_ms: int
    audit: Audit | None = None

    @property
    def is_sound(self) -> bool:
        """Whether no file that was looked into contradicts its verdict."""
        return self.violation_count == 0

    @property
    def passed(self) -> bool:
        """Whether nothing that was asked for found anything wrong."""
        return self.is_sound and (self.audit is None or self.audit.passed)

    @property
    def is_complete(self) -> bool:
        """Whether every file was looked into."""
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
