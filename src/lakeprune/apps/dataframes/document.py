"""The shape of a DataFrame's JSON document, as types: `as_json` is held to it, and the JSON Schema is generated from it.

Nothing imports this file at run time.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from lakeprune.report.explanation import Explanation


class Planned(TypedDict):
    """What Spark itself plans to read. null is what was not counted; `kind` is Delta's own word for how it decided.

    `unused_filters` are those that Delta does not use; `partition_filters` and `pushed_filters` are told for Parquet.
    """

    files: int | None
    bytes: int | None
    total_files: int | None
    total_bytes: int | None
    kind: str | None
    unused_filters: list[str]
    partition_filters: list[str]
    pushed_filters: str | None


class Gate(TypedDict):
    """One gate on one scan."""

    name: str
    result: Literal["pass", "fail"]
    threshold: NotRequired[float]
    actual: NotRequired[float]
    missing_count: NotRequired[int]
    unattributed_clauses: NotRequired[int]
    note: NotRequired[str]


class Scan(TypedDict):
    """One scan. `explanation` is the document of `explain` for its filters at its version; null for plain Parquet.

    `spark` is null when Delta's data skipping is off in the session.
    """

    format: Literal["delta", "parquet"]
    table: str | None
    locations: list[str]
    version: int | None
    cached: bool
    filters: list[str]
    spark: Planned | None
    explanation: Explanation | None
    assertions: list[Gate]


class NotExplained(TypedDict):
    """A source of rows that lakeprune does not explain."""

    source: str
    why: str


class DataFrameExplanation(TypedDict):
    """What one query reads, scan by scan. `not_read` are tables of which no file is needed."""

    query: str | None
    timezone: str
    scans: list[Scan]
    not_read: list[str]
    not_explained: list[NotExplained]
    result: Literal["pass", "fail"] | None
    elapsed_ms: int
    schema_version: str
    tool_version: str
