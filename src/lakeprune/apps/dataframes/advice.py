"""Where Delta Spark reads more than the metadata asks for: by its own count, with a rewrite that it was seen to use.

In: a scan with Delta's own plan, and the report. Out: the report, its ENGINE_DIFFERS made of real numbers. The model of Delta
Spark in formats/delta only proposes; a rewrite is offered when Delta itself plans fewer files for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from lakeprune.apps.dataframes.scan import DeltaPlan, DeltaScan
from lakeprune.formats.delta.spark_skipping import DeltaSpark
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.diagnose import ALWAYS_TRUE, ENGINE_DIFFERS
from lakeprune.report.model import Diagnosis, Report, Severity

if TYPE_CHECKING:
    from lakeprune.apps.dataframes.spark_plans import Planned


def advised(planned: Planned, planner: Planner, scan: DeltaScan, question: Question, report: Report) -> Report:
    """The report, saying what Delta Spark really reads."""
    others = tuple(one for one in report.diagnoses or () if one.code != ENGINE_DIFFERS and not _is_sparks_own(one))
    modelled = next((one for one in report.diagnoses or () if one.code == ENGINE_DIFFERS), None)
    if question.condition is None or scan.plan is None or scan.plan.files <= report.numbers.kept.files:
        return replace(report, diagnoses=others)
    spark = DeltaSpark(planner.facts, planner.profile)
    unused = {clause.text: reasons for conjunct, clause in question.parts if (reasons := spark.plan([conjunct])[1])}
    rewrite = None if modelled is None else modelled.rewrite
    found = _diagnosis(report, scan.plan, unused, rewrite, _planned_with(planned, scan, rewrite))
    return replace(report, diagnoses=(found, *others))


def _is_sparks_own(diagnosis: Diagnosis) -> bool:
    """Whether it blames `x IS NOT NULL` for filtering nothing, which Spark adds to joins and comparisons by itself."""
    return diagnosis.code == ALWAYS_TRUE and (diagnosis.clause or "").endswith(" IS NOT NULL")


def _planned_with(planned: Planned, scan: DeltaScan, rewrite: str | None) -> DeltaPlan | None:
    """What Delta plans for the rewrite; None when that is no better."""
    from lakeprune.apps.dataframes.spark_scans import planned_with

    found = None if rewrite is None else planned_with(planned, scan, rewrite)
    return found if found is not None and scan.plan is not None and found.files < scan.plan.files else None


def _diagnosis(
    report: Report, plan: DeltaPlan, unused: dict[str, tuple[str, ...]], rewrite: str | None, rewritten: DeltaPlan | None
) -> Diagnosis:
    kept = report.numbers.kept.files
    numbers: dict[str, int | float | str] = {"kept_files": kept, "delta_spark_files": plan.files}
    suggestion = "no rewrite is known to help it; the other diagnoses say what would"
    if rewritten is not None:
        numbers["delta_spark_files_with_rewrite"] = rewritten.files
        suggestion = f"write the condition so that Delta Spark can use it: then it plans {files_text(rewritten.files)}"
    reasons = dict.fromkeys(reason for several in unused.values() for reason in several)
    why = "; ".join(reasons) or "its own record names " + (", ".join(plan.unused) or "no filter that it leaves out")
    return Diagnosis(
        code=ENGINE_DIFFERS,
        severity=Severity.WARNING,
        clause=next(iter(unused)) if len(unused) == 1 else None,
        column=None,
        message=f"Delta Spark plans to read {files_text(plan.files)} here where the metadata asks for {kept}: {why}",
        numbers=numbers,
        suggestion=suggestion,
        rewrite=None if rewritten is None else rewrite,
    )
