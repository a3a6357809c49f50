"""The funnel: files, bytes and rows that remain after each kind of evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lakeprune.render.html.words import number, plural, sizes_of
from lakeprune.report.amount import Amount, percent_text, unread_text
from lakeprune.report.model import Report

_MEASURES: Sequence[tuple[str, Callable[[Amount], int], Callable[[Amount], str]]] = (
    ("Files", lambda amount: amount.files, lambda amount: number(amount.files)),
    ("Bytes", lambda amount: amount.bytes, sizes_of),
    ("Rows", lambda amount: amount.rows, lambda amount: number(amount.rows)),
)


def steps(report: Report) -> list[tuple[str, Amount]]:
    """What there was, and what each phase left."""
    found = [("In the table", report.numbers.total)]
    for phase in report.phases:
        title = phase.name.partition(" (")[0]
        found.append((f"After {title[:1].lower()}{title[1:]}", phase.after))
    return found


def funnel(report: Report, scope: str = "") -> str:
    """One bar chart, and a switch between its measures; `scope` tells it from others on the page."""
    rungs = steps(report)
    charts: list[str] = []
    choices: list[str] = []
    for title, measure, shown in _MEASURES:
        name, whole = title.lower(), measure(report.numbers.total)
        bars = "".join(
            _bar(rung, measure(amount), whole, shown(amount), "in" if index == 0 else "out" if index == len(rungs) - 1 else "mid")
            for index, (rung, amount) in enumerate(rungs)
        )
        charts.append(f'<div class="measure" data-measure="{name}"><h3>{title}</h3><dl>{bars}</dl></div>')
        checked = "" if choices else " checked"
        choices.append(f'<label><input type="radio" name="{scope}measure" value="{name}"{checked}> {title}</label>')
    switch = f'<fieldset class="switch"><legend>Count</legend>{"".join(choices)}</fieldset>'
    return f'<div class="funnel">{switch}{"".join(charts)}</div>{_remarks(report)}'


def _bar(name: str, part: int, whole: int, shown: str, role: str) -> str:
    share = 100 * part / whole if whole else 0
    width = max(share, 0.4) if part else 0
    label = "" if role == "in" else f' <span class="share">{percent_text(part, whole)}</span>'
    return (
        f"<dt>{name}</dt><dd><span>{shown}{label}</span>"
        f'<svg class="bar" width="100%" height="10" aria-hidden="true"><rect class="track" width="100%" height="10" rx="2"/>'
        f'<rect class="{role}" width="{width:.2f}%" height="10" rx="2"/></svg></dd>'
    )


def _remarks(report: Report) -> str:
    numbers = report.numbers
    remarks = []
    if report.predicate is not None and numbers.full.files:
        verb = "is" if numbers.full.files == 1 else "are"
        remarks.append(f"{numbers.full.files:,} of the files left {verb} fully matched: every row satisfies the predicate.")
    if numbers.empty.files:
        remarks.append(f"{plural(numbers.empty.files, 'file')} dropped for having no live row.")
    bounded = numbers.total.files_with_bounded_rows
    if unknown := numbers.total.files_without_rows - bounded:
        remarks.append(f"Rows exclude {plural(unknown, 'file')} without a recorded row count.")
    if bounded:
        most = f"{number(numbers.total.bounded_rows)} rows at most"
        remarks.append(f"Rows exclude {plural(bounded, 'file')} whose deletes are not counted, with {most}.")
    if numbers.total.files_without_bytes:
        remarks.append(f"Bytes exclude {unread_text(numbers.total)}.")
    return f'<p class="remark">{" ".join(remarks)}</p>' if remarks else ""
