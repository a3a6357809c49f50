"""A comparison of engines as one self-contained page: a bar per engine, then the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.html.frame import heading, page_end, page_top, section
from lakeprune.render.html.words import number, plural, table, words
from lakeprune.render.text.compare import said_by

if TYPE_CHECKING:
    from lakeprune.apps.compare.model import Comparison
    from lakeprune.report.document import View

_SOURCE = "the table’s metadata and the files that engines opened"


def page(found: Comparison, _: View) -> Iterator[str]:
    version = "" if found.version is None else f", version {found.version}"
    yield page_top(found.table, heading(f"compare · Delta table{version}", found.table, found.predicate))
    asks = f"<p>Metadata asks for {number(found.files_needed)} of {plural(found.files_total, 'file')}.</p>"
    yield section("opened", "Files that each engine opens", asks + _bars(found))
    rows = [
        (words(row.engine), words(row.version or "-"), _count(row.files_opened), _count(row.rows), words(said_by(row)))
        for row in found.engines
    ]
    heads = ("engine", "version", "files opened", "rows", "conditions it gives to its scan")
    yield section("engines", "In numbers", table(rows, heads))
    clauses = [(words(clause.text), words(clause.pushdown)) for clause in found.clauses]
    yield section("clauses", "Clauses", table(clauses, ("clause", "who guarantees it")))
    yield page_end(found.elapsed_ms, _SOURCE)


def notebook(found: Comparison, _: View) -> Iterator[str]:
    yield f'<div class="lakeprune-compare">{_bars(found)}</div>'


def _bars(found: Comparison) -> str:
    items = [_bar("metadata allows", found.files_needed, found.files_total)]
    items += [
        _bar(row.engine, row.files_opened, found.files_total)
        if row.files_opened is not None
        else f"<dt>{words(row.engine)}</dt><dd>{words(row.message or '')}</dd>"
        for row in found.engines
    ]
    return f'<div class="funnel"><div class="measure"><dl>{"".join(items)}</dl></div></div>'


def _bar(name: str, files: int, total: int) -> str:
    width = 100 * files / total if total else 0
    return (
        f"<dt>{words(name)}</dt><dd><span>{plural(files, 'file')}</span>"
        f'<svg class="bar" width="100%" height="10" aria-hidden="true"><rect class="track" width="100%" height="10" rx="2"/>'
        f'<rect class="mid" width="{width:.2f}%" height="10" rx="2"/></svg></dd>'
    )


def _count(value: int | None) -> str:
    return "-" if value is None else number(value)
