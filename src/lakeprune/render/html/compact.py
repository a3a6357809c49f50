"""The report for a notebook cell: answer, diagnoses, funnel and clauses. Nothing is read again for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakeprune.render.html.findings import failed_gates
from lakeprune.render.html.funnel import steps
from lakeprune.render.html.summary import answer, table_of
from lakeprune.render.html.words import code, number, plain_list, table, words
from lakeprune.report.amount import bytes_text, percent_text
from lakeprune.report.document import View
from lakeprune.report.model import Report

_MOST_CLAUSES = 20
_MOST_DIAGNOSES = 5
_STYLE = (
    ".lakeprune{color-scheme:light dark;max-width:60rem;padding:.8rem 1rem;color:#1c2126;background:#fff;"
    "border:1px solid #dfe2e6;border-radius:8px;font:14px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums}"
    ".lakeprune p{margin:.2rem 0}.lakeprune .muted,.lakeprune thead{color:#58616c}.lakeprune code{overflow-wrap:anywhere}"
    ".lakeprune table{margin:.6rem 0 0;border-collapse:collapse;font-size:13px}"
    ".lakeprune th,.lakeprune td{padding:.2rem .9rem .2rem 0;text-align:left;font-weight:400;background:none;color:inherit}"
    ".lakeprune .num{text-align:right}.lakeprune rect{fill:#c2410c}.lakeprune rect.track{fill:#dfe2e6}"
    "@media (prefers-color-scheme:dark){.lakeprune{color:#e4e8ec;background:#1a1e24;border-color:#313840}"
    ".lakeprune .muted,.lakeprune thead{color:#a2acb8}.lakeprune rect{fill:#fb8a3c}.lakeprune rect.track{fill:#313840}}"
)


def notebook(report: Report, _: View) -> Iterator[str]:
    """The report of a notebook cell."""
    yield compact(report)


def compact(report: Report) -> str:
    """A fragment that carries its own style."""
    about = table_of(report.facts, ", ")
    predicate = "" if report.predicate is None else f"<p>{code(report.predicate)}</p>"
    return (
        f'<div class="lakeprune"><style>{_STYLE}</style><p><strong>{words(report.table)}</strong> '
        f'<span class="muted">{about}</span></p>{predicate}{answer(report)}'
        f"{failed_gates(report.assertions)}{_diagnoses(report)}{_funnel(report)}{_clauses(report)}</div>"
    )


def overview(reports: Sequence[Report]) -> str:
    """Several reports as one table, a line for each."""
    rows = (
        (
            code(report.predicate or "without a predicate", 120),
            f"{number(report.kept_files)} of {number(report.total_files)}",
            percent_text(report.dropped_files, report.total_files),
            bytes_text(report.numbers.kept),
            words(", ".join(diagnosis.code for diagnosis in report.diagnoses or ())),
            words("" if not report.assertions else "pass" if report.passed else "fail"),
        )
        for report in reports
    )
    heads = ("predicate", "reads files", "pruned", "bytes", "diagnoses", "gates")
    return f'<div class="lakeprune"><style>{_STYLE}</style>{table(rows, heads, numbers=True)}</div>'


def _diagnoses(report: Report) -> str:
    """Each diagnosis in a line, with what would help; nothing where nobody asked, or nothing was found."""
    return plain_list(
        f"<strong>{words(each.code)}</strong> {words(each.message, 600)}<br><em>Fix:</em> {words(each.suggestion, 600)}"
        + ("" if each.rewrite is None else f"<br>{code(each.rewrite, 600)}")
        for each in (report.diagnoses or ())[:_MOST_DIAGNOSES]
    )


def _funnel(report: Report) -> str:
    whole = report.numbers.total.files
    if not whole or report.predicate is None:
        return ""
    rows = (
        (name, number(amount.files), percent_text(amount.files, whole), bytes_text(amount), _bar(amount.files / whole))
        for name, amount in steps(report)
    )
    return table(rows, numbers=True)


def _bar(share: float) -> str:
    track, bar = '<rect class="track" width="200" height="8"/>', f'<rect width="{200 * share:.1f}" height="8"/>'
    return f'<svg width="200" height="8" aria-hidden="true">{track}{bar}</svg>'


def _clauses(report: Report) -> str:
    if not report.clauses:
        return ""
    rows = (
        (code(each.clause.text), number(each.credit.drops_any.files), number(each.credit.drops_alone.files))
        for each in report.clauses[:_MOST_CLAUSES]
    )
    return table(rows, ("clause", "drops", "alone"), numbers=True)
