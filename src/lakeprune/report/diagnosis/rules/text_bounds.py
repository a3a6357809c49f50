"""TRUNCATED_STRING_BOUNDS: files kept because the recorded maximum of a text is only the beginning of the real one."""

from __future__ import annotations

from msgspec.structs import replace

from lakeprune.predicate.schema import Role
from lakeprune.predicate.walk import columns_of
from lakeprune.predicate.write.show import name_text
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, files_of, is_kept, kept_files, only_one
from lakeprune.values.types import Family


def truncated_string_bounds(case: Case) -> list[Finding]:
    """One for the predicate, when files stay that a maximum known in full could have dropped."""
    columns = [c for c in case.plan.columns if c.role is Role.DATA and c.type.family is Family.TEXT]
    doubtful = [i for i, clause in enumerate(case.plan.clauses) if set(columns_of(clause.predicate)) & set(columns)]
    # A fully matched file stays whatever its maximum is; most predicates need no further look.
    if not files_of(case.patterns, lambda s: is_kept(s) and any(s.outcomes[i].not_true for i in doubtful)):
        return []
    # As if no recorded maximum went on: unsound for planning, right for counting what the guard keeps.
    (patterns,) = replace(case.evaluation, trusts_truncated_max=True).patterns([case.plan])
    guarded = case.kept - kept_files(patterns)
    if not guarded:
        return []
    names = [name_text(column.path) for column in columns]
    return [
        Finding(
            clause=only_one(case.plan.clauses[i].text for i in doubtful),
            column=only_one(names),
            message=f"{guarded} of the {files_text(case.kept)} to read stay only because the recorded maximum of "
            f"{', '.join(names)} is truncated, and longer values may go beyond it",
            numbers={"kept_files": case.kept, "guarded_files": guarded},
            suggestion="writers keep the first 32 characters or so: values that differ earlier, or a shorter key column beside "
            f"{names[0]} in the predicate, would let statistics decide",
        )
    ]
