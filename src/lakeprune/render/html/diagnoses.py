"""The diagnoses: why the predicate reads more than it might, and what would help."""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.render.html.words import code, words
from lakeprune.report.model import Diagnosis

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
