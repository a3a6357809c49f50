"""A DataFrame's report as one self-contained page, and as a fragment for a notebook; made of the parts of the explain page.

Everything from a table, a plan or a user is escaped by words.py on its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from lakeprune.render.html.clauses import clauses
from lakeprune.render.html.compact import compact
from lakeprune.render.html.findings import diagnoses, failed_gates, gates, notes
from lakeprune.render.html.frame import heading, page_end, page_top, section
from lakeprune.render.html.funnel import funnel
from lakeprune.render.html.summary import answer
from lakeprune.render.html.words import table, words
from lakeprune.render.text.dataframe import Fact, facts, scan_facts, scans_text
from lakeprune.report.document import View

if TYPE_CHECKING:
    from lakeprune.apps.dataframes.model import DataFrameReport, Section

_MOST_SCANS = 40  # on one page, which stays under a megabyte
_MOST_FACTS = 80


def page(report: DataFrameReport, _: View) -> Iterator[str]:
    """The whole page."""
    shown = report.sections[:_MOST_SCANS]
    title = "DataFrame" if report.query is None else "Query"
    head = heading(f"report · {scans_text(report)}", title, report.query, "Query") + _known(facts(report))
    yield page_top(report.query or title, head, [(f"scan-{index}", f"Scan {index}") for index in range(1, len(shown) + 1)])
    for index, each in enumerate(shown, 1):
        yield section(
            f"scan-{index}", f"Scan {index}: {words(_title(each))}", _known(scan_facts(each)) + _explained(each, f"scan-{index}-")
        )
    if (more := len(report.sections) - len(shown)) > 0:
        yield f'<p class="empty">{more:,} more scans are in the JSON document.</p>'
    yield page_end(report.elapsed_ms, "plans and metadata: nothing was executed")


def notebook(report: DataFrameReport, _: View) -> Iterator[str]:
    """A fragment without a script: each scan in short."""
    yield f"<div>{_known(facts(report))}"
    for index, each in enumerate(report.sections[:_MOST_SCANS], 1):
        yield f"<p><strong>Scan {index} of {len(report.sections)}</strong></p>{_known(scan_facts(each))}"
        yield "" if each.report is None else compact(each.report)
    yield "</div>"


def _known(known: Iterable[Fact]) -> str:
    return table((words(name), words(text)) for name, text in islice(known, _MOST_FACTS))


def _title(each: Section) -> str:
    place = each.scan.table or each.scan.location
    return place if each.scan.version is None else f"{place}, version {each.scan.version}"


def _explained(each: Section, scope: str) -> str:
    report = each.report
    if report is None:
        return failed_gates(each.assertions)
    parts = [answer(report)]
    if report.numbers.total.files:
        parts.append(funnel(report, scope))
    if report.clauses:
        parts.append(clauses(report))
    if report.diagnoses is not None and report.predicate is not None:
        parts.append(diagnoses(report.diagnoses, scope))
    return "".join([*parts, gates(report), notes(report)])
