"""TRUNCATED_STRING_BOUNDS: files kept because the stored maximum of a text is only the beginning of the real one."""

from __future__ import annotations

from msgspec.structs import replace

from lakeprune.predicate.schema import Role
from lakeprune.predicate.walk import columns_of
from lakeprune.predicate.write.show import name_text
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Investigation, amount_where, column_of, is_kept, kept_files
from lakeprune.report.diagnosis.codes import Code
from lakeprune.report.model import Diagnosis, Severity
from lakeprune.values.types import Family


def truncated_string_bounds(case: Case) -> Investigation:
    """One for the predicate, when files stay that a maximum known in full could have dropped."""
    yield []
    columns = [c for c in case.plan.columns if c.role is Role.DATA and c.type.family is Family.TEXT]
    doubtful = [i for i, clause in enumerate(case.plan.clauses) if set(columns_of(clause.predicate)) & set(columns)]
    # A file whose every row matches stays whatever its maximum is; most predicates need no further look.
    if not amount_where(case.patterns, lambda s: is_kept(s) and any(s.outcomes[i].not_true for i in doubtful)).files:
        return []
    # As if no stored maximum went on: unsound for planning, right for counting what the guard keeps.
    trusting = replace(case.evaluation, takes_cuts_as_whole=True)
    (patterns,) = trusting.patterns([case.plan])
    kept = case.numbers.kept.files
    guarded = kept - kept_files(patterns)
    if not guarded:
        return []
    names = [name_text(column.path) for column in columns]
    return [
        Diagnosis(
            code=Code.TRUNCATED_STRING_BOUNDS,
            severity=Severity.WARNING,
            clause=case.plan.clauses[doubtful[0]].text if len(doubtful) == 1 else None,
            column=column_of(names),
            message=f"{guarded} of the {files_text(kept)} to read stay only because the stored maximum of {', '.join(names)} "
            "is a cut text, which longer values may go beyond",
            numbers={"kept_files": kept, "guarded_files": guarded},
            suggestion="writers keep the first 32 characters or so: values that differ earlier, or a shorter key column beside "
            f"{names[0]} in the predicate, would let statistics decide",
        )
    ]
