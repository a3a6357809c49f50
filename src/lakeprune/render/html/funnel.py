"""The funnel: files, bytes and rows that remain after each kind of evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lakeprune.render.html.words import number, plural, size
from lakeprune.report.amount import Amount, percent_text
from lakeprune.report.model import Report

_MEASURES: Sequence[tuple[str, Callable[[Amount], int], Callable[[int], str]]] = (
    ("Files", lambda amount: amount.files, number),
    ("Bytes", lambda amount: amount.bytes, size),
    ("Rows", lambda amount: amount.rows, number),
)


def steps(report: Report) -> list[tuple[str, Amount]]:
    """What there was, and what each phase left."""
    found = [("In the table", report.numbers.total)]
    for phase in report.phases:
        title = phase.name.partition(" (")[0]
        found.append((f"After {title[:1].lower()}{title[1:]}", phase.after))
    return found


def funnel(report: Report) -> str:
    """Three small bar charts side by side, one per measure."""
    rungs = steps(report)
    charts = []
    for title, measure, shown in _MEASURES:
        whole = measure(report.numbers.total)
        bars = "".join(
            _bar(name, measure(amount), whole, shown, "in" if index == 0 else "out" if index == len(rungs) - 1 else "mid")
            for index, (name, amount) in enumerate(rungs)
        )
        charts.append(f'<div class="measure" data-measure="{title.lower()}"><h3>{title}</h3><dl>{bars}</dl></div>')
    return f'<div class="funnel">{"".join(charts)}</div>{_remarks(report)}'


def _bar(name: str, part: int, whole: int, shown: Callable[[int], str], role: str) -> str:
    share = 100 * part / whole if whole else 0
    width = max(share, 0.4) if part else 0
    label = "" if role == "in" else f' <span class="share">{percent_text(part, whole)}</span>'
    return (
        f"<dt>{name}</dt><dd><span>{shown(part)}{label}</span>"
        f'<svg class="bar" width="100%" height="10" aria-hidden="true"><rect class="track" width="100%" height="10" rx="2"/>'
        f'<rect class="{role}" width="{width:.2f}%" height="10" rx="2"/></svg></dd>'
    )


def _remarks(report: Report) -> str:
    numbers = report.numbers
    remarks = []
    if report.predicate is not None and numbers.full.files:
        remarks.append(f"{plural(numbers.full.files, 'file')} of those left fully matched.")
    if numbers.empty.files:
        remarks.append(f"{plural(numbers.empty.files, 'file')} dropped for having no live row.")
    if numbers.total.files_without_rows:
        remarks.append(f"Rows exclude {plural(numbers.total.files_without_rows, 'file')} without a recorded row count.")
    return f'<p class="remark">{" ".join(remarks)}</p>' if remarks else ""
