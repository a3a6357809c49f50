"""A DataFrame's report as one self-contained page, and as a fragment for a notebook; made of the parts of the explain page.

Everything from a table, a plan or a user is escaped by words.py on its way.
"""

from __future__ import annotations

from lakeprune import __version__
from lakeprune.apps.dataframes.model import DataFrameReport, DeltaSection, ParquetSection, Section
from lakeprune.apps.dataframes.scan import DeltaPlan, ParquetScan
from lakeprune.render.html.clauses import clauses
from lakeprune.render.html.compact import compact
from lakeprune.render.html.diagnoses import diagnoses
from lakeprune.render.html.funnel import funnel
from lakeprune.render.html.page import page_end, page_head
from lakeprune.render.html.summary import answer, gates, notes
from lakeprune.render.html.words import code, number, size, words

_MOST_SCANS = 40  # on one page, which stays under a megabyte
_MOST_FILTERS = 40


def page(report: DataFrameReport) -> str:
    """The whole page."""
    shown = report.sections[:_MOST_SCANS]
    scans = "".join(_section(index, section) for index, section in enumerate(shown, 1))
    more = len(report.sections) - len(shown)
    left_out = f'<p class="empty">{more:,} more scans are in the JSON document.</p>' if more > 0 else ""
    links = "".join(f'<li><a href="#scan-{index}">Scan {index}</a></li>' for index in range(1, len(shown) + 1))
    made = f"Made by lakeprune {__version__} in {report.elapsed_ms:,} ms from plans and metadata: nothing was executed."
    return (
        page_head("DataFrame" if report.query is None else report.query)
        + f'<body>\n<a class="skip" href="#main">Skip to the report</a>\n<header>{_head(report)}</header>\n'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n<main id="main">{scans}{left_out}{page_end(made)}'
    )


def notebook(report: DataFrameReport) -> str:
    """A fragment without a script: each scan in short."""
    parts = [f"<p>{words(line)}</p>" for line in _lines(report)]
    for index, section in enumerate(report.sections[:_MOST_SCANS], 1):
        parts.append(f"<p><strong>Scan {index} of {len(report.sections)}</strong></p>")
        if isinstance(section, DeltaSection):
            parts.append(f"<p>{_delta_plan(section.scan.plan)}</p>{compact(section.report)}")
        else:
            parts.append(_listed(section.scan))
    return f"<div>{''.join(parts)}</div>"


def _head(report: DataFrameReport) -> str:
    title = "DataFrame" if report.query is None else "Query"
    query = "" if report.query is None else f'<pre class="predicate" aria-label="Query">{words(report.query, 2000)}</pre>'
    told = "".join(f"<p>{words(line)}</p>" for line in _lines(report))
    scans = f"{len(report.sections)} scan{'' if len(report.sections) == 1 else 's'} of files"
    return f'<p class="eyebrow">lakeprune report · {scans}</p><h1>{title}</h1>{query}{told}'


def _lines(report: DataFrameReport) -> list[str]:
    lines = [f"Time zone {report.zone}."]
    lines += [f"Of {place} no file is read: no row can match, or the metadata has the answer." for place in report.unread]
    return lines + [f"Not explained: {other.source}: {other.why}." for other in report.unexplained]


def _section(index: int, section: Section) -> str:
    heading = f'<h2 id="scan-{index}-title">Scan {index}: {words(_title(section))}</h2>'
    content = _delta(section) if isinstance(section, DeltaSection) else _parquet(section)
    return f'\n<section id="scan-{index}" aria-labelledby="scan-{index}-title">{heading}{content}</section>'


def _title(section: Section) -> str:
    if isinstance(section, DeltaSection):
        return f"{section.scan.table or section.scan.location}, version {section.scan.version}"
    return section.scan.table or ", ".join(section.scan.locations)


def _delta(section: DeltaSection) -> str:
    report, scan = section.report, section.scan
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
    unused = "".join(f"<li>does not use {code(text)}</li>" for text in plan.unused[:_MOST_FILTERS])
    told = f'<ul class="plain">{unused}</ul>' if unused else ""
    return f"Delta Spark plans to read <strong>{number(plan.files)}</strong>{whole} files, {size(plan.bytes)}.{told}"


def _parquet(section: ParquetSection) -> str:
    failed = "".join(f"<p><strong>gate failed:</strong> {words(one.message)}</p>" for one in section.assertions if not one.passed)
    return _filters(list(section.scan.filters)) + _listed(section.scan) + failed


def _listed(scan: ParquetScan) -> str:
    whole = "" if scan.total_files is None else f" of {number(scan.total_files)}"
    listed = "" if scan.files is None else f"<p>Spark lists {number(scan.files)}{whole} files, {size(scan.bytes or 0)}.</p>"
    told = "The statistics of plain Parquet files are not read yet."
    return f"<p>Parquet: {code(', '.join(scan.locations))}</p>{listed}<p>{told}</p>"


def _filters(texts: list[str]) -> str:
    items = "".join(f"<li>{code(text)}</li>" for text in texts[:_MOST_FILTERS])
    return (
        f'<p>Spark left on this scan:</p><ul class="plain">{items}</ul>' if items else "<p>Spark left no filter on this scan.</p>"
    )
