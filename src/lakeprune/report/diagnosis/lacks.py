"""The statistics that clauses need and candidates lack: what several rules begin with.

Candidates are the files with live rows that exact evidence leaves: what it drops needs no statistics.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from lakeprune.predicate.tree import Clause, Column
from lakeprune.predicate.write.show import name_text
from lakeprune.report.amount import Amount, percent
from lakeprune.report.attribution import total_of
from lakeprune.report.diagnosis.case import Case, Finding, Numbers
from lakeprune.report.verdict import Requirement, clause_needs, is_known

_NAMES = {Requirement.MIN_MAX: "minimum and maximum", Requirement.NULL_COUNT: "null count"}


class Lack(Struct, frozen=True):
    """A statistic that some candidate lacks."""

    clause: Clause
    column: Column
    requirement: Requirement
    candidates: Amount
    lacking: Amount

    @property
    def is_complete(self) -> bool:
        """Whether every candidate lacks it."""
        return self.lacking.files == self.candidates.files

    @property
    def what(self) -> str:
        return f"the {_NAMES[self.requirement]} of {name_text(self.column.path)}"

    def finding(self, message: str, suggestion: str, rewrite: str | None, **numbers: int | float | str) -> Finding:
        counts: Numbers = {
            "candidate_files": self.candidates.files,
            "missing_files": self.lacking.files,
            "missing_bytes": self.lacking.bytes,
            "missing_bytes_pct": percent(self.lacking.bytes, self.candidates.bytes),
        }
        return Finding(
            clause=self.clause.text,
            column=name_text(self.column.path),
            message=message,
            numbers=counts | numbers,
            suggestion=suggestion,
            rewrite=rewrite,
        )


def lacks_of(case: Case) -> Iterator[Lack]:
    """Every statistic some clause needs and some candidate lacks; bounds before counts, each column once."""
    needs = clause_needs(case.plan)
    wanted = [(number, index) for number, clause in enumerate(needs) for index in clause.required]
    candidates = case.candidates
    seen: set[int] = set()
    for number, (index, requirement) in sorted(wanted, key=lambda item: item[1][1] is not Requirement.MIN_MAX):
        lacking = total_of(p for p in candidates if not is_known(p.signature, index, requirement))
        if lacking.files and index not in seen:
            seen.add(index)
            yield Lack(case.plan.clauses[number], case.plan.columns[index], requirement, total_of(candidates), lacking)
