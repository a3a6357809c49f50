"""CONTRADICTION: a clause that no row can satisfy, whatever the table holds."""

from __future__ import annotations

from lakeprune.predicate.walk import columns_of
from lakeprune.predicate.write.show import name_text
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Investigation, brief, column_of
from lakeprune.report.diagnosis.codes import Code
from lakeprune.report.model import Diagnosis, Severity
from lakeprune.skipping.fact import Known


def contradiction(case: Case) -> Investigation:
    """One per clause whose mask has no TRUE in it."""
    yield []
    return [
        Diagnosis(
            code=Code.CONTRADICTION,
            severity=Severity.WARNING,
            clause=clause.text,
            column=column_of(name_text(column.path) for column in columns_of(spelt)),
            message=f"{brief(clause.text)} is TRUE for no value, so the query returns nothing: "
            f"all {files_text(case.numbers.total.files)} are dropped",
            numbers={"files": case.numbers.total.files, "kept_files": case.numbers.kept.files},
            suggestion="check the constants and the direction of the comparisons; if nothing is meant, write",
            rewrite="FALSE",
        )
        for clause, place, spelt in zip(case.plan.clauses, case.plan.positions, case.conjuncts, strict=True)
        if case.plan.bits[place.can_true].fact == Known(False)
    ]
