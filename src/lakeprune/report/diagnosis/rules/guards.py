"""Files that only a guard keeps: bounds and partition values that may say less than they seem to.

TRUNCATED_STRING_BOUNDS: the recorded maximum of a text is only the beginning of the real one. TIMESTAMP_ZONE_UNKNOWN: partition
timestamps have no offset and no option says which zone is meant. WIDE_BOUNDS_DELETION_VECTORS: bounds still cover deleted rows.
"""

from __future__ import annotations

from msgspec.structs import replace

from lakeprune.formats.relation import Needs
from lakeprune.predicate.schema import Role
from lakeprune.predicate.walk import columns_of
from lakeprune.predicate.write.show import name_text
from lakeprune.programs.select import files_where
from lakeprune.programs.survey import hidden_of
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, files_of, is_kept, kept_files, only_one
from lakeprune.report.model import Severity
from lakeprune.skipping.verdict import Verdict
from lakeprune.values.types import Family, Kind


def truncated_string_bounds(case: Case) -> list[Finding]:
    """One for the predicate, when files stay that a maximum known in full could have dropped."""
    columns = [c for c in case.plan.columns if c.role is Role.DATA and c.type.family is Family.TEXT]
    columns = [c for c in columns if case.remedies.longer_bounds(c) is None]  # METRICS_MISSING has the setting
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


def timestamp_zone_unknown(case: Case) -> list[Finding]:
    """One for the predicate, when knowing the zone drops files; counted as if it were the session's."""
    clauses = {
        clause.text: [c for c in columns_of(clause.predicate) if c.role is Role.PARTITION and c.type.kind is Kind.TIMESTAMP]
        for clause in case.plan.clauses
    }
    columns = dict.fromkeys(column for several in clauses.values() for column in several)
    if case.profile.zone_is_given or not columns or not case.kept:
        return []
    zone = case.profile.zone
    (patterns,) = replace(case.evaluation, profile=replace(case.profile, zone_is_given=True)).patterns([case.plan])
    with_zone = kept_files(patterns)
    guarded = case.kept - with_zone
    if guarded <= 0:
        return []
    names = [name_text(column.path) for column in columns]
    return [
        Finding(
            clause=only_one(text for text, several in clauses.items() if several),
            column=only_one(names),
            message=f"{guarded} of the {files_text(case.kept)} to read stay only because values of the partition column "
            f"{', '.join(names)} have no offset and their zone is not known",
            numbers={"kept_files": case.kept, "guarded_files": guarded, "files_with_zone": with_zone, "zone": zone},
            suggestion=f"say in which zone the table was written; if it was {zone}, {files_text(with_zone)} stay with",
            rewrite=f"--timezone {zone}",
        )
    ]


def wide_bounds_deletion_vectors(case: Case) -> list[Finding]:
    """One for the predicate, when files stay on bounds that deleted rows may have made too wide."""
    guarded = files_of(case.patterns, lambda s: s.has_dv and s.verdict is Verdict.KEEP)
    if not guarded or not case.plan.columns:
        return []
    doubts = [place.not_true for place in case.plan.positions]
    hidden = hidden_of(case.evaluation.engine, files_where(case.evaluation, case.plan, case.can_be_true, Needs(), some=doubts))
    return [
        Finding(
            severity=Severity.INFO,
            message=f"{guarded} of the {files_text(case.kept)} to read carry {case.remedies.deletes_are}: their minimum and "
            f"maximum still cover the {hidden.deleted} of {hidden.rows} rows that are deleted, and may be why they stay",
            numbers={
                "kept_files": case.kept,
                "guarded_files": guarded,
                "deleted_rows": hidden.deleted,
                "physical_rows": hidden.rows,
            },
            suggestion="write the remaining rows anew, then bounds are tight again",
            rewrite=case.remedies.purge_deleted_rows(),
        )
    ]
