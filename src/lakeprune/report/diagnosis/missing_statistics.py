"""MISSING_STATS, STATS_BEYOND_INDEXED_COLUMNS, PARTIAL_STATS: the statistics a clause needs, and the files that lack them.

None of the candidate files has them; writers are told not to collect them; or only some files have them. Candidates are the files
with live rows that partition pruning leaves: what it drops needs no statistics.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from lakeprune.engines.engine import Needs
from lakeprune.predicate.tree import Clause, Column
from lakeprune.predicate.write.show import name_text
from lakeprune.programs.select import files_where
from lakeprune.programs.survey import Gap, gap_of
from lakeprune.report.amount import Amount, files_text, percent, percent_text, size_text
from lakeprune.report.diagnosis.case import Case, Investigation, amount_where, brief
from lakeprune.report.diagnosis.codes import Code
from lakeprune.report.diagnosis.indexed_columns import COUNTED, NAMED, indexing_of, is_indexed, position_of
from lakeprune.report.model import Diagnosis, Severity
from lakeprune.report.verdict import Requirement, clause_needs, is_known
from lakeprune.values.literals import format_value
from lakeprune.values.types import TIMESTAMP, Kind

_WORDS = {Requirement.MIN_MAX: "minimum and maximum", Requirement.NULL_COUNT: "null count"}


class _Lack(Struct, frozen=True):
    """A statistic that some candidate lacks."""

    clause: Clause
    column: Column
    requirement: Requirement
    candidates: Amount
    lacking: Amount

    @property
    def name(self) -> str:
        return name_text(self.column.path)

    @property
    def what(self) -> str:
        return f"the {_WORDS[self.requirement]} of {self.name}"

    @property
    def counts(self) -> dict[str, int | float | str]:
        return {
            "candidate_files": self.candidates.files,
            "missing_files": self.lacking.files,
            "missing_bytes": self.lacking.bytes,
            "missing_bytes_pct": percent(self.lacking.bytes, self.candidates.bytes),
        }


def missing_statistics(case: Case) -> Investigation:
    """One per column of whose statistics not one candidate has any, though writers are told to collect them."""
    yield []
    return [
        Diagnosis(
            code=Code.MISSING_STATS,
            severity=Severity.WARNING,
            clause=lack.clause.text,
            column=lack.name,
            message=f"none of the {files_text(lack.candidates.files)} to look at has {lack.what}, "
            f"which {brief(lack.clause.text)} needs",
            numbers=lack.counts,
            suggestion=_how_to_collect(lack.column),
            rewrite=None if lack.column.type.kind is Kind.BOOLEAN else _collect(case),
        )
        for lack in _lacks(case)
        if lack.lacking.files == lack.candidates.files and is_indexed(lack.column.path, case.facts)
    ]


def beyond_indexed_columns(case: Case) -> Investigation:
    """One per column that the table's properties exclude from statistics, and that some candidate lacks them for."""
    yield []
    found = []
    for lack in _lacks(case):
        if is_indexed(lack.column.path, case.facts):
            continue
        indexing, position = indexing_of(case.facts), position_of(lack.column.path, case.facts)
        numbers: dict[str, int | float | str] = {**lack.counts, "setting": indexing.setting}
        if indexing.named is None and position is not None:
            numbers["column_position"] = position
            property_, value = COUNTED, str(position)
        else:
            property_, value = NAMED, ",".join(part for part in ((indexing.named or "").strip(), lack.name) if part)
        place = f"{lack.name} is leaf column {position}" if indexing.named is None else f"{lack.name} is not listed"
        found.append(
            Diagnosis(
                code=Code.STATS_BEYOND_INDEXED_COLUMNS,
                severity=Severity.WARNING,
                clause=lack.clause.text,
                column=lack.name,
                message=f"{lack.lacking.files} of {files_text(lack.candidates.files)} lack {lack.what}: "
                f"the table says {indexing.setting}, and {place}",
                numbers=numbers,
                suggestion="tell writers to collect it, then have the files written anew or their statistics computed",
                rewrite=f"ALTER TABLE {case.table} SET TBLPROPERTIES ({_quoted(property_)} = {_quoted(value)})",
            )
        )
    return found


def partial_statistics(case: Case) -> Investigation:
    """One per column that some candidates have statistics for and others do not."""
    yield []
    found = []
    for lack in _lacks(case):
        if lack.lacking.files == lack.candidates.files:
            continue
        subset = files_where(
            case.evaluation, case.plan, case.left_by_exact_rungs, Needs((lack.column,), (), paths=True, times=True)
        )
        counts = lack.requirement is Requirement.NULL_COUNT
        gap = gap_of(case.evaluation.engine, subset, lack.column, counts=counts)
        share = percent_text(gap.bytes, lack.candidates.bytes)
        found.append(
            Diagnosis(
                code=Code.PARTIAL_STATS,
                severity=Severity.WARNING,
                clause=lack.clause.text,
                column=lack.name,
                message=f"{gap.files} of {files_text(lack.candidates.files)} ({size_text(gap.bytes)}, {share} of the bytes) lack "
                f"{lack.what}, which {brief(lack.clause.text)} needs{_ages(gap)}",
                numbers={**lack.counts, **_times(gap)},
                suggestion=_how_to_collect(lack.column),
                rewrite=_collect(case),
            )
        )
    return found


def _lacks(case: Case) -> Iterator[_Lack]:
    """Every statistic some clause needs and some candidate lacks; bounds before counts, each column once."""
    needs = clause_needs(case.plan)
    wanted = [(number, index) for number, clause in enumerate(needs) for index in clause.required]
    candidates = amount_where(case.patterns, case.is_candidate)
    seen: set[int] = set()
    for number, (index, requirement) in sorted(wanted, key=lambda item: item[1][1] is not Requirement.MIN_MAX):
        lacking = amount_where(
            case.patterns,
            lambda s, i=index, r=requirement: case.is_candidate(s) and not is_known(s, i, r),  # type: ignore[misc]
        )
        if lacking.files and index not in seen:
            seen.add(index)
            yield _Lack(case.plan.clauses[number], case.plan.columns[index], requirement, candidates, lacking)


def _ages(gap: Gap) -> str:
    if gap.oldest is None or gap.newest is None:
        return ""
    return f"; the oldest of them is of {_moment(gap.oldest)}, the newest of {_moment(gap.newest)} UTC"


def _times(gap: Gap) -> dict[str, int | float | str]:
    if gap.oldest is None or gap.newest is None:
        return {}
    return {
        "oldest_time": _moment(gap.oldest),
        "oldest_file": gap.oldest_path or "",
        "newest_time": _moment(gap.newest),
        "newest_file": gap.newest_path or "",
    }


def _moment(milliseconds: int) -> str:
    return format_value(milliseconds * 1000, TIMESTAMP, "UTC").strip("'")


def _how_to_collect(column: Column) -> str:
    if column.type.kind is Kind.BOOLEAN:
        return "Delta Spark keeps no minimum and maximum of a boolean: partition by it, or filter on another column as well"
    return (
        "write these files anew with a writer that collects statistics; where the engine has the statement "
        "(Databricks), compute them in place"
    )


def _collect(case: Case) -> str:
    return f"ANALYZE TABLE {case.table} COMPUTE DELTA STATISTICS"


def _quoted(text: str) -> str:
    return format_value(text, None)
