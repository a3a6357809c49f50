"""The JSON document of a DataFrame or query: a section per scan, with the document of `explain` in each."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from lakeprune.apps.dataframes.model import DataFrameReport, Section
from lakeprune.apps.dataframes.scan import Planned, Unexplained
from lakeprune.report.document import Envelope, Outcome, View, outcome
from lakeprune.report.explanation import Assertion, Explanation, assertion_document, explanation


class Scan(Struct, frozen=True):
    """One scan. `explanation` is the document of `explain` for its filters at its version; null for Parquet files that cannot be
    listed here.

    `spark` is null when Delta's data skipping is off in the session.
    """

    format: Literal["delta", "iceberg", "parquet"]
    table: str | None
    locations: list[str]
    version: int | None
    cached: bool
    filters: list[str]
    spark: Planned | None
    explanation: Explanation | None
    assertions: list[Assertion]


class DataFrameExplanation(Envelope, frozen=True):
    """What one query reads, scan by scan. `not_read` are tables of which no file is needed."""

    query: str | None
    timezone: str
    scans: list[Scan]
    not_read: list[str]
    not_explained: list[Unexplained]
    result: Outcome | None


def dataframe_document(report: DataFrameReport, view: View) -> DataFrameExplanation:
    """The whole document."""
    has_gates = any(section.assertions for section in report.sections)
    return DataFrameExplanation(
        query=report.query,
        timezone=report.zone,
        scans=[_scan(section, view) for section in report.sections],
        not_read=list(report.unread),
        not_explained=list(report.unexplained),
        result=outcome(report.passed) if has_gates else None,
        elapsed_ms=report.elapsed_ms,
        schema_version=report.schema_version,
        tool_version=report.tool_version,
    )


def _scan(section: Section, view: View) -> Scan:
    scan = section.scan
    return Scan(
        format=scan.format,
        table=scan.table,
        locations=list(scan.locations),
        version=scan.version,
        cached=scan.is_cached,
        filters=[each.sql for each in scan.filters],
        spark=scan.spark,
        explanation=None if section.report is None else explanation(section.report, view),
        assertions=[assertion_document(assertion) for assertion in section.assertions],
    )
