"""MISSING_STATS, STATS_BEYOND_INDEXED_COLUMNS, PARTIAL_STATS: the statistics a clause needs, and the files that lack them.

None of the candidate files has them; the table's settings exclude them; or only some files have them. Candidates are the files
with live rows that exact evidence leaves: what it drops needs no statistics.
"""

from __future__ import annotations

from collections.abc import Iterator

from lakeprune.formats.relation import Needs
from lakeprune.programs.select import files_where
from lakeprune.programs.survey import Gap, gap_of
from lakeprune.report.amount import files_text, percent_text, size_text
from lakeprune.report.diagnosis.case import Case, Finding, Numbers, brief
from lakeprune.report.diagnosis.lacks import Lack, lacks_of
from lakeprune.report.verdict import Requirement
from lakeprune.values.literals import format_value
from lakeprune.values.types import TIMESTAMP, Kind


def missing_statistics(case: Case) -> list[Finding]:
    """One per column of whose statistics not one candidate has any, though no setting excludes them."""
    return [
        lack.finding(
            f"none of the {files_text(lack.candidates.files)} to look at has {lack.what}, which {brief(lack.clause.text)} needs",
            case.remedies.how_to_collect(lack.column),
            None if lack.column.type.kind is Kind.BOOLEAN else case.remedies.collect_statistics(),
        )
        for lack in _without_metrics(case)
        if lack.is_complete and case.remedies.exclusion(lack.column) is None
    ]


def excluded_statistics(case: Case) -> list[Finding]:
    """One per column that the table's settings exclude from statistics, and that some candidate lacks them for."""
    found = []
    for lack in _without_metrics(case):
        exclusion = case.remedies.exclusion(lack.column)
        if exclusion is None:
            continue
        numbers: Numbers = {"setting": exclusion.setting}
        if exclusion.position is not None:
            numbers["column_position"] = exclusion.position
        message = f"{lack.lacking.files} of {files_text(lack.candidates.files)} lack {lack.what}: {exclusion.message}"
        suggestion = "tell writers to collect it, then have the files written anew or their statistics computed"
        found.append(lack.finding(message, suggestion, exclusion.statement, **numbers))
    return found


def partial_statistics(case: Case) -> list[Finding]:
    """One per column that some candidates have statistics for and others do not."""
    found = []
    for lack in _without_metrics(case):
        if lack.is_complete:
            continue
        needs = Needs((case.plan.evidence.seen(lack.column),), (), paths=True, times=True)
        subset = files_where(case.evaluation, case.plan, case.left_by_exact_rungs, needs)
        counts = lack.requirement is Requirement.NULL_COUNT
        gap = gap_of(case.evaluation.engine, subset, needs.domains[0], counts=counts)
        share = percent_text(gap.bytes, lack.candidates.bytes)
        of = f"{gap.files} of {files_text(lack.candidates.files)} ({size_text(gap.bytes)}, {share} of the bytes)"
        times = _times(gap)
        ages = f"; the oldest of them is of {times['oldest_time']}, the newest of {times['newest_time']} UTC" if times else ""
        message = f"{of} lack {lack.what}, which {brief(lack.clause.text)} needs{ages}"
        remedies = case.remedies
        found.append(lack.finding(message, remedies.how_to_collect(lack.column), remedies.collect_statistics(), **times))
    return found


def _without_metrics(case: Case) -> Iterator[Lack]:
    """The lacks that METRICS_MISSING does not explain better."""
    for lack in lacks_of(case):
        if case.remedies.lacking(lack.column, counts=lack.requirement is Requirement.NULL_COUNT) is None:
            yield lack


def _times(gap: Gap) -> dict[str, str]:
    if gap.oldest is None or gap.newest is None:
        return {}
    oldest, newest = (format_value(millis * 1000, TIMESTAMP, "UTC").strip("'") for millis in (gap.oldest, gap.newest))
    return {
        "oldest_time": oldest,
        "oldest_file": gap.oldest_path or "",
        "newest_time": newest,
        "newest_file": gap.newest_path or "",
    }
