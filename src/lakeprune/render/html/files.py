"""The list of the largest files, as a table that a small script makes searchable and sortable.

It takes as many rows as fit the bytes left for it: paths may be long, and the page has to stay small.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.render.html.words import plural, words
from lakeprune.render.phrases import KEPT, dropped_by
from lakeprune.report.amount import size_text
from lakeprune.report.model import FileReport, Report
from lakeprune.report.verdict import Keeps
from lakeprune.skipping.ladder import Ladder

_LONGEST_PATH = 400
_MOST_COLUMNS = 3  # whose bounds are shown


def file_rows(report: Report, files: Sequence[FileReport], budget: int) -> tuple[str, int]:
    """As many rows as fit into `budget` bytes, and how many they are."""
    numbers = {clause.clause.text: index for index, clause in enumerate(report.clauses, 1)}
    rows: list[str] = []
    for place, file in enumerate(files, 1):
        why = _why(file, numbers, report.facts.evidence.ladder) if report.predicate is not None else ""
        row = _row(file, why, place)
        budget -= len(row.encode("utf-8", "replace"))
        if budget < 0:
            break
        rows.append(row)
    return "".join(rows), len(rows)


def file_list(report: Report, rows: str, count: int) -> str:
    """The section's content with so many rows."""
    total = report.numbers.total.files
    listed = plural(total, "file") if count == total else f"the {count:,} largest of {total:,} files"
    return (
        f"<p>Listed: {listed}, by bytes.</p>"
        '<form class="search" role="search"><label for="find">Search</label>'
        '<input id="find" type="search" autocomplete="off" spellcheck="false" placeholder="path, partition, verdict, reason">'
        '<kbd aria-hidden="true">/</kbd><output id="found" for="find" aria-live="polite"></output></form>'
        '<div class="scroll list" tabindex="0" role="region" aria-label="Files"><table id="file-table"><thead><tr>'
        f"{_head('Verdict')}{_head('File')}{_head('Bytes', 'num', 'descending')}{_head('Rows', 'num')}{_head('Why')}"
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
        '<p id="none" class="empty" hidden>No listed file matches the search.</p>'
    )


def _head(name: str, style: str = "", order: str = "none") -> str:
    return f'<th scope="col" class="{style}" aria-sort="{order}"><button type="button">{name}</button></th>'


def _row(file: FileReport, why: str, place: int) -> str:
    verdict = file.verdict.value if why else "READ"  # without a predicate there is no reason
    style = "assumed" if file.assumes else verdict.lower()
    rows = "" if file.live_rows is None else f'<data value="{file.live_rows}">{file.live_rows:,}</data>'
    return (
        f'<tr id="file-{place}"><td><b class="{style}">{verdict}</b>'
        f"<td><code>{words(file.path, _LONGEST_PATH)}</code>{_known(file)}"
        f'<td class="num"><data value="{file.size_bytes}">{size_text(file.size_bytes)}</data><td class="num">{rows}'
        f"<td>{why}"
    )


def _known(file: FileReport) -> str:
    """Its partition, unless the path says it already, and its bounds of the predicate's columns."""
    known = [
        f"{name} = {'NULL' if value is None else value}"
        for name, value in file.partition_values.items()
        if f"{name}={value}" not in file.path
    ]
    known += [f"{name} {_end(ends.min)} to {_end(ends.max)}" for name, ends in list(file.bounds.items())[:_MOST_COLUMNS]]
    if not file.has_stats:
        known.append("no statistics")
    return "".join(f"<small>{words(part, 100)}</small>" for part in known)


def _end(value: object) -> str:
    return "…" if value is None else str(value)


def _why(file: FileReport, numbers: dict[str, int], ladder: Ladder) -> str:
    number = numbers.get(file.clause) if file.clause is not None else None
    by = "" if number is None else f"clause {number}: "
    if file.credit is not None:
        assumed = f", if no NaN is hidden in {words(', '.join(file.assumes), 80)}" if file.assumes else ""
        return f"{by}{dropped_by(file.credit, ladder)}{assumed}" if file.clause is not None else "no live row"
    return f"{by}{KEPT[file.reason]}" if file.reason not in (None, Keeps.ALL_ROWS_MATCH) else KEPT[Keeps.ALL_ROWS_MATCH]
