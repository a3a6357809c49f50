"""A verification as text: what was planned, what is true, what lies between."""

from __future__ import annotations

from lakeprune.report.amount import files_text, size_text
from lakeprune.report.printable import printable
from lakeprune.verification.model import NAMED, Slack, Verification

_BECAUSE = {
    "MISSING_STATISTIC": "a statistic is missing for",
    "NAN_POSSIBLE": "NaN is possible for",
    "NOT_DECIDABLE": "metadata cannot decide",
    "RANGES_OVERLAP": "ranges overlap with",
    "ALL_ROWS_MATCH": "every row satisfies",
}


def text(verification: Verification) -> str:
    """The text report."""
    report = verification.report
    total, kept, matched = report.numbers.total, report.numbers.kept, verification.files_with_match
    amplification = verification.read_amplification
    lines = [
        f"Delta table: {printable(report.table)}",
        f"Version:     {report.facts.version}",
        f"Predicate:   {printable(report.predicate or '(none)')}",
        "",
        f"Files:       {total.files} in the table, {kept.files} kept, {matched} hold a match",
        f"Rows:        {verification.live_rows} live, {verification.matching_rows} match",
        f"Efficiency:  {verification.efficiency:.1%} of the files without a match are dropped",
        f"Bytes:       {size_text(kept.bytes)} to read, {size_text(verification.bytes_with_match)} in files with a match"
        + ("" if amplification is None else f" ({amplification:.2f}x)"),
        f"Delta Spark: reads {files_text(verification.delta_spark_files)} for the same query",
    ]
    if verification.files_told_wrong:
        lines.append(f"Row counts:  recorded and real number of live rows differ in {files_text(verification.files_told_wrong)}")
    if verification.slack:
        lines += ["", f"Kept without a match ({files_text(verification.kept_without_match)}):"]
        lines += map(_slack, verification.slack)
    lines += ["", *_result(verification)]
    return "\n".join(lines) + "\n"


def _slack(slack: Slack) -> str:
    clause = printable(slack.clause or "the predicate")
    return f"  {files_text(slack.files)}, {size_text(slack.bytes)}: {_BECAUSE[slack.keeps.value]} {clause}"


def _result(verification: Verification) -> list[str]:
    if verification.passed:
        return ["Result: sound. No dropped file holds a matching row, and every row of a fully matched file matches."]
    lines = [f"Result: UNSOUND. The rows contradict the verdict on {files_text(verification.violation_count)}:"]
    lines += [f"  {printable(violation.path)}: {violation.message}" for violation in verification.violations]
    if verification.violation_count > NAMED:
        lines.append(f"  ... and {verification.violation_count - NAMED} more")
    return lines
