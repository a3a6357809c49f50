"""The shape of the JSON document, as types: checkers hold `as_json` to it, and the JSON Schema in schemas/ is generated from it.

The names of the contract that pipelines know keep their meaning; the others are ours. Nothing imports this file at run time.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

ConfidenceName = Literal["exact", "conservative", "incomplete"]
BucketName = Literal["partition_safe", "partition_exact", "stats_safe", "unsplittable"]
VerdictName = Literal["DROP", "KEEP", "FULL"]
CreditName = Literal["partition", "statistics", "joint"]
KeepsName = Literal["MISSING_STATISTIC", "NAN_POSSIBLE", "NOT_DECIDABLE", "RANGES_OVERLAP", "ALL_ROWS_MATCH"]


class Note(TypedDict):
    """Something to know; `code` is stable."""

    code: str
    message: str


class Quantity(TypedDict):
    """Files, bytes and live rows. `rows` counts the files that tell; `files_without_rows` those that do not."""

    files: int
    bytes: int
    rows: int
    files_without_rows: int


class StatsCoverage(TypedDict):
    """How many of the files that partition pruning left carry the statistic that a column's clauses need."""

    column: str
    requirement: Literal["min_max", "null_count"]
    covered_files: int
    candidate_files: int
    coverage_pct: float


class Analysis(TypedDict):
    """The predicate split by where its conjuncts find their evidence."""

    partition_safe: str | None
    partition_exact: str | None
    stats_safe: str | None
    unsplittable: str | None
    confidence: ConfidenceName
    notes: list[Note]
    stats_coverage: list[StatsCoverage]


class Phase(TypedDict):
    """One rung of the evidence ladder."""

    name: Literal["Partition pruning", "Data skipping (min/max statistics)"]
    predicate: str
    input_files: int
    output_files: int
    pruned_files: int
    pruning_pct: float
    confidence: ConfidenceName
    input_bytes: int
    output_bytes: int
    input_rows: int
    output_rows: int


class Credits(TypedDict):
    """Dropped files by the least evidence that proves the drop; `no_live_rows` is the part that no clause drops."""

    partition: Quantity
    statistics: Quantity
    joint: Quantity
    no_live_rows: Quantity


class Clause(TypedDict):
    """What one conjunct did. `dropped_*` count all files, `kept_*` the files that partition pruning left.

    any: dropped by this clause by itself; first: credited to it; alone: kept if it were not there.
    """

    text: str
    rewritten: str | None
    bucket: BucketName
    dropped_alone: Quantity
    dropped_first: Quantity
    dropped_any: Quantity
    kept_overlap: Quantity
    kept_missing_statistic: Quantity
    kept_nan_possible: Quantity
    kept_not_decidable: Quantity
    kept_all_rows_match: Quantity
    reasons: list[Note]


class Diagnosis(TypedDict):
    """Why the predicate reads more than it might; `code` and the names in `numbers` are stable, `rewrite` can be pasted."""

    code: str
    severity: Literal["warning", "info"]
    clause: str | None
    column: str | None
    message: str
    numbers: dict[str, int | float | str]
    suggestion: str
    rewrite: str | None


class Bounds(TypedDict):
    """Proven bounds of a column in one file; null is unbounded. Dates, times and decimals are text."""

    min: bool | int | float | str | None
    max: bool | int | float | str | None


class File(TypedDict):
    """One file. `clause` is the one that drops it, or of a kept file the one that came closest; `reason` says why it was kept."""

    path: str
    kept: bool
    pruned_by: Literal["Partition pruning", "Data skipping (min/max statistics)"] | None
    has_stats: bool
    num_records: int | None
    live_rows: int | None
    size_bytes: int
    partition_values: dict[str, str | None]
    bounds: dict[str, Bounds]
    verdict: VerdictName
    credit: CreditName | None
    clause: str | None
    reason: KeepsName | None


class Stats(TypedDict):
    """How many files carry statistics at all."""

    mode: Literal["exact", "partial", "absent"]
    files_with_stats: int
    total_files: int
    pct: float


class Assertion(TypedDict):
    """One gate: threshold and actual for limits, a count for the others."""

    name: Literal["min_pruning", "min_bytes_pruning", "max_files", "max_bytes", "stats_complete", "full_attribution"]
    result: Literal["pass", "fail"]
    threshold: NotRequired[float]
    actual: NotRequired[float]
    missing_count: NotRequired[int]
    unattributed_clauses: NotRequired[int]
    note: NotRequired[str]


class DeletionVectors(TypedDict):
    enabled: bool
    files_with_deletion_vectors: int


class TableFeatures(TypedDict):
    """What the table declares about itself."""

    clustering_columns: list[str] | None
    column_mapping_mode: str | None
    deletion_vectors: DeletionVectors
    in_commit_timestamps: bool
    notes: list[str]
    unrecognized_writer_features: list[str]


class Session(TypedDict):
    """What the predicate was read in; null where it did not matter."""

    timezone: str | None
    now: str | None
    nan_policy: str


class Fetched(TypedDict):
    """What was asked of an object store: requests without their retries, and what the cache had already."""

    requests: int
    bytes: int
    cached_files: int
    cached_bytes: int


class Explanation(TypedDict):
    """What one predicate must read of one table, why, and whether the gates passed."""

    table: str
    format: str
    version: int
    predicate: str | None
    total_files: int
    final_files: int
    total_pruning_pct: float
    total_bytes: int
    final_bytes: int
    bytes_pruning_pct: float
    total_rows: int
    final_rows: int
    files_without_rows: int
    full_files: int
    full_rows: int
    analysis: Analysis | None
    phases: list[Phase]
    credits: Credits
    clauses: list[Clause]
    stats: Stats
    assertions: list[Assertion]
    result: Literal["pass", "fail"] | None
    session: Session
    notes: list[Note]
    table_features: TableFeatures
    catalog: dict[str, Any] | None
    elapsed_ms: int
    schema_version: str
    tool_version: str
    explain: NotRequired[list[Diagnosis]]
    fetched: NotRequired[Fetched]
    files: NotRequired[list[File]]
    files_truncated: NotRequired[bool]
