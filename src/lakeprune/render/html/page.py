"""The report as one HTML page, under 1 MB whatever the table.

In: a report. Out: the page in pieces. Everything from outside is escaped in words.py; frame.py has what every page has.
"""

from __future__ import annotations

from collections.abc import Iterator

from lakeprune.render.html.clauses import clauses
from lakeprune.render.html.files import file_list
from lakeprune.render.html.findings import diagnoses, gates, notes
from lakeprune.render.html.frame import page_end, page_top, section
from lakeprune.render.html.funnel import funnel
from lakeprune.render.html.heat import heat_map
from lakeprune.render.html.pyramid import pyramid
from lakeprune.render.html.strips import strips
from lakeprune.render.html.summary import summary
from lakeprune.render.html.words import code, plain_list, words
from lakeprune.report.document import View
from lakeprune.report.model import Report
from lakeprune.report.pictures.model import Picture

MOST_BYTES = 1_000_000
_FOR_FILES = 450_000  # of them, unless the rest of the page leaves less
_RESERVE = 20_000

_DEFINITIONS = (
    '<svg width="0" height="0" aria-hidden="true" class="defs"><defs><pattern id="hatch" width="7" height="7" '
    'patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="7" height="7" class="hatch-ground"/>'
    '<rect width="3.5" height="7" class="hatch-line"/></pattern></defs></svg>'
)
_MARKS = {
    "drop": "dropped",
    "keep": "kept, some rows may match",
    "full": "kept, every row matches",
    "assumed": "dropped, if no NaN is hidden",
    "range": "the predicate’s range",
}


def html_chunks(report: Report, _: View) -> Iterator[str]:
    """The page, piece by piece."""
    picture = report.picture()
    sections = _sections(report, picture)
    has_files = report.numbers.total.files > 0
    links = [(identifier, title) for identifier, title, _ in sections] + ([("files", "Files")] if has_files else [])
    parts = [page_top(report.table, summary(report), links, _DEFINITIONS), *(section(*each) for each in sections)]
    last = page_end(report.elapsed_ms, "metadata alone: no data file was opened")
    if noted := notes(report):
        last = section("notes", "Notes", noted) + last
    spent = sum(len(part.encode("utf-8", "replace")) for part in (*parts, last))
    yield from parts
    if has_files:
        yield section("files", "Files", file_list(report, picture.files, max(0, min(_FOR_FILES, MOST_BYTES - _RESERVE - spent))))
    yield last


def _sections(report: Report, picture: Picture) -> list[tuple[str, str, str]]:
    """Identifier, title and content, in the order of reading."""
    if not report.numbers.total.files:
        return [("funnel", "Funnel", '<p class="empty">The table has no files at this version, so there is nothing to read.</p>')]
    found = [("funnel", "Funnel", funnel(report))]
    if levels := pyramid(report):
        found.append(("levels", "Levels", levels))
    if report.predicate is None:
        missing = '<p class="empty">No predicate was given, so every file would be read. Give one with <code>-w</code>.</p>'
        found.append(("clauses", "Clauses", missing))
    elif report.clauses:
        found.append(("clauses", "Clauses", clauses(report)))
    if report.assertions:
        found.insert(1 + bool(levels), ("gates", "Gates", gates(report)))
    if report.diagnoses is not None and report.predicate is not None:
        found.append(("diagnoses", "Diagnoses", diagnoses(report.diagnoses)))
    if picture.strips or picture.undrawn:
        found.append(("ranges", "Ranges", _ranges(picture)))
    if picture.heat is not None:
        found.append(("partitions", "Partitions", heat_map(picture.heat)))
    return found


def _ranges(picture: Picture) -> str:
    intro = "<p>Where each file’s values lie between its minimum and maximum, sorted by where they start.</p>"
    absent = plain_list(f"{code(gone.column, 120)}: {words(gone.why)}" for gone in picture.undrawn[:40])
    missing = f'<div class="empty"><p>Not drawn:</p>{absent}</div>' if absent else ""
    return (intro + _legend(picture) + strips(picture) if picture.strips else "") + missing


def _legend(picture: Picture) -> str:
    has_assumed = any(lane.files[-1] for strip in picture.strips for lane in strip.lanes)
    marks = "".join(
        f'<li><svg width="22" height="10" aria-hidden="true"><rect class="{style}" x="1" y="1" width="20" height="8"/></svg>'
        f"{meaning}</li>"
        for style, meaning in _MARKS.items()
        if style != "assumed" or has_assumed
    )
    return f'<ul class="legend" aria-label="What the marks mean">{marks}</ul>'
