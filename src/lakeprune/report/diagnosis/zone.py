"""TIMESTAMP_ZONE_UNKNOWN: files kept because partition timestamps have no offset and nobody said which zone is meant."""

from __future__ import annotations

from msgspec.structs import replace

from lakeprune.predicate.schema import Role
from lakeprune.predicate.walk import columns_of
from lakeprune.predicate.write.show import name_text
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Investigation, column_of, kept_files
from lakeprune.report.diagnosis.codes import Code
from lakeprune.report.model import Diagnosis, Severity
from lakeprune.values.types import Kind


def timestamp_zone_unknown(case: Case) -> Investigation:
    """One for the predicate, when knowing the zone drops files; counted as if it were the session's."""
    yield []
    profile = case.evaluation.profile
    columns = [
        column
        for column in dict.fromkeys(c for clause in case.plan.clauses for c in columns_of(clause.predicate))
        if column.role is Role.PARTITION and column.type.kind is Kind.TIMESTAMP
    ]
    if profile.zone_is_given or not columns or not case.numbers.kept.files:
        return []
    told = replace(case.evaluation, profile=replace(profile, zone_is_given=True))
    (patterns,) = told.patterns([case.plan])
    kept, with_zone = case.numbers.kept.files, kept_files(patterns)
    if with_zone >= kept:
        return []
    clauses = [clause for clause in case.plan.clauses if set(columns_of(clause.predicate)) & set(columns)]
    names = [name_text(column.path) for column in columns]
    return [
        Diagnosis(
            code=Code.TIMESTAMP_ZONE_UNKNOWN,
            severity=Severity.WARNING,
            clause=clauses[0].text if len(clauses) == 1 else None,
            column=column_of(names),
            message=f"{kept - with_zone} of the {files_text(kept)} to read stay only because values of the partition column "
            f"{', '.join(names)} have no offset and their zone is not known",
            numbers={"kept_files": kept, "guarded_files": kept - with_zone, "files_with_zone": with_zone, "zone": profile.zone},
            suggestion=f"say in which zone the table was written; if it was {profile.zone}, {files_text(with_zone)} stay with",
            rewrite=f"--timezone {profile.zone}",
        )
    ]
