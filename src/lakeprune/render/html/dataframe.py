"""A DataFrame's report as one self-contained page, and as a fragment for a notebook; made of the parts of the explain page.

Everything from a table, a plan or a user is escaped by words.py on its way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.html.clauses import clauses
from lakeprune.render.html.compact import compact
from lakeprune.render.html.diagnoses import diagnoses
from lakeprune.render.html.frame import heading, page_end, page_top, section
from lakeprune.render.html.funnel import funnel
from lakeprune.render.html.summary import answer, gates, notes
from lakeprune.render.html.words import code, number, plain_list, size, words
from lakeprune.report.document import View

if TYPE_CHECKING:
    from lakeprune.apps.dataframes.model import DataFrameReport, DeltaSection, ParquetSection, Section
    from lakeprune.apps.dataframes.scan import DeltaPlan, ParquetScan

_MOST_SCANS = 40  # on one page, which stays under a megabyte
_MOST_FILTERS = 40


def page(report: DataFrameReport, _: View) -> Iterator[str]:
    """The whole page."""
    shown = report.sections[:_MOST_SCANS]
    title = "DataFrame" if report.query is None else "Query"
    scans = f"{len(report.sections)} scan{'' if len(report.sections) == 1 else 's'} of files"
    head = heading(f"report · {scans}", title, report.query, "Query") + _known(report)
    yield page_top(report.query or title, head, [(f"scan-{index}", f"Scan {index}") for index in range(1, len(shown) + 1)])
    for index, each in enumerate(shown, 1):
        content = _parquet(each) if each.report is None else _delta(each)
        yield section(f"scan-{index}", f"Scan {index}: {words(_title(each))}", content)
    if (more := len(report.sections) - len(shown)) > 0:
        yield f'<p class="empty">{more:,} more scans are in the JSON document.</p>'
    yield page_end(report.elapsed_ms, "plans and metadata: nothing was executed")


def notebook(report: DataFrameReport, _: View) -> Iterator[str]:
    """A fragment without a script: each scan in short."""
    yield f"<div>{_known(report)}"
    for index, each in enumerate(report.sections[:_MOST_SCANS], 1):
        yield f"<p><strong>Scan {index} of {len(report.sections)}</strong></p>"
        yield _listed(each.scan) if each.report is None else f"<p>{_delta_plan(each.scan.plan)}</p>{compact(each.report)}"
    yield "</div>"


def _known(report: DataFrameReport) -> str:
    return "".join(f"<p>{words(line)}</p>" for line in _lines(report))


def _lines(report: DataFrameReport) -> list[str]:
    lines = [f"Time zone {report.zone}."]
    lines += [f"Of {place} no file is read: no row can match, or the metadata has the answer." for place in report.unread]
    return lines + [f"Not explained: {other.source}: {other.why}." for other in report.unexplained]


def _title(each: Section) -> str:
    if each.report is None:
        return each.scan.table or ", ".join(each.scan.locations)
    return f"{each.scan.table or each.scan.location}, version {each.scan.version}"


def _delta(each: DeltaSection) -> str:
    report, scan = each.report, each.scan
    cached = "<p>This scan fed a cache, whose rows are read instead.</p>" if scan.is_cached else ""
    parts = [cached, _filters([one.sql for one in scan.filters]), answer(report), f"<p>{_delta_plan(scan.plan)}</p>"]
    if report.numbers.total.files:
        parts.append(funnel(report))
    if report.clauses:
        parts.append(clauses(report))
    if report.diagnoses is not None and report.predicate is not None:
        parts.append(diagnoses(report.diagnoses))
    return "".join([*parts, gates(report), notes(report)])


def _delta_plan(plan: DeltaPlan | None) -> str:
    if plan is None:
        return "Data skipping is off in this session: Delta Spark reads what partition values leave."
    whole = "" if plan.total_files is None else f" of {number(plan.total_files)}"
    unused = plain_list(f"does not use {code(text)}" for text in plan.unused[:_MOST_FILTERS])
    return f"Delta Spark plans to read <strong>{number(plan.files)}</strong>{whole} files, {size(plan.bytes)}.{unused}"


def _parquet(each: ParquetSection) -> str:
    failed = "".join(f"<p><strong>gate failed:</strong> {words(one.message)}</p>" for one in each.assertions if not one.passed)
    return _filters(list(each.scan.filters)) + _listed(each.scan) + failed


def _listed(scan: ParquetScan) -> str:
    whole = "" if scan.total_files is None else f" of {number(scan.total_files)}"
    listed = "" if scan.files is None else f"<p>Spark lists {number(scan.files)}{whole} files, {size(scan.bytes or 0)}.</p>"
    unread = "<p>The statistics of plain Parquet files are not read yet.</p>"
    return f"<p>Parquet: {code(', '.join(scan.locations))}</p>{listed}{unread}"


def _filters(texts: list[str]) -> str:
    listed = plain_list(code(text) for text in texts[:_MOST_FILTERS])
    return f"<p>Spark left on this scan:</p>{listed}" if listed else "<p>Spark left no filter on this scan.</p>"
