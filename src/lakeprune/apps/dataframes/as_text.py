"""A DataFrame's report for readers: what Spark plans for each scan, then the explanation of its filters."""

from __future__ import annotations

from collections.abc import Iterator

from lakeprune.apps.dataframes.model import DataFrameReport, DeltaSection, ParquetSection
from lakeprune.apps.dataframes.scan import DeltaPlan
from lakeprune.render.printable import printable, shortened
from lakeprune.render.text import report as as_text
from lakeprune.report.amount import files_text, size_text
from lakeprune.report.gates import Assertion


def text_chunks(report: DataFrameReport, *, verbose: bool, limit: int | None) -> Iterator[str]:
    """The report as text, piece by piece."""
    yield "\n".join(_head(report)) + "\n"
    for number, section in enumerate(report.sections, 1):
        yield f"\n=== Scan {number} of {len(report.sections)} ===\n"
        if isinstance(section, ParquetSection):
            yield "\n".join(_parquet(section)) + "\n"
            continue
        yield "\n".join(_delta(section)) + "\n\n"
        yield from as_text.text_chunks(section.report, verbose=verbose, limit=limit)


def _head(report: DataFrameReport) -> list[str]:
    what = "DataFrame:" if report.query is None else "Query:    "
    scans = f"{len(report.sections)} scan{'' if len(report.sections) == 1 else 's'} of files"
    lines = [f"{what}   {scans if report.query is None else shortened(report.query)}"]
    if report.query is not None:
        lines.append(f"Scans:       {scans}")
    lines.append(f"Time zone:   {printable(report.zone)}")
    for place in report.unread:
        told = "no file is read: no row can match, or the metadata has the answer"
        lines.append(f"Not read:    {printable(place)} ({told})")
    lines += [f"Not explained: {printable(other.source)}: {printable(other.why)}" for other in report.unexplained]
    return lines


def _delta(section: DeltaSection) -> list[str]:
    scan = section.scan
    lines = [f"Table name:  {printable(scan.table)}"] if scan.table is not None else []
    if scan.is_cached:
        lines.append("Cached:      this scan fed a cache, whose rows are read instead")
    lines.append("Spark left on this scan:" if scan.filters else "Spark left no filter on this scan.")
    lines += [f"  {shortened(one.sql)}" for one in scan.filters]
    lines.append(f"Delta Spark: {_planned(scan.plan)}")
    if scan.plan is not None:
        lines += [f"  does not use: {shortened(text)}" for text in scan.plan.unused]
    return lines


def _planned(plan: DeltaPlan | None) -> str:
    if plan is None:
        return "reads what partition values leave (spark.databricks.delta.stats.skipping is false in this session)"
    whole = "" if plan.total_files is None else f" of {plan.total_files}"
    read = f"plans {plan.files}{whole} files" if whole else f"plans {files_text(plan.files)}"
    limited = ", as many as its LIMIT needs" if plan.kind == "filteredLimit" else ""
    return f"{read}, {size_text(plan.bytes)}{limited}"


def _parquet(section: ParquetSection) -> list[str]:
    scan = section.scan
    lines = [f"Parquet:     {printable(', '.join(scan.locations))}"]
    if scan.table is not None:
        lines.append(f"Table name:  {printable(scan.table)}")
    if scan.is_cached:
        lines.append("Cached:      this scan fed a cache, whose rows are read instead")
    lines.append("Spark left on this scan:" if scan.filters else "Spark left no filter on this scan.")
    lines += [f"  {shortened(text)}" for text in scan.filters]
    if scan.partition_filters:
        lines.append(f"Decided by partition values: {shortened(' AND '.join(scan.partition_filters))}")
    if scan.pushed_filters is not None:
        lines.append(f"Pushed to the reader: {shortened(scan.pushed_filters)}")
    if scan.files is not None:
        whole = "" if scan.total_files is None else f" of {scan.total_files}"
        lines.append(f"Spark:       lists {scan.files}{whole} files, {size_text(scan.bytes or 0)}")
    lines.append("The statistics of plain Parquet files are not read yet: nothing is said about what they would exclude.")
    return [*lines, *_gates(section.assertions)]


def _gates(assertions: tuple[Assertion, ...]) -> list[str]:
    told = [
        f"  {'pass' if one.passed else 'FAIL'}  {one.name}" + ("" if one.passed else f"  ({one.message})") for one in assertions
    ]
    return ["", "Gates:", *told] if told else []
