"""TRUNCATED_STRING_BOUNDS: files kept because the stored maximum of a text is only the beginning of the real one."""

from __future__ import annotations

from lakeprune.predicate.schema import Role
from lakeprune.predicate.show import name_text
from lakeprune.predicate.types import Family
from lakeprune.predicate.walk import columns_of
from lakeprune.record import replace
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Investigation, column_of, kept_files
from lakeprune.report.diagnosis.codes import Code
from lakeprune.report.model import Diagnosis, Severity


def truncated_string_bounds(case: Case) -> Investigation:
    """One for the predicate, when files stay that a maximum known in full could have dropped."""
    yield []
    columns = [c for c in case.plan.columns if c.role is Role.DATA and c.type.family is Family.TEXT]
    if not columns or not case.numbers.kept.files:
        return []
    # As if no stored maximum went on: unsound for planning, right for counting what the guard keeps.
    trusting = replace(case.evaluation, takes_cuts_as_whole=True)
    (patterns,) = trusting.patterns([case.plan])
    kept = case.numbers.kept.files
    guarded = kept - kept_files(patterns)
    if not guarded:
        return []
    clauses = [clause for clause in case.plan.clauses if set(columns_of(clause.predicate)) & set(columns)]
    names = [name_text(column.path) for column in columns]
    return [
        Diagnosis(
            code=Code.TRUNCATED_STRING_BOUNDS,
            severity=Severity.WARNING,
            clause=clauses[0].text if len(clauses) == 1 else None,
            column=column_of(names),
            message=f"{guarded} of the {files_text(kept)} to read stay only because the stored maximum of {', '.join(names)} "
            "is a cut text, which longer values may go beyond",
            numbers={"kept_files": kept, "guarded_files": guarded},
            suggestion="writers keep the first 32 characters or so: values that differ earlier, or a shorter key column beside "
            f"{names[0]} in the predicate, would let statistics decide",
        )
    ]
