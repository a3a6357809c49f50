"""The JSON document of `compare`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from lakeprune.apps.compare.model import Comparison
from lakeprune.report.document import Envelope


class ComparedClause(Struct, frozen=True):
    """A conjunct, and whether the metadata alone decides it: Exact, Inexact or Unsupported."""

    text: str
    pushdown: Literal["Exact", "Inexact", "Unsupported"]


class ComparedEngine(Struct, frozen=True):
    """What one engine opened; `files_opened` and `rows` are null unless it ran."""

    engine: str
    status: Literal["ran", "missing", "failed"]
    version: str | None
    files_opened: int | None
    rows: int | None
    pushed: list[str]
    message: str | None


class ComparisonDocument(Envelope, frozen=True, kw_only=True):
    """Data files that engines open for a predicate, beside those that metadata cannot rule out."""

    table: str
    table_version: int | None
    predicate: str
    files_total: int
    files_needed: int
    clauses: list[ComparedClause]
    engines: list[ComparedEngine]


def document_of(found: Comparison) -> ComparisonDocument:
    return ComparisonDocument(
        table=found.table,
        table_version=found.version,
        predicate=found.predicate,
        files_total=found.files_total,
        files_needed=found.files_needed,
        clauses=[ComparedClause(each.text, each.pushdown) for each in found.clauses],  # type: ignore[arg-type]  # one of three
        engines=[
            ComparedEngine(e.engine, e.status.value, e.version, e.files_opened, e.rows, list(e.pushed), e.message)
            for e in found.engines
        ],
        elapsed_ms=found.elapsed_ms,
        schema_version=found.schema_version,
        tool_version=found.tool_version,
    )
