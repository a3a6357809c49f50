"""WIDE_BOUNDS_DELETION_VECTORS: kept files whose bounds still cover rows that a deletion vector hides."""

from __future__ import annotations

from lakeprune.engines.engine import Needs
from lakeprune.programs.patterns import Signature
from lakeprune.programs.select import files_where
from lakeprune.programs.survey import hidden_of
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Investigation, amount_where
from lakeprune.report.diagnosis.codes import Code
from lakeprune.report.model import Diagnosis, Severity
from lakeprune.skipping.verdict import Verdict


def wide_bounds_deletion_vectors(case: Case) -> Investigation:
    """One for the predicate, when files stay on bounds that deleted rows may have made too wide."""
    yield []
    guarded = amount_where(case.patterns, _is_doubtful).files
    if not guarded or not case.plan.columns:
        return []
    subset = files_where(
        case.evaluation, case.plan, case.can_be_true, Needs(), some=[place.not_true for place in case.plan.positions]
    )
    hidden = hidden_of(case.evaluation.engine, subset)
    kept = case.numbers.kept.files
    return [
        Diagnosis(
            code=Code.WIDE_BOUNDS_DELETION_VECTORS,
            severity=Severity.INFO,
            clause=None,
            column=None,
            message=f"{guarded} of the {files_text(kept)} to read carry deletion vectors: their minimum and maximum still cover "
            f"the {hidden.deleted} of {hidden.rows} rows that are deleted, and may be why they stay",
            numbers={"kept_files": kept, "guarded_files": guarded, "deleted_rows": hidden.deleted, "physical_rows": hidden.rows},
            suggestion="write the remaining rows anew, then bounds are tight again",
            rewrite=f"REORG TABLE {case.table} APPLY (PURGE)",
        )
    ]


def _is_doubtful(signature: Signature) -> bool:
    """Kept, with a deletion vector, and not because every row matches."""
    return signature.has_dv and signature.verdict is Verdict.KEEP
