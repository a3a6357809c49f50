"""The shape of a statement's JSON document, as types; the JSON Schema in schemas/ is generated from it.

Nothing imports this file at run time.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from lakeprune.report.explanation import Quantity

ResultName = Literal["planned", "nothing_matches", "guarded", "committed", "differs", "conflict"]


class Scan(TypedDict):
    """What Delta itself reads to find the rows of a condition, by its own planning."""

    files: int
    bytes: int


class Assignment(TypedDict):
    column: str
    expression: str


class Clause(TypedDict):
    """A conjunct of the condition; `rewritten` is what metadata is asked, where that differs."""

    text: str
    rewritten: str | None


class Statement(TypedDict):
    """`executed` is the condition without comments and with its clock pinned."""

    operation: Literal["update", "delete", "merge"]
    condition: str
    executed: str
    assignments: list[Assignment]
    clauses: list[Clause]
    partition_only: bool
    timezone: str


class Skipping(TypedDict):
    total: Quantity
    full: Quantity
    undecided: Quantity


class Verification(TypedDict):
    """The one scan over the undecided files."""

    files_read: int
    columns: list[str]
    files_without_match: int


class TouchedFile(TypedDict):
    path: str
    bytes: int
    live_rows: int | None
    matching_rows: int | None
    fate: Literal["rewrite", "remove", "deletion_vector"]


class Effects(TypedDict):
    """What the statement does. Rows are null when the log does not say how many there are."""

    touched: Quantity
    rewritten: Quantity
    removed_whole: Quantity
    deletion_vectors: Quantity
    rows_updated: int | None
    rows_deleted: int | None
    rows_inserted: int | None
    rows_copied: int | None
    write_amplification: float | None


class Strengthening(TypedDict):
    wanted: bool
    condition: str | None
    added: list[str]
    delta_scan_as_written: Scan | None
    delta_scan_strengthened: Scan | None


class Guard(TypedDict):
    name: Literal["max_rewrite_bytes", "max_files", "max_rows", "partition_filter"]
    result: Literal["pass", "fail"]
    threshold: int | None
    actual: int | None
    message: str | None


class MergeKey(TypedDict):
    """An equality of ON that bounds the target, and what the source's values say about it; `condition` is null when nothing."""

    text: str
    column: str
    distinct: int
    listed: bool
    nulls: int
    condition: str | None


class Obstacle(TypedDict):
    """What keeps target files from being excluded; the numbers are target files that Delta scans without and with the fix."""

    kind: Literal["not_matched_by_source", "no_layout_key", "unusable_conjunct", "unusable_values", "null_keys", "repeated_keys"]
    message: str
    fix: str | None
    files_before: int | None
    files_after: int | None


class Merge(TypedDict):
    """What only a MERGE has. `added_columns` are those that the table gets when a row changes."""

    source: str
    source_rows: int
    clauses: list[str]
    added_columns: list[str]
    keys: list[MergeKey]
    obstacles: list[Obstacle]


class Plan(TypedDict):
    """`merge` is null for any other statement."""

    merge: Merge | None
    skipping: Skipping
    verification: Verification
    effects: Effects
    strengthening: Strengthening
    guards: list[Guard]
    files: list[TouchedFile]
    elapsed_ms: int


class Execution(TypedDict):
    status: Literal["nothing_matches", "guarded", "committed", "conflict"]
    version: int | None
    read_version: int | None
    attempts: int
    notes: list[str]
    conflict: str | None
    operation_metrics: dict[str, str]
    elapsed_ms: int


class Check(TypedDict):
    name: str
    expected: int
    found: int
    result: Literal["pass", "fail"]
    details: list[str]


class Reconciliation(TypedDict):
    result: Literal["pass", "fail"]
    checks: list[Check]


class StatementDocument(TypedDict):
    """The whole document."""

    schema_version: str
    lakeprune_version: str
    table: str
    version: int
    result: ResultName
    statement: Statement
    plan: Plan
    execution: Execution | None
    reconciliation: Reconciliation | None
