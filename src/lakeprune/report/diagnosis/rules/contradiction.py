"""CONTRADICTION: a clause that no row can satisfy, whatever the table holds."""

from __future__ import annotations

from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, brief, column_in
from lakeprune.skipping.fact import Known


def contradiction(case: Case) -> list[Finding]:
    """One per clause whose mask has no TRUE in it."""
    return [
        Finding(
            clause=clause.text,
            column=column_in(conjunct),
            message=f"{brief(clause.text)} is TRUE for no value, so the query returns nothing: "
            f"all {files_text(case.total)} are dropped",
            numbers={"files": case.total, "kept_files": case.kept},
            suggestion="check the constants and the direction of the comparisons; if nothing is meant, write",
            rewrite="FALSE",
        )
        for clause, place, conjunct in zip(case.plan.clauses, case.plan.positions, case.conjuncts, strict=True)
        if case.plan.bits[place.can_true].fact == Known(False)
    ]
