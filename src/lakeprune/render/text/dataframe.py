"""A DataFrame's report for readers: what Spark plans for each scan, then the explanation of its filters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lakeprune.render.printable import printable, shortened
from lakeprune.render.text import report as explanation
from lakeprune.report.amount import files_text, size_text
from lakeprune.report.document import View
from lakeprune.report.gates import Assertion

if TYPE_CHECKING:
    from lakeprune.apps.dataframes.model import DataFrameReport, DeltaSection, ParquetSection
    from lakeprune.apps.dataframes.scan import DeltaPlan, DeltaScan, ParquetScan


def text_chunks(report: DataFrameReport, view: View) -> Iterator[str]:
    """The report as text, piece by piece."""
    yield "\n".join(_head(report)) + "\n"
    for number, section in enumerate(report.sections, 1):
        yield f"\n=== Scan {number} of {len(report.sections)} ===\n"
        if section.report is None:
            yield "\n".join(_parquet(section)) + "\n"
            continue
        yield "\n".join(_delta(section)) + "\n\n"
        yield from explanation.text_chunks(section.report, view)


def _head(report: DataFrameReport) -> Iterator[str]:
    scans = f"{len(report.sections)} scan{'' if len(report.sections) == 1 else 's'} of files"
    if report.query is None:
        yield f"DataFrame:   {scans}"
    else:
        yield f"Query:       {shortened(report.query)}"
        yield f"Scans:       {scans}"
    yield f"Time zone:   {printable(report.zone)}"
    for place in report.unread:
        yield f"Not read:    {printable(place)} (no file is read: no row can match, or the metadata has the answer)"
    for other in report.unexplained:
        yield f"Not explained: {printable(other.source)}: {printable(other.why)}"


def _scan(scan: DeltaScan | ParquetScan, filters: Iterable[str]) -> Iterator[str]:
    """What is known of a scan of either kind."""
    if scan.table is not None:
        yield f"Table name:  {printable(scan.table)}"
    if scan.is_cached:
        yield "Cached:      this scan fed a cache, whose rows are read instead"
    yield "Spark left on this scan:" if scan.filters else "Spark left no filter on this scan."
    yield from (f"  {shortened(text)}" for text in filters)


def _delta(section: DeltaSection) -> Iterator[str]:
    plan = section.scan.plan
    yield from _scan(section.scan, [each.sql for each in section.scan.filters])
    yield f"Delta Spark: {_planned(plan)}"
    if plan is not None:
        yield from (f"  does not use: {shortened(text)}" for text in plan.unused)


def _planned(plan: DeltaPlan | None) -> str:
    if plan is None:
        return "reads what partition values leave (spark.databricks.delta.stats.skipping is false in this session)"
    files = files_text(plan.files) if plan.total_files is None else f"{plan.files} of {plan.total_files} files"
    limited = ", as many as its LIMIT needs" if plan.kind == "filteredLimit" else ""
    return f"plans {files}, {size_text(plan.bytes)}{limited}"


def _parquet(section: ParquetSection) -> Iterator[str]:
    scan = section.scan
    yield f"Parquet:     {printable(', '.join(scan.locations))}"
    yield from _scan(scan, scan.filters)
    if scan.partition_filters:
        yield f"Decided by partition values: {shortened(' AND '.join(scan.partition_filters))}"
    if scan.pushed_filters is not None:
        yield f"Pushed to the reader: {shortened(scan.pushed_filters)}"
    if scan.files is not None:
        whole = "" if scan.total_files is None else f" of {scan.total_files}"
        yield f"Spark:       lists {scan.files}{whole} files, {size_text(scan.bytes or 0)}"
    yield "The statistics of plain Parquet files are not read yet: what they would drop is not known."
    if section.assertions:
        yield from ["", "Gates:", *map(_gate, section.assertions)]


def _gate(gate: Assertion) -> str:
    return f"  pass  {gate.name}" if gate.passed else f"  FAIL  {gate.name}  ({gate.message})"
