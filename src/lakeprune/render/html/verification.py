"""A verification, or an audit alone, as one self-contained page and as a fragment for notebooks.

The outcome comes first, as a sentence in a frame, before any number. Everything from a table or a user is escaped by words.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.html.clauses import clauses
from lakeprune.render.html.compact import compact
from lakeprune.render.html.frame import framed, heading, page_end, page_top, section
from lakeprune.render.html.funnel import funnel
from lakeprune.render.html.words import code, number, plain_list, table, words
from lakeprune.render.text.verification import (
    FALSE_ASSUMPTION,
    audit_verdict,
    faulty_text,
    found,
    sampled_text,
    slack_text,
    verdict_text,
)
from lakeprune.report.amount import files_text
from lakeprune.report.document import View

if TYPE_CHECKING:
    from lakeprune.apps.verify.model import Audit, Verification

_LONGEST_PATH = 400
_SOURCE = "the table’s metadata and its rows"


def verification_page(verification: Verification, _: View) -> Iterator[str]:
    report = verification.report
    yield page_top(
        report.table,
        _head(report.table, report.facts.title, report.facts.version, report.predicate or "(none)") + _verdict(verification),
    )
    if not verification.is_sound:
        yield section("violations", "Files that contradict their verdict", _violations(verification))
    if verification.false_assumptions:
        yield section("assumptions", "An assumption that is false", _assumptions(verification))
    yield section("truth", "What the rows say", table((name, words(text)) for name, text in found(verification)))
    if verification.slack:
        yield section("slack", "Kept without a match", plain_list(words(slack_text(each)) for each in verification.slack))
    if verification.audit is not None:
        yield section("statistics", "Recorded statistics", _statistics(verification.audit))
    if report.numbers.total.files:
        yield section("funnel", "The plan", funnel(report) + (clauses(report) if report.clauses else ""))
    yield page_end(verification.elapsed_ms, _SOURCE)


def verification_notebook(verification: Verification, view: View) -> Iterator[str]:
    """The outcome, the contradicting files, and the plan in its compact form."""
    yield f'<div class="lakeprune-verification">{_verdict(verification)}'
    if not verification.is_sound:
        yield _violations(verification)
    if verification.false_assumptions:
        yield _assumptions(verification)
    if verification.audit is not None:
        yield from audit_notebook(verification.audit, view)
    yield f"{compact(verification.report)}</div>"


def audit_page(audit: Audit, _: View) -> Iterator[str]:
    yield page_top(audit.table, _head(audit.table, "Delta table", audit.version, None) + _outcome(audit))
    yield section("statistics", "Recorded statistics", _statistics(audit))
    yield page_end(audit.elapsed_ms, _SOURCE)


def audit_notebook(audit: Audit, _: View) -> Iterator[str]:
    yield f'<div class="lakeprune-audit">{_outcome(audit)}{_statistics(audit)}</div>'


def _head(name: str, title: str, version: int | None, predicate: str | None) -> str:
    return heading(f"verification · {title}{'' if version is None else f' · version {version}'}", name, predicate)


def _verdict(verification: Verification) -> str:
    framed_result = framed("Result", verdict_text(verification), is_good=verification.is_sound)
    if verification.audit is not None:
        framed_result += _outcome(verification.audit)
    sampled = sampled_text(verification)
    return framed_result if sampled is None else f'{framed_result}<p class="muted">Sample: {words(sampled, 1000)}</p>'


def _violations(verification: Verification) -> str:
    rows = ((code(each.path, _LONGEST_PATH), words(each.message)) for each in verification.violations)
    more = verification.violation_count - len(verification.violations)
    return table(rows, scrolls="Violations") + (f"<p>… and {number(more)} more.</p>" if more > 0 else "")


def _assumptions(verification: Verification) -> str:
    rows = ((code(each.path, _LONGEST_PATH), words(each.message)) for each in verification.false_assumptions)
    return f"<p>{words(FALSE_ASSUMPTION)}:</p>{table(rows, scrolls='Files dropped by a false assumption')}"


def _outcome(audit: Audit) -> str:
    return framed("Statistics", audit_verdict(audit), is_good=audit.passed)


def _statistics(audit: Audit) -> str:
    """How much was compared, and what is wrong."""
    looked = f"<p>{files_text(audit.checked_files)} of {audit.files:,} looked into, {len(audit.columns):,} columns compared.</p>"
    if audit.sampled is not None:
        looked += f'<p class="muted">{words(audit.sampled.worth, 1000)}</p>'
    if audit.passed:
        return looked
    rows = (
        (code(fault.path, _LONGEST_PATH), words(fault.column or ""), words(fault.message), words(fault.writer))
        for fault in audit.faults
    )
    faults = table(rows, ("File", "Column", "What is wrong", "Written by"), scrolls="Faults")
    return looked + plain_list(words(faulty_text(count)) for count in audit.counts) + faults
