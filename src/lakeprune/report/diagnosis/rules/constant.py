"""CONTRADICTION and ALWAYS_TRUE: clauses that no row, or every row, satisfies. Such a clause filters all or nothing."""

from __future__ import annotations

from lakeprune.predicate.tree import Column, Compare, Expr, Literal, Name, Op
from lakeprune.predicate.write.show import name_text, show
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, brief, column_in, files_of
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


def repaired(case: Case, conjunct: Expr) -> tuple[str, str | None]:
    """What to do about a condition that no row satisfies: `x = NULL` is `x IS NULL`, `"x" = 1` was to be a column."""
    match conjunct:
        case Compare(Op.EQ | Op.NE as op, left, right):
            columns = [side for side in (left, right) if isinstance(side, Column)]
            if columns and any(isinstance(side, Literal) and side.value is None for side in (left, right)):
                test = "IS NULL" if op is Op.EQ else "IS NOT NULL"
                return f"a comparison with NULL is never TRUE; use {test}", f"{name_text(columns[0].path)} {test}"
    if isinstance(conjunct, Compare):
        names = {field.name.lower(): field.name for field in case.facts.schema.fields}
        for quoted, other in ((conjunct.left, conjunct.right), (conjunct.right, conjunct.left)):
            if isinstance(quoted, Literal) and isinstance(other, Literal) and str(quoted.value).lower() in names:
                column = Name((names[str(quoted.value).lower()],))
                sides = (column, other) if quoted is conjunct.left else (other, column)
                return "quotes make text, not a column; take them away", show(Compare(conjunct.op, *sides), case.profile.zone)
    return "check the constants and the direction of the comparisons", None


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
