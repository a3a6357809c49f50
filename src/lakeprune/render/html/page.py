"""The report as one self-contained HTML page: no network, no external asset, under 1 MB whatever the table.

In: a report. Out: the page in pieces. Everything from outside is escaped in words.py; a Content-Security-Policy lets the browser
run and apply nothing but the one script and the one style sheet that are part of the page, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files as package_files

from lakeprune import __version__
from lakeprune.render.html.clauses import clauses
from lakeprune.render.html.diagnoses import diagnoses
from lakeprune.render.html.files import file_list
from lakeprune.render.html.funnel import funnel
from lakeprune.render.html.heat import heat_map
from lakeprune.render.html.strips import strips
from lakeprune.render.html.summary import gates, notes, summary
from lakeprune.render.html.words import words
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
_LEGEND = (
    '<ul class="legend" aria-label="What the marks mean">'
    + "".join(
        f'<li><svg width="22" height="10" aria-hidden="true"><rect class="{style}" x="1" y="1" width="20" height="8"/></svg>'
        f"{told}</li>"
        for style, told in (
            ("drop", "dropped"),
            ("keep", "kept, some rows may match"),
            ("full", "kept, every row matches"),
            ("range", "the predicate’s range"),
        )
    )
    + "</ul>"
)


def html_chunks(report: Report) -> Iterator[str]:
    """The page, piece by piece."""
    picture = report.picture()
    sections = _sections(report, picture)
    head = page_head(report.table)
    body = _body(report, sections)
    spent = sum(len(part.encode("utf-8", "replace")) for part in (head, *body))
    budget = max(0, min(_FOR_FILES, MOST_BYTES - _RESERVE - spent))
    yield head
    yield body[0]
    if report.numbers.total.files:
        yield section("files", "Files", file_list(report, picture.files, budget))
    yield body[1]


def _sections(report: Report, picture: Picture) -> list[tuple[str, str, str]]:
    """Identifier, title and content, in the order of reading."""
    if not report.numbers.total.files:
        return [("funnel", "Funnel", '<p class="empty">The table has no files at this version, so there is nothing to read.</p>')]
    found = [("funnel", "Funnel", funnel(report))]
    if report.predicate is None:
        told = '<p class="empty">No predicate was given, so every file would be read. Give one with <code>-w</code>.</p>'
        found.append(("clauses", "Clauses", told))
    elif report.clauses:
        found.append(("clauses", "Clauses", clauses(report)))
    if report.assertions:
        found.insert(1, ("gates", "Gates", gates(report)))
    if report.diagnoses is not None and report.predicate is not None:
        found.append(("diagnoses", "Diagnoses", diagnoses(report.diagnoses)))
    if picture.strips or picture.undrawn:
        found.append(("ranges", "Ranges", _ranges(picture)))
    if picture.heat is not None:
        found.append(("partitions", "Partitions", heat_map(picture.heat)))
    return found


def _ranges(picture: Picture) -> str:
    intro = "<p>Where each file’s values lie between its minimum and maximum, sorted by where they start.</p>"
    absent = "".join(f"<li><code>{words(gone.column, 120)}</code>: {words(gone.why)}</li>" for gone in picture.undrawn[:40])
    missing = f'<div class="empty"><p>Not drawn:</p><ul class="plain">{absent}</ul></div>' if absent else ""
    return (intro + _LEGEND + strips(picture) if picture.strips else "") + missing


def page_head(title: str) -> str:
    """Everything before the body: the style sheet, and a policy that allows nothing else."""
    policy = (
        f"default-src 'none'; style-src '{_hash(_asset('page.css'))}'; script-src '{_hash(_asset('page.js'))}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n<link rel="icon" href="data:,">\n'
        f"<title>{words(title, 120)}: lakeprune report</title>\n<style>{_asset('page.css')}</style>\n</head>\n"
    )


def _body(report: Report, sections: list[tuple[str, str, str]]) -> tuple[str, str]:
    """What comes before the list of files, and what comes after it."""
    titles = [(identifier, title) for identifier, title, _ in sections]
    if report.numbers.total.files:
        titles.append(("files", "Files"))
    links = "".join(f'<li><a href="#{identifier}">{title}</a></li>' for identifier, title in titles)
    before = (
        f'<body>\n<a class="skip" href="#main">Skip to the report</a>{_DEFINITIONS}\n<header>{summary(report)}</header>\n'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n<main id="main">' + "".join(section(*each) for each in sections)
    )
    made = f"Made by lakeprune {__version__} in {report.elapsed_ms:,} ms from metadata alone: no data file was opened."
    told = notes(report)
    last = section("notes", "Notes", told) if told else ""
    return before, f"{last}{page_end(made)}"


def page_end(made: str) -> str:
    """What closes the page: who made it, and the one script."""
    return f"\n</main>\n<footer><p>{made}</p></footer>\n<script>{_asset('page.js')}</script>\n</body>\n</html>\n"


def section(identifier: str, title: str, content: str) -> str:
    """One part of the page, with its heading."""
    heading = f'<h2 id="{identifier}-title">{title}</h2>'
    return f'\n<section id="{identifier}" aria-labelledby="{identifier}-title">{heading}{content}</section>'


@cache
def _asset(name: str) -> str:
    return package_files("lakeprune.render.html").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
