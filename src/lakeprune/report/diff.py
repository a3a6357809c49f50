"""What changed between two reports: a table before and after OPTIMIZE, a predicate before and after a rewrite.

In: two reports. Out: a `Diff`, a document with both sides of every number. Nothing is read again.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Generic, TypeVar

from msgspec import Meta, Struct

from lakeprune.report.document import Document, Envelope, View
from lakeprune.report.model import Report

T = TypeVar("T")
_NOTICEABLE = 0.1  # percent of the bytes: files are never of one size, so their shares are never quite the same


class Change(Struct, Generic[T], frozen=True):
    """One value before and after."""

    before: Annotated[T, Meta(description="The value in the first report.")]
    after: Annotated[T, Meta(description="The value in the second report.")]


class DiffDocument(Envelope, frozen=True):
    """Both sides of what two reports say."""

    table: Annotated[Change[str], Meta(description="The tables, as given.")]
    version: Annotated[Change[int | None], Meta(description="The versions that were explained.")]
    predicate: Annotated[Change[str | None], Meta(description="The predicates, as given.")]
    total_files: Annotated[Change[int], Meta(description="Files of the table.")]
    final_files: Annotated[Change[int], Meta(description="Files that must be read.")]
    total_pruning_pct: Annotated[Change[float], Meta(description="The share of files that is pruned, in percent.")]
    total_bytes: Annotated[Change[int], Meta(description="Bytes of the files of the table.")]
    final_bytes: Annotated[Change[int], Meta(description="Bytes that must be read.")]
    bytes_pruning_pct: Annotated[Change[float], Meta(description="The share of bytes that is pruned, in percent.")]
    total_rows: Annotated[Change[int], Meta(description="Live rows of the table.")]
    final_rows: Annotated[Change[int], Meta(description="Live rows in the files that must be read.")]
    engine_files: Annotated[
        Change[int | None], Meta(description="Files that the format's own engine reads; null where it has no model.")
    ]
    diagnoses_gone: Annotated[list[str], Meta(description="Codes of diagnoses that only the first report has.")]
    diagnoses_new: Annotated[list[str], Meta(description="Codes of diagnoses that only the second report has.")]
    is_worse: Annotated[
        bool, Meta(description="Whether a larger share of the files, or by 0.1% or more of the bytes, must be read.")
    ]


_NUMBERS = (
    *("table", "version", "predicate", "total_files", "final_files", "total_pruning_pct"),
    *("total_bytes", "final_bytes", "bytes_pruning_pct", "total_rows", "final_rows"),
)


class Diff(Document, frozen=True):
    """Two reports, compared. Its numbers have the names of the reports'."""

    kind: ClassVar[str] = "diff"
    schema_version: ClassVar[str] = "1.0.0"

    before: Report
    after: Report

    def __repr__(self) -> str:
        sides = (f"{each.kept_files:,} of {each.total_files:,}" for each in (self.before, self.after))
        return f"<Diff of two reports: reads {' files before, '.join(sides)} after>"

    @property
    def is_worse(self) -> bool:
        """Whether a larger share of the files must be read, or of the bytes by a tenth of a percent or more."""
        before, after = self.before, self.after
        return after.pruning_pct < before.pruning_pct or after.bytes_pruning_pct <= before.bytes_pruning_pct - _NOTICEABLE

    @property
    def diagnoses_gone(self) -> list[str]:
        return [code for code in _codes(self.before) if code not in _codes(self.after)]

    @property
    def diagnoses_new(self) -> list[str]:
        return [code for code in _codes(self.after) if code not in _codes(self.before)]

    def to_struct(self, _: View) -> DiffDocument:
        changes = {name: Change(getattr(self.before, name), getattr(self.after, name)) for name in _NUMBERS}
        return DiffDocument(
            **changes,
            engine_files=Change(_engine_files(self.before), _engine_files(self.after)),
            diagnoses_gone=self.diagnoses_gone,
            diagnoses_new=self.diagnoses_new,
            is_worse=self.is_worse,
            elapsed_ms=self.before.elapsed_ms + self.after.elapsed_ms,
            schema_version=self.schema_version,
            tool_version=self.tool_version,
        )


def _codes(report: Report) -> list[str]:
    return list(dict.fromkeys(diagnosis.code for diagnosis in report.diagnoses or ()))


def _engine_files(report: Report) -> int | None:
    return report.engines[0].files if report.engines else None
