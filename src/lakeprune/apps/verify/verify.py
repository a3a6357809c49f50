"""The application behind `verify`: the plan of a predicate compared with the rows, on Spark.

In: a table, a predicate, a session that has Delta. Out: a `Verification`. Reads the table's data, never writes. A contradiction
is a value, not an exception; an unreadable table and a wrong predicate are exceptions.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from lakeprune.apps.explain.explain import opened
from lakeprune.apps.verify.audit import audited
from lakeprune.apps.verify.model import NAMED, Slack, Truth, Verification, Violation
from lakeprune.apps.verify.sampled import Sampled, share_of
from lakeprune.planning.opening import At, delta_version
from lakeprune.predicate.clock import pinned
from lakeprune.programs.compare import ComparedPattern, planned_files
from lakeprune.report.verdict import Keeps, blocking_clause, clause_needs
from lakeprune.skipping.plan import Plan
from lakeprune.skipping.verdict import Verdict

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import SparkSession

    from lakeprune.apps.explain.explainer import Explainer
    from lakeprune.planning.opening import Table
    from lakeprune.planning.question import Question


def verify(
    table: Table,
    where: str,
    *,
    spark: SparkSession,
    version: int | None = None,
    timestamp: str | datetime | None = None,
    **options: Any,
) -> Verification:
    """Whether the rows of the table agree with what its metadata proves about `where`.

    `sample=0.1` checks every kept file and a tenth of the dropped ones; `audit_stats=True` also compares the statistics of the
    log with the values. The other options are those of `explain`.
    """
    share = share_of(options.pop("sample", None))
    is_audited = bool(options.pop("audit_stats", False))
    explainer, conditions = opened(table, [where], At(version, timestamp), {**options, "spark": spark})
    planner = explainer.planner
    with planner.engine.awake(), planner.reading():
        (question,) = planner.ask_all(conditions)
        found = _verified(explainer, question, spark, share)
        return replace(found, audit=audited(planner, spark, share)) if is_audited else found


def _verified(explainer: Explainer, question: Question, spark: SparkSession, share: float | None) -> Verification:
    from lakeprune.apps.verify.spark_truth import matches_found, planned_by_delta, rows_to_check

    planner = explainer.planner
    version = delta_version(planner, "verify")
    report = explainer.report(question, planner.patterns([question])[0])
    where = pinned(report.predicate or "TRUE", planner.profile)
    files = planned_files(planner.evaluation, question.plan, share)
    rows = rows_to_check(spark, files.logged, version, planner.profile.zone, share)
    with matches_found(rows, where, files.logged) as found:
        patterns = files.patterns(found)
        contradictions = sum(pattern.contradictions for pattern in patterns)
        named = files.contradictions(found, NAMED) if contradictions else []
    delta_spark = planned_by_delta(rows, where)
    dropped = [pattern for pattern in patterns if pattern.signature.verdict is Verdict.DROP]
    return Verification(
        report,
        truth=_truth(patterns),
        sampled=None if share is None else Sampled(share, sum(p.files for p in dropped), sum(p.checked for p in dropped)),
        slack=_slack(question.plan, patterns),
        violations=tuple(Violation(*each) for each in named),
        violation_count=contradictions,
        delta_spark=delta_spark,
        elapsed_ms=round((time.perf_counter() - explainer.started) * 1000),
    )


def _truth(patterns: Sequence[ComparedPattern]) -> Truth:
    return Truth(
        checked_files=sum(p.checked for p in patterns),
        live_rows=sum(p.live for p in patterns),
        matching_rows=sum(p.matching for p in patterns),
        files_with_match=sum(p.files_with_match for p in patterns),
        bytes_with_match=sum(p.bytes_with_match for p in patterns),
        files_with_wrong_row_count=sum(p.files_with_wrong_row_count for p in patterns),
    )


def _slack(plan: Plan, patterns: Sequence[ComparedPattern]) -> tuple[Slack, ...]:
    """Kept files without a match, by the clause and the reason that kept them, most files first."""
    files: Counter[tuple[str | None, Keeps]] = Counter()
    sizes: Counter[tuple[str | None, Keeps]] = Counter()
    needs = clause_needs(plan)
    for pattern in patterns:
        without = pattern.files - pattern.files_with_match
        if pattern.signature.verdict is not Verdict.DROP and without:
            index, keeps = blocking_clause(pattern.signature, needs)
            key = (None if index is None else plan.clauses[index].text, keeps)
            files[key] += without
            sizes[key] += pattern.bytes - pattern.bytes_with_match
    return tuple(Slack(*key, number, sizes[key]) for key, number in files.most_common())
