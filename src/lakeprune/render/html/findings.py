"""What was found beside the numbers: the diagnoses with what would help, the gates, the notes, and what the marks mean."""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.render import phrases
from lakeprune.render.html.words import code, plain_list, words
from lakeprune.report.document import outcome
from lakeprune.report.gates import Assertion
from lakeprune.report.model import Diagnosis, Report
from lakeprune.report.pictures.model import Shade, Strip

_MOST = 40
_MARKS = {
    Shade.KEEP: "kept, some rows may match",
    Shade.FULL: "kept, every row matches",
    Shade.BY_PARTITION: "dropped by partition values",
    Shade.DROP: "dropped by a clause on this column",
    Shade.BY_ANOTHER: "dropped, not by this column",
    Shade.ASSUMED: "dropped, if no NaN is hidden",
}


def diagnoses(found: Sequence[Diagnosis], scope: str = "", first: int = 1) -> str:
    """One article per diagnosis from the first that is wanted, or one line when there is none at all.

    `scope` begins the identifiers of a page that has several reports.
    """
    if not found:
        return '<p class="empty">Nothing to say: no diagnosis applies to this predicate on this table.</p>'
    more = len(found) - _MOST
    rest = f'<p class="remark">{more:,} more: the JSON document has them all.</p>' if more > 0 else ""
    return "".join(article(found[place - 1], f"{scope}{place}") for place in range(first, min(len(found), _MOST) + 1)) + rest


def article(diagnosis: Diagnosis, place: str = "1") -> str:
    """A diagnosis with what would help, and a button that copies its rewrite."""
    about = [code(text, 200) for text in (diagnosis.clause, diagnosis.column) if text is not None]
    rewrite = ""
    if diagnosis.rewrite is not None:
        identifier = f"rewrite-{place}"
        button = f'<button type="button" class="copy" data-copies="{identifier}" hidden>Copy</button>'
        rewrite = f'<div class="rewrite"><pre id="{identifier}">{words(diagnosis.rewrite, 2000)}</pre>{button}</div>'
    return (
        f'<article class="diagnosis {diagnosis.severity.value}" id="diagnosis-{place}"><h3>'
        f'<span class="tag">{diagnosis.severity.value}</span> '
        f'{words(diagnosis.code)} <span class="muted">{" · ".join(about)}</span></h3>'
        f"<p>{words(diagnosis.message, 1000)}</p><p><strong>Fix:</strong> {words(diagnosis.suggestion, 1000)}</p>"
        f"{rewrite}</article>"
    )


def gates(report: Report) -> str:
    """The state of the gates: whether all passed, then each with its outcome; nothing without any."""
    if not report.assertions:
        return ""
    state = "pass" if report.passed else "fail"
    summed = "Gates pass" if report.passed else "Gates fail"
    items = []
    for assertion in report.assertions:
        result = outcome(assertion.passed)
        about = f'<span class="muted">{words(phrases.details(assertion))}</span>'
        items.append(f'<li class="{result}"><b>{result}</b> {words(assertion.name)} {about}</li>')
    return f'<div class="gate-state {state}" role="status"><strong>{summed}</strong><ul class="gates">{"".join(items)}</ul></div>'


def failed_gates(assertions: Sequence[Assertion]) -> str:
    return "".join(f"<p><strong>gate failed:</strong> {words(one.message)}</p>" for one in assertions if not one.passed)


def notes(report: Report) -> str:
    """What a reader should know about how the table was read; nothing when that is all."""
    noted = phrases.notes(report)[:_MOST]
    return plain_list((f'<span class="tag">{words(tag)}</span> ' if tag else "") + words(message) for tag, message in noted)


def legend_of(strips: Sequence[Strip]) -> str:
    """What the marks mean, of those that are on these plots."""
    lanes = [lane for strip in strips for lane in strip.lanes]
    drawn = {mark.shade for lane in lanes for mark in lane.marks}
    for lane in (lane for lane in lanes if lane.depth):
        drawn |= {shade for shade, counts in zip(Shade, lane.depth, strict=True) if any(counts)}
    marks = [(shade.value, meaning) for shade, meaning in _MARKS.items() if shade in drawn]
    items = "".join(
        f'<li><svg width="22" height="10" aria-hidden="true"><rect class="{style}" x="1" y="1" width="20" height="8"/></svg>'
        f"{meaning}</li>"
        for style, meaning in (*marks, ("range", "the predicate’s range"))
    )
    return f'<ul class="legend" aria-label="What the marks mean">{items}</ul>'
