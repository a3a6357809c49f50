"""A verification: the plan's report beside what the rows say. Numbers only, and the files that contradict."""

from __future__ import annotations

from typing import Any

from lakeprune.record import record
from lakeprune.report.model import Report
from lakeprune.report.verdict import Keeps, Verdict

NAMED = 100  # contradicting files that are named; all are counted


@record
class Violation:
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


@record
class Slack:
    """Kept files without a match: the clause that came closest to dropping them, and what stood in the way."""

    clause: str | None
    keeps: Keeps
    files: int
    bytes: int


@record
class Verification:
    report: Report
    live_rows: int
    matching_rows: int
    files_with_match: int
    bytes_with_match: int
    slack: tuple[Slack, ...]
    files_told_wrong: int  # whose recorded number of live rows is not what they hold
    violations: tuple[Violation, ...]
    violation_count: int
    delta_spark_files: int
    elapsed_ms: int

    @property
    def passed(self) -> bool:
        """Whether no file contradicts its verdict."""
        return self.violation_count == 0

    @property
    def kept_without_match(self) -> int:
        return sum(slack.files for slack in self.slack)

    @property
    def efficiency(self) -> float:
        """Of the files that hold no match, the share that metadata excludes; 1 when there are none."""
        without = self.report.numbers.total.files - self.files_with_match
        return (self.report.numbers.total.files - self.report.numbers.kept.files) / without if without else 1.0

    @property
    def read_amplification(self) -> float | None:
        """Bytes to read per byte in files with a match; None when nothing matches."""
        return self.report.numbers.kept.bytes / self.bytes_with_match if self.bytes_with_match else None

    def __repr__(self) -> str:
        return f"<Verification of {self.report!r}: {'sound' if self.passed else f'{self.violation_count} violations'}>"

    def to_dict(self) -> dict[str, Any]:
        """The JSON document as Python values."""
        from lakeprune.verification.as_json import document

        return document(self)

    def to_json(self) -> str:
        import json

        return json.dumps(self.to_dict(), indent=2) + "\n"

    def to_text(self) -> str:
        from lakeprune.verification.as_text import text

        return text(self)
