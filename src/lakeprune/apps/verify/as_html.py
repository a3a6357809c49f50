"""Verifications and audits as one self-contained HTML page, and as a fragment for notebooks.

The outcome stands first, in words and in a frame, before any number. Everything from a table or a user is escaped by words.py.
"""

from __future__ import annotations

from lakeprune import __version__
from lakeprune.apps.verify.as_text import audit_verdict, counted_text, sampled_text, slack_text, verdict_text
from lakeprune.apps.verify.audit_model import Audit
from lakeprune.apps.verify.model import Verification
from lakeprune.render.html.clauses import clauses
from lakeprune.render.html.compact import compact
from lakeprune.render.html.funnel import funnel
from lakeprune.render.html.page import page_end, page_head, section
from lakeprune.render.html.words import code, number, size, words
from lakeprune.report.amount import files_text, size_text

_LONGEST_PATH = 400
_LONGEST_PREDICATE = 2000


def page(verification: Verification) -> str:
    """The whole page of a verification."""
    report = verification.report
    sections = []
    if not verification.is_sound:
        sections.append(section("violations", "Files that contradict their verdict", _violations(verification)))
    sections.append(section("truth", "What the rows say", _numbers(verification)))
    if verification.slack:
        sections.append(section("slack", "Kept without a match", _slack(verification)))
    if verification.audit is not None:
        sections.append(section("statistics", "Recorded statistics", _audit(verification.audit)))
    if report.numbers.total.files:
        sections.append(section("funnel", "The plan", funnel(report) + (clauses(report) if report.clauses else "")))
    head = (
        f"{_title(report.table, report.facts.version)}"
        f'<pre class="predicate" aria-label="Predicate">{words(report.predicate or "(none)", _LONGEST_PREDICATE)}</pre>'
        f"{_verdict(verification)}"
    )
    made = f"Made by lakeprune {__version__} in {verification.elapsed_ms:,} ms from the table’s metadata and its rows."
    return _page(report.table, head, sections, made)


def audit_page(audit: Audit) -> str:
    """The whole page of an audit alone."""
    head = f"{_title(audit.table, audit.version)}{_framed('Statistics', audit_verdict(audit), is_good=audit.passed)}"
    made = f"Made by lakeprune {__version__} in {audit.elapsed_ms:,} ms from the table’s metadata and its rows."
    body = [section("statistics", "Recorded statistics", _audit(audit))]
    return _page(audit.table, head, body, made)


def fragment(verification: Verification) -> str:
    """For a notebook cell: the outcome, the contradicting files, and the plan in its compact form."""
    found = "" if verification.is_sound else _violations(verification)
    audited = "" if verification.audit is None else audit_fragment(verification.audit)
    return f'<div class="lakeprune-verification">{_verdict(verification)}{found}{audited}{compact(verification.report)}</div>'


def audit_fragment(audit: Audit) -> str:
    """For a notebook cell."""
    return (
        f'<div class="lakeprune-audit">{_framed("Statistics", audit_verdict(audit), is_good=audit.passed)}{_audit(audit)}</div>'
    )


def _page(table: str, head: str, sections: list[str], made: str) -> str:
    top = f'<body>\n<a class="skip" href="#main">Skip to the report</a>\n<header>{head}</header>\n<main id="main">'
    return page_head(table) + top + "".join(sections) + page_end(made)


def _title(table: str, version: int) -> str:
    return f'<p class="eyebrow">lakeprune verification · Delta table · version {version}</p><h1>{words(table, 300)}</h1>'


def _verdict(verification: Verification) -> str:
    told = _framed("Result", verdict_text(verification), is_good=verification.is_sound)
    if verification.audit is not None:
        told += _framed("Statistics", audit_verdict(verification.audit), is_good=verification.audit.passed)
    sampled = sampled_text(verification)
    return told if sampled is None else f'{told}<p class="muted">Sample: {words(sampled, 1000)}</p>'


def _framed(name: str, told: str, *, is_good: bool) -> str:
    mark, style = ("✓", "pass") if is_good else ("✗ FAILED", "fail")
    return f'<p class="verdict {style}" role="status"><b>{mark}</b> {name}: {words(told)}</p>'


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
    rows = [
        ("Files in the table", number(numbers.total.files)),
        ("Files looked into", number(truth.checked_files)),
        ("Files kept", f"{number(numbers.kept.files)}, {size(numbers.kept.bytes)}"),
        (f"Files with a match{of}", f"{number(truth.files_with_match)}, {size(truth.bytes_with_match)}"),
        (f"Live rows{of}", number(truth.live_rows)),
        (f"Matching rows{of}", number(truth.matching_rows)),
        ("Efficiency", "unknown after a sample" if verification.efficiency is None else f"{verification.efficiency:.1%}"),
        ("Delta Spark reads", _delta_spark(verification)),
    ]
    if verification.read_amplification is not None:
        rows.insert(7, ("Read amplification", f"{verification.read_amplification:.2f}×"))
    if truth.files_told_wrong:
        rows.append(("Files with a wrong number of rows", number(truth.files_told_wrong)))
    cells = "".join(f'<tr><th scope="row">{name}</th><td class="num">{value}</td></tr>' for name, value in rows)
    return f"<table><tbody>{cells}</tbody></table>"


def _delta_spark(verification: Verification) -> str:
    told = files_text(verification.delta_spark_files)
    return told if verification.delta_spark_bytes is None else f"{told}, {size_text(verification.delta_spark_bytes)}"


def _slack(verification: Verification) -> str:
    return f'<ul class="plain">{"".join(f"<li>{words(slack_text(each).strip())}</li>" for each in verification.slack)}</ul>'


def _audit(audit: Audit) -> str:
    looked = f"<p>{files_text(audit.checked_files)} of {audit.files:,} looked into, {len(audit.columns):,} columns compared.</p>"
    if audit.sampled is not None:
        looked += f'<p class="muted">{words(audit.sampled.worth, 1000)}</p>'
    if audit.passed:
        return looked
    counted = "".join(f"<li>{words(counted_text(count))}</li>" for count in audit.counts)
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("File", "Column", "What is wrong", "Written by"))
    rows = "".join(
        f'<tr><th scope="row">{code(fault.path, _LONGEST_PATH)}</th><td>{words(fault.column or "")}</td>'
        f"<td>{words(fault.message)}</td><td>{words(fault.writer)}</td></tr>"
        for fault in audit.faults
    )
    table = f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
    return f'{looked}<ul class="plain">{counted}</ul>{table}'
