"""TIMESTAMP_ZONE_UNKNOWN: files kept because partition timestamps have no offset and no option says which zone is meant."""

from __future__ import annotations

from msgspec.structs import replace

from lakeprune.predicate.schema import Role
from lakeprune.predicate.walk import columns_of
from lakeprune.predicate.write.show import name_text
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, kept_files, only_one
from lakeprune.values.types import Kind


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
