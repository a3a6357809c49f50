"""The applications behind `verify`: the plan of a predicate, and the recorded statistics, compared with the rows on Spark.

In: a table, a session that has the connector of its format, and a predicate to verify. Out: a `Verification` or an `Audit`. Reads
the table's data, never writes. A contradiction is a value, not an exception; an unreadable table and a wrong predicate are
exceptions.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from lakeprune.apps.explain.opening import opened
from lakeprune.apps.signature import takes
from lakeprune.apps.verify.model import (
    NAMED,
    UNKNOWN_WRITER,
    Audit,
    FalseAssumption,
    Sampled,
    Slack,
    StatisticsFault,
    Truth,
    Verification,
    Violation,
    share_of,
)
from lakeprune.formats.delta.demand import delta_version
from lakeprune.planning.opened import OpenedTable
from lakeprune.planning.opening import At, located
from lakeprune.planning.session import SessionOptions, for_rows
from lakeprune.predicate.clock import pinned
from lakeprune.predicate.read.sql.tokens import tokenize
from lakeprune.predicate.schema import Role, leaf_paths
from lakeprune.predicate.tree import Column, NanPolicy, Profile
from lakeprune.programs.audit import Fault, FoundFault, compare, name_of, recorded_statistics
from lakeprune.programs.compare import ComparedPattern, planned_files
from lakeprune.programs.sample import in_sample
from lakeprune.report.listing import shown
from lakeprune.report.verdict import Keeps, blocking_clause, clause_needs
from lakeprune.skipping.plan import Plan, plan_clauses
from lakeprune.skipping.verdict import Verdict
from lakeprune.values.types import Family

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Unpack

    from pyspark.sql import SparkSession

    from lakeprune.apps.explain.explainer import Explainer
    from lakeprune.planning.opening import Table
    from lakeprune.planning.planner import Planner
    from lakeprune.planning.question import Question

_SHARE = "check every kept file and this share of the dropped ones (0.1: a tenth)"
_OWN = ("sample", "audit_stats")  # of verifying
_FROM_TEXT: dict[Family | None, Callable[[str], Any]] = {
    Family.INTEGER: int,
    Family.REAL: float,
    Family.DECIMAL: Decimal,
    Family.BOOLEAN: "true".__eq__,
}


class VerifyOptions(SessionOptions, total=False):
    """How a predicate is read, and what is verified."""

    sample: float
    audit_stats: bool


@takes(VerifyOptions, sample=_SHARE)
def verify(
    table: Table,
    where: str,
    *,
    spark: SparkSession,
    version: int | None = None,
    timestamp: str | datetime | None = None,
    ref: str | None = None,
    **options: Unpack[VerifyOptions],
) -> Verification:
    """Whether the rows of the table agree with what its metadata proves about `where`.

    `sample=0.1` checks every kept file and a tenth of the dropped ones; `audit_stats=True` also compares the statistics of the
    log with the values.
    """
    share = share_of(options.get("sample"))
    given = {**for_rows({name: value for name, value in options.items() if name not in _OWN}, "verify"), "spark": spark}
    table, version = _as_read(table, version)
    explainer, conditions = opened(table, [where], At(version, timestamp, ref), given, reads_here=_is_here(table, spark))
    planner = explainer.planner
    with planner.engine.awake(), planner.reading():
        (question,) = planner.ask_all(conditions)
        found = _verified(explainer, question, spark, share)
        return replace(found, audit=_audited(planner, spark, share)) if options.get("audit_stats") else found


@takes(SessionOptions)
def audit(
    table: Table,
    *,
    spark: SparkSession,
    version: int | None = None,
    timestamp: str | datetime | None = None,
    ref: str | None = None,
    sample: float | None = None,
    **options: Unpack[SessionOptions],
) -> Audit:
    """Whether the statistics that the table's log records hold for the rows of its files."""
    share = share_of(sample)
    table, version = _as_read(table, version)
    explainer, _ = opened(table, [], At(version, timestamp, ref), {**for_rows(options, "an audit"), "spark": spark})
    with explainer.planner.engine.awake(), explainer.planner.reading():
        return _audited(explainer.planner, spark, share)


def _as_read(table: Table, version: int | None) -> tuple[Table, int | None]:
    """The table, by its place where Spark reads its metadata: Spark cannot see what another engine keeps."""
    if isinstance(table, OpenedTable) and table.engine.name != "spark" and table.snapshot.facts.format == "delta":
        return located(table, version)
    return table, version


def _is_here(table: Table, spark: SparkSession) -> bool:
    """Whether this process reads the metadata itself: of a local table of any format but Delta."""
    from lakeprune.engines.spark.session import has_jvm

    location = located(table, None)[0].removeprefix("file://")
    return "://" not in location and has_jvm(spark) and not os.path.isdir(os.path.join(location, "_delta_log"))


def _verified(explainer: Explainer, question: Question, spark: SparkSession, share: float | None) -> Verification:
    from lakeprune.apps.verify.spark_rows import matches_found, planned_by_spark, rows_to_check

    planner = explainer.planner
    (report,) = explainer.answers([question])
    where = pinned(tokenize(report.predicate or "TRUE").uncommented(), planner.profile)
    files = planned_files(planner.evaluation, question.plan, share)
    rows = rows_to_check(spark, files.logged, planner.profile.zone, share)
    with matches_found(rows, where, files.logged) as found:
        patterns = files.patterns(found)
        contradictions = sum(pattern.contradictions for pattern in patterns)
        named = files.contradictions(found, NAMED) if contradictions else []
        assumed = _false_assumptions(planner, question, found)
    planned = planned_by_spark(rows, where)
    dropped = [pattern for pattern in patterns if pattern.signature.verdict is Verdict.DROP]
    return Verification(
        report,
        truth=_truth(patterns),
        sampled=None if share is None else Sampled(share, sum(p.files for p in dropped), sum(p.checked for p in dropped)),
        slack=_slack(question.plan, patterns),
        violations=tuple(Violation(*each) for each in named),
        violation_count=contradictions,
        false_assumptions=assumed,
        spark=planned,
        elapsed_ms=round((time.perf_counter() - explainer.started) * 1000),
    )


def _false_assumptions(planner: Planner, question: Question, found: str) -> tuple[FalseAssumption, ...]:
    """Files that `explain` drops by assuming that no NaN is hidden, and that have a match. Here they were kept, and read."""
    plan = plan_clauses(question.plan.clauses, question.plan.evidence, NanPolicy.ASSUME)
    if not any(bits.assumed_columns for bits in plan.positions):
        return ()
    files = planned_files(planner.evaluation, plan, None).dropped_with_match(found, NAMED)
    return tuple(
        FalseAssumption(path, ".".join(column.path), matching)
        for path, signature, matching in files
        if signature.is_assumed
        for column in dict.fromkeys(
            column
            for outcome, bits in zip(signature.outcomes, plan.positions, strict=True)
            if outcome.is_assumed
            for column in bits.assumed_columns
        )
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


def _audited(planner: Planner, spark: SparkSession, share: float | None) -> Audit:
    """The audit of a table that is open."""
    from lakeprune.apps.verify.spark_rows import rows_to_check, values_found

    started = time.perf_counter()
    version = delta_version(planner.facts, "an audit of statistics")
    # Which also refuses a log that disagrees with its own checksum.
    files = sum(pattern.files for pattern in planner.patterns([planner.ask(None)])[0])
    columns = [Column.at(path) for path in leaf_paths(planner.facts.schema.fields) if path[0].role is Role.DATA]
    recorded = recorded_statistics(planner.evaluation, columns, in_sample("path", share))
    rows = rows_to_check(spark, recorded.logged, "UTC", share)
    with values_found(rows, recorded.columns, recorded.logged) as found:
        compared = compare(recorded, found)
        checked, wrong = compared.files()
        counts, named = (compared.counts(), compared.named(NAMED)) if wrong else ([], [])
    writers = planner.snapshot.writers(planner.engine, sorted({fault.path for fault in named}))
    return Audit(
        table=planner.facts.location,
        version=version,
        files=files,
        columns=tuple(".".join(column.path) for column in recorded.columns.values()),
        sampled=None if share is None else Sampled(share, files, checked),
        checked_files=checked,
        wrong_files=wrong,
        counts=tuple(counts),
        faults=tuple(_fault(each, writers.get(each.path, UNKNOWN_WRITER), planner.profile) for each in named),
        elapsed_ms=round((time.perf_counter() - started) * 1000),
    )


def _fault(found: FoundFault, writer: str, profile: Profile) -> StatisticsFault:
    """The fault with bounds as a user would write them, and counts as numbers."""

    def value(text: str | None) -> Any:
        if text is None:
            return None
        if found.column is None or found.fault in (Fault.NULLS, Fault.NAN):
            return int(text)
        return shown(_FROM_TEXT.get(found.column.type.family, str)(text), found.column, profile)

    return StatisticsFault(found.path, name_of(found.column), found.fault, value(found.recorded), value(found.found), writer)
