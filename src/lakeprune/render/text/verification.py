"""A verification, and an audit of recorded statistics, as text: what was planned, what is true, what lies between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.phrases import because
from lakeprune.render.printable import printable
from lakeprune.render.text.report import about
from lakeprune.report.amount import counted, files_text, size_text
from lakeprune.report.document import View

if TYPE_CHECKING:
    from lakeprune.apps.verify.model import Audit, Slack, Verification
    from lakeprune.programs.audit import FaultyFiles

FALSE_ASSUMPTION = "What `lakeprune explain` assumes by default is false here; --nan-policy strict keeps these files"


def verification_chunks(verification: Verification, _: View) -> Iterator[str]:
    report = verification.report
    lines = [
        *about(report.table, report.facts.version, report.facts.title),
        f"Predicate:   {printable(report.predicate or '(none)')}",
        "",
    ]
    lines += [f"{name + ':':<12} {text}" for name, text in found(verification)]
    if verification.slack:
        lines += ["", f"Kept without a match ({files_text(verification.kept_without_match)}):"]
        lines += [f"  {slack_text(slack)}" for slack in verification.slack]
    lines += ["", *_result(verification)]
    if verification.audit is not None:
        lines += ["", *_audit(verification.audit)]
    yield "\n".join(lines) + "\n"


def audit_chunks(audit: Audit, _: View) -> Iterator[str]:
    yield "\n".join([*about(audit.table, audit.version), "", *_audit(audit)]) + "\n"


def found(verification: Verification) -> Iterator[tuple[str, str]]:
    """The numbers by name, as every format shows them."""
    numbers, truth = verification.report.numbers, verification.truth
    total, kept = numbers.total, numbers.kept
    scope = "" if verification.is_complete else f" in the {files_text(truth.checked_files)} that were checked"
    yield "Files", f"{total.files} in the table, {kept.files} kept, {truth.files_with_match} hold a match{scope}"
    yield "Rows", f"{truth.live_rows} live, {truth.matching_rows} match{scope}"
    if verification.efficiency is not None:
        yield "Efficiency", f"{verification.efficiency:.1%} of the files without a match are dropped"
    amplification = verification.read_amplification
    times = "" if amplification is None else f" ({amplification:.2f}x)"
    yield "Bytes", f"{size_text(kept.bytes)} to read, {size_text(truth.bytes_with_match)} in files with a match{scope}{times}"
    spark = verification.spark
    if spark is not None:
        size = "" if spark.bytes is None else f", {size_text(spark.bytes)},"
        yield spark.name, f"reads {files_text(spark.files)}{size} for the same query"
    if truth.files_with_wrong_row_count:
        yield "Row counts", f"recorded and real number of live rows differ in {files_text(truth.files_with_wrong_row_count)}"


def slack_text(slack: Slack) -> str:
    return f"{files_text(slack.files)}, {size_text(slack.bytes)}: {because(slack.reason, slack.clause or 'the predicate')}"


def verdict_text(verification: Verification) -> str:
    """The outcome in one sentence."""
    if not verification.is_sound:
        return f"UNSOUND. The rows contradict the verdict on {files_text(verification.violation_count)}"
    if verification.is_complete:
        return "sound. No dropped file holds a matching row, and every row of a fully matched file matches."
    return "no contradiction in the files that were checked."


def sampled_text(verification: Verification) -> str | None:
    """How many of the dropped files were looked into, and what that proves; None when all were."""
    sampled = verification.sampled
    if sampled is None:
        return None
    return f"{sampled.checked} of {sampled.files} dropped files were checked, and every kept file. {sampled.worth}"


def audit_verdict(audit: Audit) -> str:
    """The outcome in one sentence."""
    looked = f"{files_text(audit.checked_files)} checked, {counted(len(audit.columns), 'column')}"
    if audit.passed:
        return f"right ({looked}). No live row lies outside what the log promises."
    return f"WRONG in {files_text(audit.wrong_files)} ({looked}). Engines that trust them lose rows"


def faulty_text(count: FaultyFiles) -> str:
    return f"{printable(count.column or 'rows')}: {count.fault.value} in {files_text(count.files)}"


def _result(verification: Verification) -> Iterator[str]:
    yield f"Result: {verdict_text(verification)}{'' if verification.is_sound else ':'}"
    yield from (f"  {printable(violation.path)}: {violation.message}" for violation in verification.violations)
    if (more := verification.violation_count - len(verification.violations)) > 0:
        yield f"  ... and {more} more"
    if (sampled := sampled_text(verification)) is not None:
        yield f"Sample: {sampled}"
    if verification.false_assumptions:
        yield f"{FALSE_ASSUMPTION}:"
        yield from (f"  {printable(each.path)}: {each.message}" for each in verification.false_assumptions)


def _audit(audit: Audit) -> Iterator[str]:
    yield f"Statistics: {audit_verdict(audit)}{'' if audit.passed else ':'}"
    for fault in audit.faults:
        column = "" if fault.column is None else f" {printable(fault.column)}:"
        yield f"  {printable(fault.path)}:{column} {printable(fault.message)} (written by {printable(fault.writer)})"
    if (more := audit.fault_count - len(audit.faults)) > 0:
        yield f"  ... and {more} more; in all {'; '.join(map(faulty_text, audit.counts))}"
    if audit.sampled is not None:
        yield f"Sample: {audit.checked_files} of {files_text(audit.files)} were checked. {audit.sampled.worth}"
