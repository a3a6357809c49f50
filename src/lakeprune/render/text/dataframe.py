"""A DataFrame's report for readers: what Spark plans for each scan, then the explanation of its filters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lakeprune.render.phrases import differing, gate_lines, two_counts
from lakeprune.render.printable import shortened
from lakeprune.render.text import report as explanation
from lakeprune.report.amount import counted, files_text, size_text
from lakeprune.report.document import View

if TYPE_CHECKING:
    from lakeprune.apps.dataframes.model import DataFrameReport, Section
    from lakeprune.apps.dataframes.scan import Planned

Fact = tuple[str, str]  # its name and its text


def text_chunks(report: DataFrameReport, view: View) -> Iterator[str]:
    """The report as text, piece by piece."""
    query = [] if report.query is None else [("Query", report.query)]
    yield _lines([*query, ("Scans" if query else "DataFrame", scans_text(report)), *facts(report)])
    for number, section in enumerate(report.sections, 1):
        yield f"\n=== Scan {number} of {len(report.sections)} ===\n"
        yield _lines(scan_facts(section))
        if section.report is not None:
            yield "\n"
            yield from explanation.text_chunks(section.report, view)
        elif section.assertions:
            yield "\n".join(gate_lines(section.assertions)) + "\n"


def scans_text(report: DataFrameReport) -> str:
    return f"{counted(len(report.sections), 'scan')} of files"


def facts(report: DataFrameReport) -> Iterator[Fact]:
    """What holds for all scans, and what is not explained."""
    for number, section in enumerate(report.sections, 1):
        explained = section.report
        if explained is not None and (engines := differing(explained)):
            yield "Files" if len(report.sections) == 1 else f"Scan {number}", two_counts(explained, engines[0])
    yield "Time zone", report.zone
    for place in report.unread:
        yield "Not read", f"{place} (no file is read: no row can match, or the metadata has the answer)"
    for other in report.unexplained:
        yield "Not explained", f"{other.source}: {other.why}"


def scan_facts(section: Section) -> Iterator[Fact]:
    """What is known of a scan beside the explanation of its filters."""
    scan = section.scan
    if section.report is None:
        yield "Parquet", scan.location
    if scan.table is not None:
        yield "Table name", scan.table
    if scan.is_cached:
        yield "Cached", "this scan fed a cache, whose rows are read instead"
    yield from (("Spark left", text) for text in [each.sql for each in scan.filters] or ["no filter on this scan"])
    match scan.format:
        case "delta":
            yield from _delta(scan.spark)
        case "iceberg":
            yield "Iceberg Spark", _planned(scan.spark)
        case "parquet":
            yield from _parquet(scan.spark)
            if section.report is None:
                yield "Statistics", "read for one folder of this machine only: what they would drop is not known"


def _delta(plan: Planned | None) -> Iterator[Fact]:
    yield "Delta Spark", _planned(plan)
    if plan is not None:
        yield from (("Delta Spark", f"does not use: {text}") for text in plan.unused_filters)


def _parquet(plan: Planned | None) -> Iterator[Fact]:
    if plan is not None and plan.partition_filters:
        yield "Decided by partition values", " AND ".join(plan.partition_filters)
    if plan is not None and plan.pushed_filters is not None:
        yield "Pushed to the reader", plan.pushed_filters
    if plan is not None and plan.files is not None:
        whole = "" if plan.total_files is None else f" of {plan.total_files}"
        yield "Spark", f"lists {plan.files}{whole} files, {size_text(plan.bytes or 0)}"


def _planned(plan: Planned | None) -> str:
    if plan is None or plan.files is None:
        return "reads what partition values leave (spark.databricks.delta.stats.skipping is false in this session)"
    files = files_text(plan.files) if plan.total_files is None else f"{plan.files} of {plan.total_files} files"
    limited = ", as many as its LIMIT needs" if plan.kind == "filteredLimit" else ""
    return f"plans {files}, {size_text(plan.bytes or 0)}{limited}"


def _lines(known: Iterable[Fact]) -> str:
    return "".join(f"{f'{name}:':<12} {shortened(text)}\n" for name, text in known)
