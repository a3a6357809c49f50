"""A verification as one self-contained HTML page, and as a fragment for notebooks.

The outcome comes first, as a sentence in a frame, before any number. Everything from a table or a user is escaped by words.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.html import audit
from lakeprune.render.html.clauses import clauses
from lakeprune.render.html.compact import compact
from lakeprune.render.html.frame import framed, heading, page_end, page_top, section
from lakeprune.render.html.funnel import funnel
from lakeprune.render.html.words import code, number, plain_list, size, words
from lakeprune.render.text.verification import sampled_text, slack_text, verdict_text
from lakeprune.report.amount import files_text, size_text
from lakeprune.report.document import View

if TYPE_CHECKING:
    from lakeprune.apps.verify.model import Verification

_LONGEST_PATH = 400


def page(verification: Verification, _: View) -> Iterator[str]:
    """The whole page of a verification."""
    report = verification.report
    head = heading(audit.about(report.facts.version), report.table, report.predicate or "(none)")
    yield page_top(report.table, head + _verdict(verification))
    if not verification.is_sound:
        yield section("violations", "Files that contradict their verdict", _violations(verification))
    yield section("truth", "What the rows say", _numbers(verification))
    if verification.slack:
        yield section("slack", "Kept without a match", plain_list(words(slack_text(each).strip()) for each in verification.slack))
    if verification.audit is not None:
        yield section("statistics", "Recorded statistics", audit.content(verification.audit))
    if report.numbers.total.files:
        yield section("funnel", "The plan", funnel(report) + (clauses(report) if report.clauses else ""))
    yield page_end(verification.elapsed_ms, audit.SOURCE)


def notebook(verification: Verification, view: View) -> Iterator[str]:
    """For a notebook cell: the outcome, the contradicting files, and the plan in its compact form."""
    yield f'<div class="lakeprune-verification">{_verdict(verification)}'
    if not verification.is_sound:
        yield _violations(verification)
    if verification.audit is not None:
        yield from audit.notebook(verification.audit, view)
    yield f"{compact(verification.report)}</div>"


def _verdict(verification: Verification) -> str:
    framed_result = framed("Result", verdict_text(verification), is_good=verification.is_sound)
    if verification.audit is not None:
        framed_result += audit.outcome(verification.audit)
    sampled = sampled_text(verification)
    return framed_result if sampled is None else f'{framed_result}<p class="muted">Sample: {words(sampled, 1000)}</p>'


def _violations(verification: Verification) -> str:
    rows = "".join(
        f'<tr><th scope="row">{code(each.path, _LONGEST_PATH)}</th><td>{words(each.message)}</td></tr>'
        for each in verification.violations
    )
    more = verification.violation_count - len(verification.violations)
    rest = f"<p>… and {number(more)} more.</p>" if more > 0 else ""
    return f'<div class="scroll"><table><tbody>{rows}</tbody></table></div>{rest}'


def _numbers(verification: Verification) -> str:
    numbers, truth = verification.report.numbers, verification.truth
    of = "" if verification.is_complete else ", of the checked files"
    delta = verification.delta_spark
    delta_size = "" if delta.bytes is None else f", {size_text(delta.bytes)}"
    rows = [
        ("Files in the table", number(numbers.total.files)),
        ("Files looked into", number(truth.checked_files)),
        ("Files kept", f"{number(numbers.kept.files)}, {size(numbers.kept.bytes)}"),
        (f"Files with a match{of}", f"{number(truth.files_with_match)}, {size(truth.bytes_with_match)}"),
        (f"Live rows{of}", number(truth.live_rows)),
        (f"Matching rows{of}", number(truth.matching_rows)),
        ("Efficiency", "unknown after a sample" if verification.efficiency is None else f"{verification.efficiency:.1%}"),
        ("Delta Spark reads", files_text(delta.files) + delta_size),
    ]
    if verification.read_amplification is not None:
        rows.insert(7, ("Read amplification", f"{verification.read_amplification:.2f}×"))
    if truth.files_with_wrong_row_count:
        rows.append(("Files with a wrong number of rows", number(truth.files_with_wrong_row_count)))
    cells = "".join(f'<tr><th scope="row">{name}</th><td class="num">{value}</td></tr>' for name, value in rows)
    return f"<table><tbody>{cells}</tbody></table>"
