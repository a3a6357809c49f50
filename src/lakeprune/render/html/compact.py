"""The report for a notebook cell: answer, funnel and clauses. No pictures, no script, and the table is not read again."""

from __future__ import annotations

from collections.abc import Iterator

from lakeprune.render.html.funnel import steps
from lakeprune.render.html.summary import answer, table_of
from lakeprune.render.html.words import code, number, words
from lakeprune.report.amount import percent_text, size_text
from lakeprune.report.document import View
from lakeprune.report.model import Report

_MOST_CLAUSES = 20
_STYLE = (
    ".lakeprune{color-scheme:light dark;max-width:60rem;padding:.8rem 1rem;color:#1c2126;background:#fff;"
    "border:1px solid #dfe2e6;border-radius:8px;font:14px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums}"
    ".lakeprune p{margin:.2rem 0}.lakeprune .muted{color:#58616c}.lakeprune code{overflow-wrap:anywhere}"
    ".lakeprune table{margin:.6rem 0 0;border-collapse:collapse;font-size:13px}"
    ".lakeprune th,.lakeprune td{padding:.2rem .9rem .2rem 0;text-align:left;font-weight:400;background:none;color:inherit}"
    ".lakeprune .num{text-align:right}.lakeprune rect{fill:#c2410c}.lakeprune rect.track{fill:#dfe2e6}"
    "@media (prefers-color-scheme:dark){.lakeprune{color:#e4e8ec;background:#1a1e24;border-color:#313840}"
    ".lakeprune .muted{color:#a2acb8}.lakeprune rect{fill:#fb8a3c}.lakeprune rect.track{fill:#313840}}"
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
        f"{_funnel(report)}{_clauses(report)}{_gates(report)}</div>"
    )


def _funnel(report: Report) -> str:
    whole = report.numbers.total.files
    if not whole or report.predicate is None:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td class="num">{number(amount.files)}</td>'
        f'<td class="num">{percent_text(amount.files, whole)}</td><td class="num">{size_text(amount.bytes)}</td>'
        f'<td><svg width="200" height="8" aria-hidden="true"><rect class="track" width="200" height="8"/>'
        f'<rect width="{200 * amount.files / whole:.1f}" height="8"/></svg></td></tr>'
        for name, amount in steps(report)
    )
    return f"<table><tbody>{rows}</tbody></table>"


def _clauses(report: Report) -> str:
    if not report.clauses:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{code(clause.clause.text)}</th><td class="num">{number(clause.credit.drops_any.files)}</td>'
        f'<td class="num">{number(clause.credit.drops_alone.files)}</td></tr>'
        for clause in report.clauses[:_MOST_CLAUSES]
    )
    heads = "".join(f'<th scope="col" class="num">{name}</th>' for name in ("drops", "alone"))
    head = f'<tr class="muted"><th scope="col">clause</th>{heads}</tr>'
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _gates(report: Report) -> str:
    failed = [words(assertion.message) for assertion in report.assertions if not assertion.passed]
    return "".join(f"<p><strong>gate failed:</strong> {message}</p>" for message in failed)
