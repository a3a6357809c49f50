"""EXCLUDES_LITTLE: a clause that names what is not wanted (`!=`, NOT IN, NOT), and so keeps nearly every file.

No layout helps it: the values that remain lie everywhere. On a partition column they are few, and an IN list says them.
"""

from __future__ import annotations

from lakeprune.formats.relation import Needs
from lakeprune.predicate.tree import Column, In, Literal, Member
from lakeprune.predicate.write.show import name_text, show
from lakeprune.programs.select import files_where
from lakeprune.programs.survey import texts_of
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, Numbers, brief, is_exclusion
from lakeprune.report.model import Severity
from lakeprune.values.types import Scalar

MOST_LISTED = 10  # remaining values
LITTLE = 0.5  # of the files


def excludes_little(case: Case) -> list[Finding]:
    """One per clause that excludes single values of a column and drops half of the files at most."""
    found = []
    for index, clause in enumerate(case.plan.clauses):
        dropped = case.numbers.clauses[index].drops_any.files
        match clause.predicate:
            case Member(column, values) if is_exclusion(values) and dropped <= LITTLE * case.total:
                found.append(_finding(case, index, column, dropped))
    return found


def _finding(case: Case, index: int, column: Column, dropped: int) -> Finding:
    clause, name = case.plan.clauses[index], name_text(column.path)
    remaining = _remaining(case, index, column) if case.facts.evidence.is_exact(column) else None
    numbers: Numbers = {"files": case.total, "kept_files": case.kept, "dropped_files": dropped}
    suggestion, rewrite = "name the values that are wanted instead, if they are few", None
    if remaining:
        numbers["remaining_values"] = len(remaining)
        options = tuple(Literal(value, column.type) for value in remaining)
        suggestion = "these values remain today; list those that are wanted"
        rewrite = show(In(column, options), case.profile.zone)
    return Finding(
        severity=Severity.INFO,
        clause=clause.text,
        column=name,
        message=f"{brief(clause.text)} says what is not wanted: by itself it drops {dropped} of {files_text(case.total)}",
        numbers=numbers,
        suggestion=suggestion,
        rewrite=rewrite,
    )


def _remaining(case: Case, index: int, column: Column) -> list[Scalar] | None:
    """The values of a partition column in the files that the clause leaves; None when they are many, or not all known."""
    place = case.plan.positions[index]
    subset = files_where(case.evaluation, case.plan, [place.can_true], Needs(partition_texts=(column,)))
    texts = texts_of(case.evaluation.engine, subset, column, MOST_LISTED + 1)
    if len(texts) > MOST_LISTED:
        return None
    found: list[Scalar] = []
    for text in texts:
        values = case.evaluation.snapshot.partition_values(text, column, case.profile)
        if values is None or len(values) != 1 or values[0] is None:
            return None
        found.append(values[0])
    return found
