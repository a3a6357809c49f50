"""The shape of a DataFrame's JSON document, as types: `as_json` is held to it, and the JSON Schema is generated from it.

Nothing imports this file at run time.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from lakeprune.report.document import Explanation


class DeltaSpark(TypedDict):
    """What Delta Spark itself plans to read; null is what it did not count, `kind` its own word for how it decided."""

    files: int
    bytes: int
    total_files: int | None
    total_bytes: int | None
    kind: str
    unused_filters: list[str]


class DeltaScan(TypedDict):
    """A scan of a Delta table; `explanation` is the document of `explain` for its filters at its version."""

    format: Literal["delta"]
    table: str | None
    location: str
    version: int
    cached: bool
    filters: list[str]
    delta_spark: DeltaSpark | None
    explanation: Explanation


class Gate(TypedDict):
    """One gate on a scan of plain Parquet."""

    name: str
    result: Literal["pass", "fail"]
    threshold: NotRequired[float]
    actual: NotRequired[float]
    missing_count: NotRequired[int]
    unattributed_clauses: NotRequired[int]
    note: NotRequired[str]


class ParquetScan(TypedDict):
    """A scan of plain Parquet: Spark's own numbers, null where they were not asked for."""

    format: Literal["parquet"]
    table: str | None
    locations: list[str]
    cached: bool
    filters: list[str]
    partition_filters: list[str]
    pushed_filters: str | None
    files: int | None
    bytes: int | None
    total_files: int | None
    total_bytes: int | None
    assertions: list[Gate]


class NotExplained(TypedDict):
    """A source of rows that lakeprune does not explain."""

    source: str
    why: str


class DataFrameExplanation(TypedDict):
    """What one query reads, scan by scan. `not_read` are tables of which no file is needed."""

    query: str | None
    timezone: str
    scans: list[DeltaScan | ParquetScan]
    not_read: list[str]
    not_explained: list[NotExplained]
    result: Literal["pass", "fail"] | None
    elapsed_ms: int
    schema_version: str
    tool_version: str
