"""The application behind `verify`: the plan of a predicate confronted with the rows, on Spark.

In: a table, a predicate, a session that has Delta. Out: a `Verification`. Reads the table's data, never writes. A contradiction
is a value, not an exception; an unreadable table and a wrong predicate are exceptions.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.apps.explain.explain import opened
from lakeprune.apps.verify.audit import unmatched
from lakeprune.apps.verify.model import NAMED, Slack, Truth, Verification, Violation
from lakeprune.apps.verify.sampled import Sampled, share_of
from lakeprune.engines.engine import EngineError
from lakeprune.planning.opening import At
from lakeprune.planning.planner import Planner
from lakeprune.predicate.clock import pinned
from lakeprune.programs.compare import Confrontation, Confronted, Judged, judged_files
from lakeprune.programs.sample import Sampling
from lakeprune.report.verdict import Keeps, blocking_clause, clause_needs
from lakeprune.skipping.plan import Plan
from lakeprune.skipping.verdict import Verdict

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import SparkSession

    from lakeprune.planning.opening import Table
    from lakeprune.report.model import Report


def verify(
    table: Table,
    where: str,
    *,
    spark: SparkSession,
    version: int | None = None,
    timestamp: str | datetime | None = None,
    **options: Any,
) -> Verification:
    """Whether the rows of the table agree with what its metadata was said to prove about `where`.

    `sample=0.1` looks into every kept file and a tenth of the dropped ones; `audit_stats=True` also compares the statistics of
    the log with the values. The other options are those of `explain`.
    """
    started = time.perf_counter()
    share = share_of(options.pop("sample", None))
    is_audited = bool(options.pop("audit_stats", False))
    explainer, conditions = opened(table, [where], At(version, timestamp), {**options, "spark": spark})
    planner = explainer.planner
    with planner.engine.awake():
        (question,) = planner.ask_all(conditions)
        report = explainer.report(question, planner.patterns([question])[0])
        found = _Verifier(planner, question.plan, report, spark, share).verification(started)
        if not is_audited:
            return found
        from lakeprune.apps.verify.audit import audited

        return replace(found, audit=audited(planner, spark, share))


class _Verifier(Struct, frozen=True):
    planner: Planner
    plan: Plan
    report: Report
    spark: SparkSession
    share: float | None

    def verification(self, started: float) -> Verification:
        from lakeprune.apps.verify.spark_truth import Rows, planned_by_delta, truth_view

        facts = self.planner.facts
        where = pinned(self.report.predicate or "TRUE", self.planner.profile)
        try:
            judged = judged_files(self.planner.evaluation, self.plan)
            sampled, is_checked, paths = self._chosen(judged)
            rows = Rows(facts.location, facts.version, self.planner.profile.zone, paths)
            with truth_view(self.spark, rows, where) as view:
                patterns, violations = self._confronted(view, judged, is_checked)
        except EngineError as error:
            raise self.planner.snapshot.failure(error) from error
        files, size = planned_by_delta(self.spark, rows, where)
        return Verification(
            self.report,
            truth=_truth(patterns),
            sampled=sampled,
            slack=_slack(self.plan, patterns),
            violations=violations,
            violation_count=sum(p.files_with_match for p in _of(patterns, Verdict.DROP))
            + sum(p.files_with_other for p in _of(patterns, Verdict.FULL)),
            delta_spark_files=files,
            delta_spark_bytes=size,
            elapsed_ms=round((time.perf_counter() - started) * 1000),
        )

    def _chosen(self, judged: Judged) -> tuple[Sampled | None, str, list[str] | None]:
        """What part of the dropped files is looked into; the SQL that says which files are; their paths unless all are."""
        if self.share is None:
            return None, "TRUE", None
        sampling = Sampling(judged, self.share)
        dropped = [p for p in sampling.patterns() if p.signature.verdict is Verdict.DROP]
        is_checked = sampling.is_checked(dropped)
        sampled = Sampled(self.share, sum(p.files for p in dropped), sum(p.in_sample for p in dropped))
        return sampled, is_checked, sampling.paths(is_checked)

    def _confronted(self, view: str, judged: Judged, is_checked: str) -> tuple[list[Confronted], tuple[Violation, ...]]:
        snapshot, engine = self.planner.snapshot, self.planner.engine
        keyed = f"SELECT {snapshot.file_key(engine, 'url')} AS file, live, matching FROM {view}"
        confrontation = Confrontation(judged, f"({keyed})", is_checked)
        if strangers := confrontation.strangers():
            raise unmatched(strangers, snapshot.facts.location)
        patterns = confrontation.patterns()
        dropped = [pattern for pattern in _of(patterns, Verdict.DROP) if pattern.files_with_match]
        full = [pattern for pattern in _of(patterns, Verdict.FULL) if pattern.files_with_other]
        named = confrontation.contradictions(dropped, full, NAMED)
        verdicts = {pattern.words: pattern.signature.verdict for pattern in patterns}
        return patterns, tuple(Violation(each.path, verdicts[each.words], each.live, each.matching) for each in named)


def _of(patterns: Sequence[Confronted], verdict: Verdict) -> list[Confronted]:
    return [pattern for pattern in patterns if pattern.signature.verdict is verdict]


def _truth(patterns: Sequence[Confronted]) -> Truth:
    return Truth(
        checked_files=sum(p.checked for p in patterns),
        live_rows=sum(p.live for p in patterns),
        matching_rows=sum(p.matching for p in patterns),
        files_with_match=sum(p.files_with_match for p in patterns),
        bytes_with_match=sum(p.bytes_with_match for p in patterns),
        files_told_wrong=sum(p.files_told_wrong for p in patterns),
    )


def _slack(plan: Plan, patterns: Sequence[Confronted]) -> tuple[Slack, ...]:
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
    return tuple(Slack(clause, keeps, number, sizes[clause, keeps]) for (clause, keeps), number in files.most_common())
