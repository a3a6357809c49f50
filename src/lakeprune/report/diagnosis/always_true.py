"""ALWAYS_TRUE: a clause that filters nothing, because of what it says or because of what the table holds."""

from __future__ import annotations

from lakeprune.predicate.walk import columns_of
from lakeprune.predicate.write.show import name_text
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Investigation, amount_where, brief, column_of
from lakeprune.report.diagnosis.codes import Code
from lakeprune.report.model import Diagnosis, Severity


def always_true(case: Case) -> Investigation:
    """One per clause that is TRUE on every live row, by itself or as this version's metadata proves."""
    yield []
    found = [_finding(case, text, None, f"{brief(text)} is TRUE on every row of any table") for text in case.tautologies]
    live = amount_where(case.patterns, lambda signature: not signature.is_empty).files
    for index, (clause, spelt) in enumerate(zip(case.plan.clauses, case.conjuncts, strict=True)):
        matched = amount_where(case.patterns, lambda s, i=index: not s.is_empty and not s.outcomes[i].not_true).files  # type: ignore[misc]
        if live and matched == live:
            column = column_of(name_text(column.path) for column in columns_of(spelt))
            told = f"metadata proves that {brief(clause.text)} is TRUE on every live row of all {files_text(live)}"
            found.append(_finding(case, clause.text, column, told))
    return found


def _finding(case: Case, text: str, column: str | None, message: str) -> Diagnosis:
    return Diagnosis(
        code=Code.ALWAYS_TRUE,
        severity=Severity.INFO,
        clause=text,
        column=column,
        message=f"{message}: it filters nothing, {case.numbers.kept.files} of {files_text(case.numbers.total.files)} "
        "stay with or without it",
        numbers={"files": case.numbers.total.files, "kept_files": case.numbers.kept.files},
        suggestion="check that it says what you mean; otherwise leave it out, or write",
        rewrite="TRUE",
    )
