"""CONTRADICTION and ALWAYS_TRUE: clauses that no row, or every row, satisfies. Such a clause filters all or nothing."""

from __future__ import annotations

from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, brief, column_in, files_of
from lakeprune.report.diagnosis.repaired import repaired
from lakeprune.report.model import Severity
from lakeprune.skipping.fact import Known


def contradiction(case: Case) -> list[Finding]:
    """One per clause that is TRUE for no value, whatever the table holds: its mask has no TRUE in it."""
    return [
        Finding(
            clause=clause.text,
            column=column_in(conjunct),
            message=f"{brief(clause.text)} is TRUE for no value, so the query returns nothing: "
            f"all {files_text(case.total)} are dropped",
            numbers={"files": case.total, "kept_files": case.kept},
            suggestion=repaired(case, conjunct)[0],
            rewrite=repaired(case, conjunct)[1],
        )
        for clause, place, conjunct in zip(case.plan.clauses, case.plan.positions, case.conjuncts, strict=True)
        if case.plan.bits[place.can_true].fact == Known(False)
    ]


def always_true(case: Case) -> list[Finding]:
    """One per clause that is TRUE on every live row, by itself or as this version's metadata proves."""
    found = [_finding(case, text, None, f"{brief(text)} is TRUE on every row of any table") for text in case.tautologies]
    with_rows = [pattern for pattern in case.patterns if not pattern.signature.is_empty]
    live = files_of(with_rows, lambda _: True)
    for index, (clause, conjunct) in enumerate(zip(case.plan.clauses, case.conjuncts, strict=True)):
        if live and not any(pattern.signature.outcomes[index].not_true for pattern in with_rows):
            proven = f"metadata proves that {brief(clause.text)} is TRUE on every live row of all {files_text(live)}"
            found.append(_finding(case, clause.text, column_in(conjunct), proven))
    return found


def _finding(case: Case, text: str, column: str | None, message: str) -> Finding:
    return Finding(
        severity=Severity.INFO,
        clause=text,
        column=column,
        message=f"{message}: it filters nothing, {case.kept} of {files_text(case.total)} stay with or without it",
        numbers={"files": case.total, "kept_files": case.kept},
        suggestion="check that it says what you mean; otherwise leave it out, or write",
        rewrite="TRUE",
    )
