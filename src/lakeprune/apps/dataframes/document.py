"""The JSON document of a DataFrame or query: a section per scan, with the document of `explain` in each Delta section."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from lakeprune.apps.dataframes.model import DataFrameReport, Section
from lakeprune.apps.dataframes.scan import Unexplained
from lakeprune.report.document import Envelope, Outcome, View, outcome
from lakeprune.report.explanation import Assertion, Explanation, assertion_document, explanation


class Planned(Struct, frozen=True):
    """What Spark itself plans to read. null is what was not counted; `kind` is Delta's own word for how it decided.

    `unused_filters` are those that Delta does not use; `partition_filters` and `pushed_filters` are recorded for Parquet.
    """

    files: int | None
    bytes: int | None
    total_files: int | None
    total_bytes: int | None
    kind: str | None = None
    unused_filters: tuple[str, ...] = ()
    partition_filters: tuple[str, ...] = ()
    pushed_filters: str | None = None


class Scan(Struct, frozen=True):
    """One scan. `explanation` is the document of `explain` for its filters at its version; null for plain Parquet.

    `spark` is null when Delta's data skipping is off in the session.
    """

    format: Literal["delta", "parquet"]
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
    assertions = [assertion_document(assertion) for assertion in section.assertions]
    if section.report is None:
        parquet = section.scan
        listed = (parquet.files, parquet.bytes, parquet.total_files, parquet.total_bytes)
        spark = Planned(*listed, partition_filters=parquet.partition_filters, pushed_filters=parquet.pushed_filters)
        filters = list(parquet.filters)
        return Scan("parquet", scan.table, list(parquet.locations), None, scan.is_cached, filters, spark, None, assertions)
    delta, plan = section.scan, section.scan.plan
    planned = (
        None if plan is None else Planned(plan.files, plan.bytes, plan.total_files, plan.total_bytes, plan.kind, plan.unused)
    )
    filters = [each.sql for each in delta.filters]
    explained = explanation(section.report, view)
    return Scan("delta", scan.table, [delta.location], delta.version, scan.is_cached, filters, planned, explained, assertions)
