"""The JSON documents of `verify`: of a verification, and of an audit alone.

A field has the name of the model's attribute it is filled from; where the contract has another name, `field` gives it.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from lakeprune.apps.verify.model import DeltaSpark, Slack, SparkPlan, Truth
from lakeprune.programs.audit import Fault, FaultyFiles
from lakeprune.report.document import Envelope, Outcome
from lakeprune.report.explanation import Explanation

Shown = bool | int | float | str | None


class Violation(Struct, frozen=True):
    """A file whose rows contradict its verdict."""

    path: str
    verdict: Literal["DROP", "FULL"]
    live: int = field(name="live_rows")
    matching: int = field(name="matching_rows")
    message: str


class FalseAssumption(Struct, frozen=True):
    """A file that explain drops by default on an assumption which its rows disprove; named up to a limit."""

    code: Literal["NAN_ABSENT"]
    path: str
    column: str
    matching: int = field(name="matching_rows")
    message: str


class Sample(Struct, frozen=True):
    """The files that were not all checked, and how likely one wrong file, or 1% wrong files, would have been missed."""

    share: float
    files: int
    checked: int = field(name="checked_files")
    unchecked: int = field(name="unchecked_files")
    misses_one: float = field(name="probability_of_missing_one")
    one_percent: int = field(name="one_percent_files")
    misses_one_percent: float = field(name="probability_of_missing_one_percent")
    worth: str = field(name="proves")


class StatisticsFault(Struct, frozen=True):
    """One promise of one file's statistics that its rows do not keep."""

    path: str
    column: str | None
    fault: Fault
    recorded: Shown
    found: Shown
    writer: str
    message: str


class Audit(Envelope, frozen=True):
    """Recorded statistics compared with the values; faults are named up to a limit and all counted."""

    table: str
    version: int
    result: Outcome
    files: int = field(name="total_files")
    checked_files: int
    columns: list[str]
    sampled: Sample | None = field(name="sample")
    wrong_files: int
    fault_count: int
    counts: list[FaultyFiles]
    faults: list[StatisticsFault]


class Verification(Envelope, frozen=True):
    """A plan compared with the rows. `efficiency` and `read_amplification` are null where a sample leaves them unknown.

    `spark` is what the connector of the table's format plans to read, `delta_spark` the same for Delta tables alone.
    """

    result: Outcome
    is_complete: bool
    violation_count: int
    violations: list[Violation]
    false_assumptions: list[FalseAssumption]
    truth: Truth
    sampled: Sample | None = field(name="sample")
    kept_without_match: int
    efficiency: float | None
    read_amplification: float | None
    delta_spark: DeltaSpark | None
    spark: SparkPlan | None
    slack: list[Slack]
    audit: Audit | None
    plan: Explanation
