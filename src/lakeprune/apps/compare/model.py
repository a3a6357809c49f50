"""What engines open for one predicate, beside what metadata allows."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from lakeprune.report.document import Document, View

if TYPE_CHECKING:
    from lakeprune.apps.compare.document import ComparisonDocument


class Status(Enum):
    RAN = "ran"
    MISSING = "missing"  # not installed here
    FAILED = "failed"  # installed, and cannot read this table or this predicate


class EngineRow(Struct, frozen=True):
    engine: str
    status: Status
    version: str | None = None
    files_opened: int | None = None  # data files of the table that it opened; null unless it ran
    rows: int | None = None  # that it found
    pushed: tuple[str, ...] = ()  # conditions that it says it gives to its scan, in its own words
    message: str | None = None  # why it did not run, and what would help


class ClauseRow(Struct, frozen=True):
    text: str
    pushdown: str  # lakeprune's own class of the clause


class Comparison(Document, frozen=True, kw_only=True):
    kind: ClassVar[str] = "compare"

    table: str
    version: int | None
    predicate: str
    files_total: int
    files_needed: int  # that metadata cannot rule out
    clauses: tuple[ClauseRow, ...]
    engines: tuple[EngineRow, ...]
    elapsed_ms: int

    def to_struct(self, view: View) -> ComparisonDocument:  # noqa: ARG002  # it has no listing
        from lakeprune.apps.compare.document import document_of

        return document_of(self)
