"""The shape of the JSON documents of `verify`, as types: the JSON Schemas in schemas/ are generated from it.

Nothing imports this file at run time.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from lakeprune.report.explanation import Explanation, KeepsName

FaultName = Literal["num_records", "min", "max", "null_count", "nan"]
Shown = bool | int | float | str | None


class Violation(TypedDict):
    """A file whose rows contradict its verdict."""

    path: str
    verdict: Literal["DROP", "FULL"]
    live_rows: int
    matching_rows: int
    message: str


class Truth(TypedDict):
    """What the files that were looked into hold; after a sample these are not all files of the table."""

    checked_files: int
    live_rows: int
    matching_rows: int
    files_with_match: int
    bytes_with_match: int
    files_with_wrong_row_count: int


class Sample(TypedDict):
    """The files that were not all looked into, and how likely one wrong file, or 1% wrong files, would have been missed."""

    share: float
    files: int
    checked_files: int
    unchecked_files: int
    probability_of_missing_one: float
    one_percent_files: int
    probability_of_missing_one_percent: float
    proves: str


class Slack(TypedDict):
    """Kept files without a match: the clause that came closest to dropping them, and what stood in the way."""

    clause: str | None
    reason: KeepsName
    files: int
    bytes: int


class DeltaSpark(TypedDict):
    """What Delta Spark itself plans to read for the same query; bytes are null where the session gives no JVM handle."""

    files: int
    bytes: int | None


class FaultCount(TypedDict):
    """How many files have one kind of fault in one column; no column for the number of rows."""

    column: str | None
    fault: FaultName
    files: int


class StatisticsFault(TypedDict):
    """One promise of one file's statistics that its rows do not keep."""

    path: str
    column: str | None
    fault: FaultName
    recorded: Shown
    found: Shown
    writer: str
    message: str


class Audit(TypedDict):
    """Recorded statistics compared with the values; faults are named up to a limit and all counted."""

    table: str
    version: int
    result: Literal["pass", "fail"]
    total_files: int
    checked_files: int
    columns: list[str]
    sample: Sample | None
    wrong_files: int
    fault_count: int
    counts: list[FaultCount]
    faults: list[StatisticsFault]
    elapsed_ms: int
    schema_version: str
    tool_version: str


class Verification(TypedDict):
    """A plan confronted with the rows. `efficiency` and `read_amplification` are null where a sample leaves them unknown."""

    result: Literal["pass", "fail"]
    is_complete: bool
    violation_count: int
    violations: list[Violation]
    truth: Truth
    sample: Sample | None
    kept_without_match: int
    efficiency: float | None
    read_amplification: float | None
    delta_spark: DeltaSpark
    slack: list[Slack]
    audit: Audit | None
    plan: Explanation
    elapsed_ms: int
    schema_version: str
    tool_version: str
