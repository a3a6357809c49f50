"""A verification as text: what was planned, what is true, what lies between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.phrases import because
from lakeprune.render.printable import printable
from lakeprune.render.text.audit import audit_lines
from lakeprune.render.text.report import about
from lakeprune.report.amount import files_text, size_text
from lakeprune.report.document import View

if TYPE_CHECKING:
    from lakeprune.apps.verify.model import Slack, Verification


def text_chunks(verification: Verification, view: View) -> Iterator[str]:  # noqa: ARG001  # it lists no files
    """The text report."""
    report = verification.report
    head = [*about(report.table, report.facts.version), f"Predicate:   {printable(report.predicate or '(none)')}", ""]
    lines = [*head, *_numbers(verification)]
    if verification.slack:
        lines += ["", f"Kept without a match ({files_text(verification.kept_without_match)}):"]
        lines += map(slack_text, verification.slack)
    lines += ["", *_result(verification)]
    if verification.audit is not None:
        lines += ["", *audit_lines(verification.audit)]
    yield "\n".join(lines) + "\n"


def slack_text(slack: Slack) -> str:
    return f"  {files_text(slack.files)}, {size_text(slack.bytes)}: {because(slack.keeps, slack.clause or 'the predicate')}"


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


def _numbers(verification: Verification) -> Iterator[str]:
    numbers, truth = verification.report.numbers, verification.truth
    total, kept = numbers.total, numbers.kept
    scope = "" if verification.is_complete else f" in the {files_text(truth.checked_files)} that were checked"
    yield f"Files:       {total.files} in the table, {kept.files} kept, {truth.files_with_match} hold a match{scope}"
    yield f"Rows:        {truth.live_rows} live, {truth.matching_rows} match{scope}"
    if verification.efficiency is not None:
        yield f"Efficiency:  {verification.efficiency:.1%} of the files without a match are dropped"
    amplification = verification.read_amplification
    times = "" if amplification is None else f" ({amplification:.2f}x)"
    yield f"Bytes:       {size_text(kept.bytes)} to read, {size_text(truth.bytes_with_match)} in files with a match{scope}{times}"
    delta = verification.delta_spark
    size = "" if delta.bytes is None else f", {size_text(delta.bytes)},"
    yield f"Delta Spark: reads {files_text(delta.files)}{size} for the same query"
    if truth.files_with_wrong_row_count:
        yield f"Row counts:  recorded and real number of live rows differ in {files_text(truth.files_with_wrong_row_count)}"


def _result(verification: Verification) -> Iterator[str]:
    yield f"Result: {verdict_text(verification)}{'' if verification.is_sound else ':'}"
    yield from (f"  {printable(violation.path)}: {violation.message}" for violation in verification.violations)
    if (more := verification.violation_count - len(verification.violations)) > 0:
        yield f"  ... and {more} more"
    if (sampled := sampled_text(verification)) is not None:
        yield f"Sample: {sampled}"
