"""What `verify` found: a plan beside what its files hold, recorded statistics beside the values. Numbers, and faults by name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct, convert

from lakeprune.errors import UsageError
from lakeprune.programs.audit import Fault, FaultyFiles
from lakeprune.report.document import Document, Envelope, Outcome, View, outcome
from lakeprune.report.model import Report
from lakeprune.report.verdict import Keeps
from lakeprune.skipping.verdict import Verdict

if TYPE_CHECKING:
    from lakeprune.report.explanation import Explanation

NAMED = 100  # contradicting files or faults that are named; all are counted
UNKNOWN_WRITER = "unknown"


class Comparison(Document, frozen=True):
    """Metadata compared with rows. What contradicts is a value; every file was checked unless there is a sample."""

    @property
    def passed(self) -> bool:
        """Whether nothing that was asked for found anything wrong."""
        raise NotImplementedError

    @property
    def result(self) -> Outcome:
        return outcome(self.passed)

    def to_struct(self, _: View) -> Envelope:
        from lakeprune.apps.verify import document

        shape: type[Envelope] = getattr(document, type(self).__name__)
        return convert(self, shape, from_attributes=True)


class Sampled(Struct, frozen=True):
    """Of `files` that were not all checked, `checked` were."""

    share: float
    files: int
    checked: int

    @property
    def is_complete(self) -> bool:
        return self.checked == self.files

    def miss_probability(self, wrong: int) -> float:
        """How likely a sample of this size meets none of so many wrong files: without replacement, whichever they are.

        >>> Sampled(0.5, files=4, checked=2).miss_probability(1)
        0.5
        >>> Sampled(0.5, files=4, checked=2).miss_probability(3)
        0.0
        """
        if wrong > self.unchecked:
            return 0.0
        parts = ((self.unchecked, 1), (self.unchecked - wrong, -1), (self.files, -1), (self.files - wrong, 1))
        return round(math.exp(sum(sign * math.lgamma(number + 1) for number, sign in parts)), 12)

    @property
    def one_percent(self) -> int:
        """How many files one percent of them is, at least one."""
        return max(1, math.ceil(self.files / 100))

    @property
    def unchecked(self) -> int:
        return self.files - self.checked

    @property
    def misses_one(self) -> float:
        return self.miss_probability(1)

    @property
    def misses_one_percent(self) -> float:
        return self.miss_probability(self.one_percent)

    @property
    def worth(self) -> str:
        """What a sample without a fault does and does not prove, in sentences."""
        if self.is_complete:
            return "Every one of them was checked."
        worth = f"Nothing is proven about the other {self.unchecked}."
        if not self.checked:
            return worth
        worth += f" Had one file been wrong, the sample would have missed it with probability {_chance(self.misses_one)}"
        if self.one_percent > 1:
            many = f"had 1% of them ({self.one_percent} files) been"
            worth += f"; {many}, it would have missed them all with {_chance(self.misses_one_percent)}"
        return worth + "."


class StatisticsFault(Struct, frozen=True):
    """One recorded statistic of one file that its rows contradict."""

    path: str
    column: str | None  # None: the number of rows
    fault: Fault
    recorded: Any
    found: Any
    writer: str

    @property
    def message(self) -> str:
        return {
            Fault.ROWS: f"the log says {self.recorded} live rows, the file has {self.found}",
            Fault.MINIMUM: f"the log says no value is below {self.recorded}, the file holds {self.found}",
            Fault.MAXIMUM: f"the log says no value is above {self.recorded}, the file holds {self.found}",
            Fault.NULLS: f"the log counts {self.recorded} NULLs, the file has {self.found}",
            Fault.NAN: f"the log says there is no NaN, the file has {self.found}",
        }[self.fault]


class Audit(Comparison, frozen=True):
    kind: ClassVar[str] = "audit"

    table: str
    version: int
    files: int  # of the table
    columns: tuple[str, ...]  # with statistics, so these were compared
    sampled: Sampled | None
    checked_files: int
    wrong_files: int
    counts: tuple[FaultyFiles, ...]
    faults: tuple[StatisticsFault, ...]
    elapsed_ms: int

    @property
    def passed(self) -> bool:
        """Whether no file that was checked has a wrong statistic."""
        return self.wrong_files == 0

    @property
    def fault_count(self) -> int:
        return sum(count.files for count in self.counts)

    def __repr__(self) -> str:
        outcome = "right" if self.passed else f"{self.wrong_files} files wrong"
        return f"<Audit of {self.table!r} version {self.version}: {self.checked_files} files checked, {outcome}>"


class Violation(Struct, frozen=True):
    """A file whose rows contradict its verdict."""

    path: str
    verdict: Verdict
    live: int
    matching: int

    @property
    def message(self) -> str:
        if self.verdict is Verdict.DROP:
            return f"dropped, yet {self.matching} of its {self.live} rows match"
        return f"reported as fully matched, yet {self.live - self.matching} of its {self.live} rows do not"


class Slack(Struct, frozen=True):
    """Kept files without a match: the clause that came closest to dropping them, and what stood in the way."""

    clause: str | None
    reason: Keeps
    files: int
    bytes: int


class Truth(Struct, frozen=True):
    """What the checked files hold; after a sample these are not all files of the table."""

    checked_files: int
    live_rows: int
    matching_rows: int
    files_with_match: int
    bytes_with_match: int
    files_with_wrong_row_count: int


class DeltaSpark(Struct, frozen=True):
    """What Delta Spark itself plans to read for the same query; bytes are null where the session gives no JVM handle."""

    files: int
    bytes: int | None


class SparkPlan(Struct, frozen=True):
    """What a connector of Spark itself plans to read for the same query; bytes are null where the session does not show them."""

    name: str
    files: int
    bytes: int | None


class FalseAssumption(Struct, frozen=True):
    """A file that `lakeprune explain` drops on an assumption which its rows disprove. Nothing that acts on rows makes it."""

    path: str
    column: str
    matching: int

    @property
    def code(self) -> str:
        return "NAN_ABSENT"

    @property
    def message(self) -> str:
        return f"NaN is hidden in {self.column}: explain drops the file by default, yet {self.matching} of its rows match"


class Verification(Comparison, frozen=True):
    kind: ClassVar[str] = "verify"
    schema_version: ClassVar[str] = "1.3.0"

    report: Report
    truth: Truth
    sampled: Sampled | None  # of the dropped files; None: all were checked
    slack: tuple[Slack, ...]
    violations: tuple[Violation, ...]
    violation_count: int
    spark: SparkPlan | None
    elapsed_ms: int
    audit: Audit | None = None
    false_assumptions: tuple[FalseAssumption, ...] = ()

    @property
    def delta_spark(self) -> DeltaSpark | None:
        """What Delta Spark plans to read, of a Delta table."""
        spark = self.spark
        return DeltaSpark(spark.files, spark.bytes) if spark is not None and spark.name == "Delta Spark" else None

    @property
    def is_sound(self) -> bool:
        """Whether no checked file contradicts its verdict."""
        return self.violation_count == 0

    @property
    def passed(self) -> bool:
        """Whether nothing that was asked for found anything wrong."""
        return self.is_sound and (self.audit is None or self.audit.passed)

    @property
    def plan(self) -> Explanation:
        """The document of the plan that was verified."""
        from lakeprune.report.explanation import explanation

        return explanation(self.report)

    @property
    def is_complete(self) -> bool:
        """Whether every file was checked."""
        return self.sampled is None or self.sampled.is_complete

    @property
    def kept_without_match(self) -> int:
        return sum(slack.files for slack in self.slack)

    @property
    def efficiency(self) -> float | None:
        """Of the files that hold no match, the share that metadata excludes, 1 when there are none; None after a sample."""
        if not self.is_complete:
            return None
        without = self.report.numbers.total.files - self.truth.files_with_match
        return (self.report.numbers.total.files - self.report.numbers.kept.files) / without if without else 1.0

    @property
    def read_amplification(self) -> float | None:
        """Bytes to read per byte in files with a match; None when nothing matches, and after a sample."""
        with_match = self.truth.bytes_with_match
        return self.report.numbers.kept.bytes / with_match if with_match and self.is_complete else None

    def __repr__(self) -> str:
        return f"<Verification of {self.report!r}: {'sound' if self.is_sound else f'{self.violation_count} violations'}>"


def share_of(sample: object) -> float | None:
    """The share that was asked for, None for all files."""
    if sample is None:
        return None
    if isinstance(sample, bool) or not isinstance(sample, int | float) or not 0 < sample <= 1:
        fix = "give a number above 0, up to 1"
        raise UsageError("LP247", f"{sample!r} is not a share of the files", where="--sample", fix=fix)
    return float(sample)


def _chance(probability: float) -> str:
    """
    >>> _chance(0.25), _chance(0.0000001)
    ('25.0%', 'less than 0.1%')
    """
    return "less than 0.1%" if probability < 0.001 else f"{probability:.1%}"
