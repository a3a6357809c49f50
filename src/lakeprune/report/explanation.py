"""The JSON document of `explain`, as one class: what is printed, its JSON Schema and every document it is a part of use it.

In: a report. Out: an `Explanation`. The names of the contract that pipelines know keep their meaning; the others are ours.
Classes that have the contract's shape already (`Amount`, `Diagnosis`, `FileReport`) are used as they are.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from lakeprune.formats.snapshot import Note
from lakeprune.planning.session import Session
from lakeprune.report import gates, model
from lakeprune.report.amount import Amount, percent
from lakeprune.report.attribution import Coverage
from lakeprune.report.buckets import Bucket
from lakeprune.report.document import WHOLE, Envelope, Outcome, View, outcome
from lakeprune.report.engines import EngineRead
from lakeprune.report.model import Assumption, Confidence, Diagnosis, FileReport, Phase, Report
from lakeprune.report.row_groups import RowGroups
from lakeprune.report.summary import Summary
from lakeprune.report.verdict import Keeps
from lakeprune.skipping.ladder import Level
from lakeprune.storage.storage import Traffic

GateName = Annotated[str, Meta(extra_json_schema={"enum": sorted({*(gate.name for gate in gates.GATES.values()), "listed"})})]


class Analysis(Struct, frozen=True):
    """The predicate split by where its conjuncts find their evidence."""

    partition_safe: str | None
    partition_exact: str | None
    stats_safe: str | None
    unsplittable: str | None
    not_evaluated: str | None
    confidence: Confidence
    notes: list[Note]
    stats_coverage: list[Coverage]


class Clause(Struct, frozen=True):
    """What one conjunct did. `dropped_*` count all files, `kept_*` the files that manifest and partition pruning left.

    any: dropped by this clause by itself; first: credited to it; alone: kept if it were not there; assumed: the part of `any`
    that rests on an assumption.
    """

    text: str
    rewritten: str | None
    bucket: Bucket
    dropped_alone: Amount
    dropped_first: Amount
    dropped_any: Amount
    dropped_assumed: Amount
    kept_null_count: Amount
    kept_partition_text_unreadable: Amount
    kept_evaluation_failed: Amount
    kept_overlap: Amount
    kept_missing_statistic: Amount
    kept_nan_possible: Amount
    kept_not_decidable: Amount
    kept_all_rows_match: Amount
    reasons: list[Note]


class Stats(Struct, frozen=True):
    """How many files carry statistics at all; files in manifests that were not read are not among them."""

    mode: Literal["exact", "partial", "absent"]
    files_with_stats: int
    total_files: int
    pct: float


class Assertion(Struct, frozen=True):
    """One gate: threshold and actual for limits, a count for the others. `listed` fails where a scan's files are not counted."""

    name: GateName
    result: Outcome
    threshold: float | UnsetType = UNSET
    actual: float | UnsetType = UNSET
    note: str | UnsetType = UNSET
    missing_count: int | UnsetType = UNSET
    unattributed_clauses: int | UnsetType = UNSET
    codes: str | UnsetType = UNSET
    found: int | UnsetType = UNSET


class DeletionVectors(Struct, frozen=True):
    enabled: bool
    files_with_deletion_vectors: int


class TableFeatures(Struct, frozen=True):
    """What the table declares about itself."""

    clustering_columns: list[str] | None
    column_mapping_mode: str | None
    deletion_vectors: DeletionVectors
    in_commit_timestamps: bool
    notes: list[str]
    unrecognized_writer_features: list[str]


class _WhenAsked(Envelope, frozen=True, kw_only=True):
    """What comes last, and only with --explain-why, --row-groups or --verbose."""

    explain: list[Diagnosis] | UnsetType = UNSET
    row_groups: RowGroups | UnsetType = UNSET
    fetched: Traffic | UnsetType = UNSET
    files_truncated: bool | UnsetType = UNSET
    files: list[FileReport] | UnsetType = UNSET


class Explanation(_WhenAsked, frozen=True):
    """What one predicate must read of one table, why, and whether the gates passed."""

    table: str
    format: str
    version: int | None
    predicate: str | None
    summary: Summary
    total_files: int
    final_files: int
    total_pruning_pct: float
    total_bytes: int
    final_bytes: int
    bytes_pruning_pct: float
    total_rows: int
    final_rows: int
    files_without_rows: int
    total_rows_at_most: int | None  # where deletes apply that are not counted, live rows have an upper bound; null without one
    final_rows_at_most: int | None
    files_without_bytes: int  # in manifests that were not read; then the share of bytes is a lower bound
    full_files: int
    full_rows: int
    engines: list[EngineRead]
    assumptions: list[Assumption]
    analysis: Analysis | None
    phases: list[Phase]
    credits: dict[str, Amount]  # by constant, each rung of the format, joint; no_live_rows is the part that no clause drops
    clauses_counted_at: Level  # manifest: files in manifests that were not read are counted with the outcomes of their manifest
    clauses: list[Clause]
    stats: Stats
    assertions: list[Assertion]
    result: Outcome | None
    session: Session
    notes: list[Note]
    table_features: TableFeatures
    catalog: dict[str, Any] | None


def explanation(report: Report, view: View = WHOLE) -> Explanation:
    """The whole document."""
    head = explanation_head(report, view)
    return replace(head, files=list(report.listed(view))) if view.verbose else head


def explanation_head(report: Report, view: View) -> Explanation:
    """The document without its files, which may be a million."""
    numbers, facts = report.numbers, report.facts
    total, kept = numbers.total, numbers.kept
    head = Explanation(
        table=report.table,
        format=facts.format,
        version=facts.version,
        predicate=report.predicate,
        summary=report.summary,
        total_files=report.total_files,
        final_files=report.final_files,
        total_pruning_pct=report.total_pruning_pct,
        total_bytes=report.total_bytes,
        final_bytes=report.final_bytes,
        bytes_pruning_pct=report.bytes_pruning_pct,
        total_rows=report.total_rows,
        final_rows=report.final_rows,
        files_without_rows=total.files_without_rows,
        total_rows_at_most=total.rows_at_most,
        final_rows_at_most=kept.rows_at_most,
        files_without_bytes=total.files_without_bytes,
        full_files=report.full_files,
        full_rows=report.full_rows,
        engines=list(report.engines),
        assumptions=report.assumptions,
        analysis=None if report.predicate is None else _analysis(report),
        phases=list(report.phases),
        credits={**numbers.credits, "no_live_rows": numbers.empty},
        clauses_counted_at=numbers.counted_at,
        clauses=[_clause(clause) for clause in report.clauses],
        stats=_stats(numbers.with_stats, numbers.read),
        assertions=[assertion_document(assertion) for assertion in report.assertions],
        result=outcome(report.passed) if report.assertions else None,
        session=report.session,
        notes=list(facts.notes),
        table_features=_features(report),
        catalog=None,
        elapsed_ms=report.elapsed_ms,
        schema_version=report.schema_version,
        tool_version=report.tool_version,
        explain=UNSET if report.diagnoses is None else list(report.diagnoses),
        row_groups=report.row_groups or UNSET,
    )
    if not view.verbose:
        return head
    return replace(head, fetched=report.traffic or UNSET, files_truncated=report.unlisted(view) > 0)


def assertion_document(assertion: gates.Assertion) -> Assertion:
    """A gate, as every document has it."""
    details: dict[str, Any] = dict(assertion.details)
    return Assertion(assertion.name, outcome(assertion.passed), **details)


def _analysis(report: Report) -> Analysis:
    reasons = dict.fromkeys(reason for clause in report.clauses for reason in clause.clause.reasons)
    return Analysis(
        partition_safe=report.text_of(Bucket.PARTITION_SAFE),
        partition_exact=report.text_of(Bucket.PARTITION_EXACT),
        stats_safe=report.text_of(Bucket.STATS_SAFE),
        unsplittable=report.text_of(Bucket.UNSPLITTABLE),
        not_evaluated=report.text_of(Bucket.NOT_EVALUATED),
        confidence=report.confidence,
        notes=[Note(reason.code.value, reason.message) for reason in reasons],
        stats_coverage=list(report.numbers.coverage),
    )


def _clause(report: model.ClauseReport) -> Clause:
    clause, credit = report.clause, report.credit
    return Clause(
        text=clause.text,
        rewritten=clause.rewritten,
        bucket=report.bucket,
        dropped_alone=credit.drops_alone,
        dropped_first=credit.drops_first,
        dropped_any=credit.drops_any,
        dropped_assumed=credit.drops_assumed,
        kept_null_count=credit.kept[Keeps.NULL_COUNT],
        kept_partition_text_unreadable=credit.kept[Keeps.PARTITION_TEXT_UNREADABLE],
        kept_evaluation_failed=credit.kept[Keeps.EVALUATION_FAILED],
        kept_overlap=credit.kept[Keeps.RANGES_OVERLAP],
        kept_missing_statistic=credit.kept[Keeps.MISSING_STATISTIC],
        kept_nan_possible=credit.kept[Keeps.NAN_POSSIBLE],
        kept_not_decidable=credit.kept[Keeps.NOT_DECIDABLE],
        kept_all_rows_match=credit.kept[Keeps.ALL_ROWS_MATCH],
        reasons=[Note(reason.code.value, reason.message) for reason in clause.reasons],
    )


def _stats(files: int, total: int) -> Stats:
    mode: Literal["exact", "partial", "absent"] = "absent" if files == 0 else "exact" if files == total else "partial"
    return Stats(mode, files, total, percent(files, total))


def _features(report: Report) -> TableFeatures:
    features = report.facts.features
    mapping = features.column_mapping_mode
    return TableFeatures(
        clustering_columns=None if features.clustering_columns is None else list(features.clustering_columns),
        column_mapping_mode=None if mapping == "none" else mapping,
        deletion_vectors=DeletionVectors(features.deletion_vectors_enabled, report.numbers.with_deletion_vectors),
        in_commit_timestamps=features.in_commit_timestamps,
        notes=list(features.notes),
        unrecognized_writer_features=list(features.unrecognized_writer_features),
    )
