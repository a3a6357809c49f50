"""The application behind `verify`: the plan of a predicate confronted with the rows, on Spark.

In: a table, a predicate, a session that has Delta. Out: a `Verification`. Reads the table's data, never writes. A contradiction
is a value, not an exception; an unreadable table and a wrong predicate are exceptions.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakeprune.engines.confront import Confrontation, Confronted
from lakeprune.engines.engine import EngineError
from lakeprune.errors import TableError
from lakeprune.explanation import Job
from lakeprune.predicate.pin_clock import pinned
from lakeprune.report.verdict import Keeps, Verdict, blocking_clause, clause_needs, verdict_of
from lakeprune.skipping.plan import Plan
from lakeprune.verification.model import NAMED, Slack, Verification, Violation

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import SparkSession

    from lakeprune.explanation import Table
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
    """Whether the rows of the table agree with what its metadata was said to prove about `where`."""
    started = time.perf_counter()
    job = Job.begin(table, version, timestamp, {**options, "spark": spark})
    with job.evaluation.engine.awake():
        (report,) = job.reports([where])
        return _confronted(job, job.plan(where), report, spark, started)


def _confronted(job: Job, plan: Plan, report: Report, spark: SparkSession, started: float) -> Verification:
    from lakeprune.verification.spark_truth import Question, files_delta_reads, truth_view

    snapshot, engine, zone = job.evaluation.snapshot, job.evaluation.engine, job.profile.zone
    where = pinned(report.predicate or "TRUE", job.profile)
    question = Question(snapshot.facts.location, snapshot.facts.version, where, zone)
    with truth_view(spark, question) as view:
        keyed = f"SELECT {snapshot.file_key(engine, 'url')} AS file, live, matching FROM {view}"
        confrontation = Confrontation(job.evaluation, plan, f"({keyed})")
        try:
            if strangers := confrontation.strangers():
                raise _unmatched(strangers, snapshot.facts.location)
            patterns = confrontation.patterns()
            dropped = [p for p in patterns if verdict_of(p.signature) is Verdict.DROP and p.files_with_match]
            full = [p for p in patterns if verdict_of(p.signature) is Verdict.FULL and p.files_with_other]
            named = confrontation.contradictions(dropped, full, NAMED)
        except EngineError as error:
            raise snapshot.failure(error) from error
    verdicts = {pattern.words: verdict_of(pattern.signature) for pattern in patterns}
    return Verification(
        report,
        live_rows=sum(p.live for p in patterns),
        matching_rows=sum(p.matching for p in patterns),
        files_with_match=sum(p.files_with_match for p in patterns),
        bytes_with_match=sum(p.bytes_with_match for p in patterns),
        slack=_slack(plan, patterns),
        files_told_wrong=sum(p.files_told_wrong for p in patterns),
        violations=tuple(Violation(c.path, verdicts[c.words], c.live, c.matching) for c in named),
        violation_count=sum(p.files_with_match for p in dropped) + sum(p.files_with_other for p in full),
        delta_spark_files=files_delta_reads(spark, question),
        elapsed_ms=round((time.perf_counter() - started) * 1000),
    )


def _slack(plan: Plan, patterns: Sequence[Confronted]) -> tuple[Slack, ...]:
    """Kept files without a match, by the clause and the reason that kept them, most files first."""
    files: Counter[tuple[str | None, Keeps]] = Counter()
    sizes: Counter[tuple[str | None, Keeps]] = Counter()
    needs = clause_needs(plan)
    for pattern in patterns:
        without = pattern.files - pattern.files_with_match
        if verdict_of(pattern.signature) is not Verdict.DROP and without:
            index, keeps = blocking_clause(pattern.signature, needs)
            key = (None if index is None else plan.clauses[index].text, keeps)
            files[key] += without
            sizes[key] += pattern.bytes - pattern.bytes_with_match
    return tuple(Slack(clause, keeps, number, sizes[clause, keeps]) for (clause, keeps), number in files.most_common())


def _unmatched(files: int, location: str) -> TableError:
    what = f"{files} files that Delta Spark reads are not among the files of the log"
    return TableError("LP341", what, where=location, why="their paths could not be matched, so nothing can be said about them")
