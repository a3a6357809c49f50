"""What was found beside the numbers: the diagnoses with what would help, the gates, the notes."""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.render import phrases
from lakeprune.render.html.words import code, plain_list, words
from lakeprune.report.document import outcome
from lakeprune.report.gates import Assertion
from lakeprune.report.model import Diagnosis, Report

_MOST = 40


def diagnoses(found: Sequence[Diagnosis]) -> str:
    """One article per diagnosis, or one line when there is nothing to say."""
    if not found:
        return '<p class="empty">Nothing to say: no diagnosis applies to this predicate on this table.</p>'
    more = len(found) - _MOST
    rest = f'<p class="remark">{more:,} more: the JSON document has them all.</p>' if more > 0 else ""
    return "".join(_article(diagnosis) for diagnosis in found[:_MOST]) + rest


def _article(diagnosis: Diagnosis) -> str:
    about = [code(text, 200) for text in (diagnosis.clause, diagnosis.column) if text is not None]
    rewrite = f"<pre>{words(diagnosis.rewrite, 2000)}</pre>" if diagnosis.rewrite is not None else ""
    return (
        f'<article class="diagnosis {diagnosis.severity.value}"><h3><span class="tag">{diagnosis.severity.value}</span> '
        f'{words(diagnosis.code)} <span class="muted">{" · ".join(about)}</span></h3>'
        f"<p>{words(diagnosis.message, 1000)}</p><p><strong>Fix:</strong> {words(diagnosis.suggestion, 1000)}</p>"
        f"{rewrite}</article>"
    )


def gates(report: Report) -> str:
    """Every gate with its outcome; nothing without any."""
    if not report.assertions:
        return ""
    items = []
    for assertion in report.assertions:
        result = outcome(assertion.passed)
        about = f'<span class="muted">{words(phrases.details(assertion))}</span>'
        items.append(f'<li class="{result}"><b>{result}</b> {words(assertion.name)} {about}</li>')
    return f'<ul class="gates">{"".join(items)}</ul>'


def failed_gates(assertions: Sequence[Assertion]) -> str:
    return "".join(f"<p><strong>gate failed:</strong> {words(one.message)}</p>" for one in assertions if not one.passed)


def notes(report: Report) -> str:
    """What a reader should know about how the table was read; nothing when that is all."""
    noted = phrases.notes(report)[:_MOST]
    return plain_list((f'<span class="tag">{words(tag)}</span> ' if tag else "") + words(message) for tag, message in noted)
