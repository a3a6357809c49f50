"""The report as one HTML page, under 1 MB for any table. The answer, the gates, the first diagnosis and a plot come first.

In: a report. Out: the page in pieces. Everything from outside is escaped in words.py; frame.py has what every page has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lakeprune.render.html.clauses import clauses
from lakeprune.render.html.files import file_list, file_rows
from lakeprune.render.html.findings import diagnoses, legend_of, notes
from lakeprune.render.html.frame import page_end, page_top, section
from lakeprune.render.html.funnel import funnel
from lakeprune.render.html.glance import glance
from lakeprune.render.html.heat import heat_map
from lakeprune.render.html.pyramid import pyramid
from lakeprune.render.html.strips import matters_most, plots
from lakeprune.render.html.summary import summary
from lakeprune.render.html.words import code, plain_list, words
from lakeprune.report.document import View
from lakeprune.report.model import Report
from lakeprune.report.pictures.model import Picture, Strip

MOST_BYTES = 1_000_000
_FOR_FILES = 450_000  # of them, unless the rest of the page leaves less
_RESERVE = 20_000

_DEFINITIONS = (
    '<svg width="0" height="0" aria-hidden="true" class="defs"><defs><pattern id="hatch" width="7" height="7" '
    'patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="7" height="7" class="hatch-ground"/>'
    '<rect width="3.5" height="7" class="hatch-line"/></pattern></defs></svg>'
)


def html_chunks(report: Report, _: View) -> Iterator[str]:
    """The page, piece by piece."""
    picture = report.picture()
    has_files = report.numbers.total.files > 0
    last = page_end(report.elapsed_ms, "metadata alone: no data file was opened")
    if noted := notes(report):
        last = section("notes", "Notes", noted) + last
    for listed in (len(picture.files), 0):  # bars link to files of the list; a page too long for all of them has no links
        parts = _parts(report, picture, {file.path: place for place, file in enumerate(picture.files[:listed], 1)})
        spent = sum(len(part.encode("utf-8", "replace")) for part in (*parts, last))
        rows, count = file_rows(report, picture.files, max(0, min(_FOR_FILES, MOST_BYTES - _RESERVE - spent)))
        if count == listed:
            break
    yield from parts
    if has_files:
        yield section("files", "Files", file_list(report, rows, count))
    yield last


def _parts(report: Report, picture: Picture, links: Mapping[str, int]) -> list[str]:
    """Everything before the list of files."""
    sections = _sections(report, picture, links)
    names = [(identifier, title) for identifier, title, _ in sections]
    names += [("files", "Files")] if report.numbers.total.files else []
    return [page_top(report.table, summary(report), names, _DEFINITIONS), *(section(*each) for each in sections)]


def _sections(report: Report, picture: Picture, links: Mapping[str, int]) -> list[tuple[str, str, str]]:
    """Identifier, title and content, in the order of reading."""
    if not report.numbers.total.files:
        return [("funnel", "Funnel", '<p class="empty">The table has no files at this version, so there is nothing to read.</p>')]
    found = []
    lead = matters_most(picture, [diagnosis.column for diagnosis in report.diagnoses or ()])
    drawn = plots(picture, lead, links)
    if first := glance(report, lead, drawn.lead):
        found.append(("glance", "At a glance", first))
    found.append(("funnel", "Funnel", funnel(report)))
    if levels := pyramid(report):
        found.append(("levels", "Levels", levels))
    if report.predicate is None:
        missing = '<p class="empty">No predicate was given, so every file would be read. Give one with <code>-w</code>.</p>'
        found.append(("clauses", "Clauses", missing))
    elif report.clauses:
        found.append(("clauses", "Clauses", clauses(report)))
    if report.predicate is not None and len(report.diagnoses or ()) > 1:
        found.append(("diagnoses", "More diagnoses", diagnoses(report.diagnoses or (), first=2)))
    if drawn.others or picture.undrawn:
        found.append(("ranges", "Ranges", _ranges(picture, lead, drawn.others)))
    if picture.heat is not None:
        found.append(("partitions", "Partitions", heat_map(picture.heat)))
    return found


def _ranges(picture: Picture, lead: Strip | None, others: str) -> str:
    intro = "<p>Where each file’s values lie between its minimum and maximum, sorted by where they start.</p>"
    absent = plain_list(f"{code(gone.column, 120)}: {words(gone.why)}" for gone in picture.undrawn[:40])
    missing = f'<div class="empty"><p>Not drawn:</p>{absent}</div>' if absent else ""
    legend = legend_of([strip for strip in picture.strips if strip is not lead])
    return (intro + legend + others if others else "") + missing
