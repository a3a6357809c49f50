"""WIDE_BOUNDS_DELETION_VECTORS: kept files whose bounds still cover rows that a deletion vector hides."""

from __future__ import annotations

from lakeprune.formats.relation import Needs
from lakeprune.programs.select import files_where
from lakeprune.programs.survey import hidden_of
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, files_of
from lakeprune.report.model import Severity
from lakeprune.skipping.verdict import Verdict


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
            message=f"{guarded} of the {files_text(case.kept)} to read carry deletion vectors: their minimum and maximum still "
            f"cover the {hidden.deleted} of {hidden.rows} rows that are deleted, and may be why they stay",
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
