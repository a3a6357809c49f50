"""The report: everything one explanation found, as values. Renderers read it and add nothing.

In: snapshot facts, clauses, attribution, assertions. Out: `Report`, with the contract's names for what the contract names.
Files are listed and pictures made lazily: a report of a million files holds numbers, not paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol, Self

from msgspec import UNSET, Struct, UnsetType

from lakeprune.errors import GateFailed, UsageError
from lakeprune.formats.reads import Reads
from lakeprune.predicate.tree import Clause, Expr, Opaque
from lakeprune.predicate.walk import nodes
from lakeprune.report.amount import Amount, counted, files_text
from lakeprune.report.attribution import ClauseCredit
from lakeprune.report.buckets import EXACT_BUCKETS, Bucket
from lakeprune.report.document import SORTS, WHICH, WHOLE, View
from lakeprune.report.figures import Figures
from lakeprune.report.gates import Assertion
from lakeprune.report.row_groups import RowGroupFile, RowGroups
from lakeprune.report.verdict import Keeps
from lakeprune.skipping.ladder import Level
from lakeprune.skipping.verdict import Verdict
from lakeprune.storage.storage import Traffic

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeprune.report.engines import EngineRead
    from lakeprune.report.explanation import Explanation
    from lakeprune.report.pictures.model import Picture
    from lakeprune.report.summary import Summary

CONSTANT_PHASE: Final = "Constant condition"


class Confidence(Enum):
    EXACT = "exact"  # only partition evidence was needed, and it decided every file
    CONSERVATIVE = "conservative"  # statistics took part: a kept file may still hold no match
    INCOMPLETE = "incomplete"  # some clause mixes kinds of evidence or cannot be decided from metadata


class PhaseReads(Struct, frozen=True):
    """Metadata that was read for a phase, for all predicates of one call together."""

    requests: int  # files of metadata
    bytes: int
    ms: int


class Phase(Struct, frozen=True):
    """One rung of the evidence ladder."""

    name: str  # as the format calls it: "Partition pruning"; "Constant condition" comes before every rung
    predicate: str
    input_files: int
    output_files: int
    pruned_files: int
    pruning_pct: float
    confidence: Confidence
    input_bytes: int  # of the files whose size is known
    output_bytes: int
    input_files_without_bytes: int
    output_files_without_bytes: int
    input_rows: int
    output_rows: int
    level: Level  # of what it drops
    input_containers: int  # of that level
    output_containers: int
    io: PhaseReads | None  # what was read for this phase alone; null where that is not counted, or an earlier phase has it

    @property
    def before(self) -> Amount:
        return Amount(self.input_files, self.input_bytes, self.input_rows, 0, self.input_files_without_bytes)

    @property
    def after(self) -> Amount:
        return Amount(self.output_files, self.output_bytes, self.output_rows, 0, self.output_files_without_bytes)


class ClauseReport(Struct, frozen=True):
    """A clause of the predicate and what it did."""

    clause: Clause
    bucket: Bucket
    credit: ClauseCredit

    @property
    def is_attributable(self) -> bool:
        """Whether one kind of evidence decides it."""
        return self.bucket not in (Bucket.UNSPLITTABLE, Bucket.NOT_EVALUATED) and not _is_opaque(self.clause)


class Bounds(Struct, frozen=True):
    """Proven bounds of a column in one file; null is unbounded. Dates, times and decimals are text."""

    min: bool | int | float | str | None
    max: bool | int | float | str | None


class FileReport(Struct, frozen=True):
    """One file. `clause` is the one that drops it, or of a kept file the one that came closest; `reason` says why it was kept."""

    path: str
    kept: bool
    pruned_by: str | None  # the name of a phase
    has_stats: bool
    num_records: int | None  # physical rows
    live_rows: int | None
    size_bytes: int
    partition_values: dict[str, str | None]
    bounds: dict[str, Bounds]  # of the predicate's data columns
    verdict: Verdict
    credit: str | None  # a rung, CONSTANT or JOINT
    clause: str | None
    reason: Keeps | None
    assumes: list[str]  # columns in which no NaN is assumed to be hidden: only then is it dropped
    row_groups: list[RowGroupFile] | UnsetType = UNSET  # of a file whose footer was read


class Assumption(Struct, frozen=True):
    """What metadata cannot prove and the counts take for granted; `files` are dropped only because of it."""

    code: Literal["NAN_ABSENT"]
    column: str
    files: int
    bytes: int
    message: str


class Severity(Enum):
    WARNING = "warning"  # costs files, and something can be done
    INFO = "info"  # worth knowing


class Diagnosis(Struct, frozen=True):
    """Why the predicate reads more than it might; `code` and the names in `numbers` are stable, `rewrite` can be pasted."""

    code: str  # stable; docs/diagnoses/ has a page for each
    severity: Severity
    clause: str | None  # the clause as in the clause table, None when it is about the whole predicate
    column: str | None
    message: str  # one sentence with numbers
    numbers: dict[str, int | float | str]  # the numbers of the message, by stable names
    suggestion: str  # what to do
    rewrite: str | None = None  # what can be pasted: a condition, or a statement


class Source(Protocol):
    """Where a report finds what it does not hold: the metadata, read again."""

    def files(self, view: View) -> Iterator[FileReport]:
        """The files that the view lists."""

    def picture(self) -> Picture:
        """What the page draws."""


class Report(Figures, frozen=True):
    """What one predicate must read of one table, why, and whether that is good enough."""

    kind: ClassVar[str] = "explain"
    schema_version: ClassVar[str] = "1.2.0"

    clauses: tuple[ClauseReport, ...]
    condition: Expr  # the predicate bound to the table; TRUE without one
    elapsed_ms: int
    planning_ms: int  # the part of it until the containers were counted
    source: Source
    engines: tuple[EngineRead, ...] = ()  # of a predicate on a format whose own engine has a model
    assertions: tuple[Assertion, ...] = ()
    remarks: tuple[str, ...] = ()  # what to know of the gates' outcome
    diagnoses: tuple[Diagnosis, ...] | None = None  # None: nobody asked why
    traffic: Traffic | None = None  # None: the table lies on this machine
    row_groups: RowGroups | None = None  # None: nobody asked for them
    manifest_clauses: tuple[str, ...] = ()  # the clauses that partition summaries say something about
    reads: Mapping[Level, Reads] = MappingProxyType({})  # of metadata about each level, where that is counted

    def __repr__(self) -> str:
        asked = "" if self.predicate is None else f", {self.predicate!r}"
        version = "" if self.version is None else f" version {self.version}"
        return f"<Report on {self.table!r}{version}{asked}: reads {self.kept_files:,} of {files_text(self.total_files)}>"

    def __bool__(self) -> bool:
        """Whether the gates passed; TypeError when there is none, for then True and False would both be wrong."""
        if not self.assertions:
            raise TypeError("a report without gates is neither true nor false: give a gate (min_pruning=90), or use its numbers")
        return self.passed

    def __reduce__(self) -> tuple[Any, ...]:
        from lakeprune.report.pickling import pickled

        return pickled(self)

    def check(self) -> Self:
        """The report itself when every gate passed; `GateFailed` with what failed otherwise."""
        if failed := [assertion.message for assertion in self.assertions if not assertion.passed]:
            why = "; ".join(failed)
            raise GateFailed("LP501", f"{counted(len(failed), 'gate')} failed: {why}", where=self.table)
        return self

    @property
    def passed(self) -> bool:
        """Whether every gate that was asked for passed."""
        return all(assertion.passed for assertion in self.assertions)

    @property
    def files(self) -> list[FileReport]:
        """Every file with its verdict, ordered by path. Reads the metadata again; a big table has a long list."""
        return list(self.listing())

    @property
    def kept(self) -> list[FileReport]:
        """The files that must be read, each with the reason."""
        return list(self.listing(which="kept"))

    @property
    def dropped(self) -> list[FileReport]:
        """The files that need not be read, each with the evidence that proves it."""
        return list(self.listing(which="dropped"))

    def listing(
        self, limit: int | None = None, *, which: str = "all", sort: str = "path", file: str | None = None
    ) -> Iterator[FileReport]:
        """Files one by one; `which` is all, kept or dropped, `sort` path or size, `file` a path or the end of one."""
        return self.listed(View(limit=limit, which=which, sort=sort, file=file))

    def listed(self, view: View) -> Iterator[FileReport]:
        for name, given, known in (("which", view.which, WHICH), ("sort", view.sort, SORTS)):
            if given not in known:
                raise UsageError("LP218", f"`{name}` is {given!r}", fix=f"give one of {', '.join(known)}")
        if view.limit is not None and view.limit < 0:
            raise UsageError("LP218", f"the limit is {view.limit}", fix="give 0 or more, or None for every file")
        return self.source.files(view)

    def unlisted(self, view: View) -> int:
        """How many of the files that a view is about its limit leaves out."""
        if view.limit is None or view.file is not None:
            return 0
        whole = {"all": self.total_files, "kept": self.kept_files, "dropped": self.dropped_files}[view.which]
        return max(0, whole - view.limit)

    def picture(self) -> Picture:
        """What the page draws. Reads the metadata again."""
        return self.source.picture()

    def to_arrow(self, **wanted: Any) -> pa.Table:
        """Every file as a row of a PyArrow table, for pandas (`.to_pandas()`) and Polars (`polars.from_arrow`).

        Takes the arguments of `listing`. The columns are the fields of `files[]` in the JSON document.
        """
        from lakeprune.report.arrow import table_of

        return table_of(self.listing(**wanted))

    @property
    def assumptions(self) -> list[Assumption]:
        """What dropped files rest on beside proofs; `nan_policy="strict"` keeps those files."""
        return [
            Assumption("NAN_ABSENT", column, amount.files, amount.bytes, f"no NaN hidden in {column}")
            for column, amount in self.numbers.assumptions.items()
        ]

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The funnel: rung by rung, each only where the predicate has something for it."""
        from lakeprune.report.phases import phases_of

        return tuple(phases_of(self)) if self.predicate is not None else ()

    @property
    def summary(self) -> Summary:
        """What is there and what has to be read, at every level of the table."""
        from lakeprune.report.summary import summary_of

        return summary_of(self)

    @property
    def confidence(self) -> Confidence:
        if any(not clause.is_attributable for clause in self.clauses):
            return Confidence.INCOMPLETE
        only_partition = all(clause.bucket in EXACT_BUCKETS for clause in self.clauses)
        return Confidence.EXACT if only_partition and self.numbers.partition_is_exact else Confidence.CONSERVATIVE

    def to_openmetrics(self) -> str:
        """The pruning summary for monitoring; `lakeprune.openmetrics(reports)` takes several reports."""
        return self._rendered("openmetrics", WHOLE)

    def to_scan_report(self) -> str:
        """What Iceberg's own planner would report of this scan, as its REST catalogs take it."""
        return self._rendered("scan-report", WHOLE)

    def text_of(self, *buckets: Bucket) -> str | None:
        """The clauses of these buckets as one condition, None without any."""
        return joined([c.clause.text for c in self.clauses if c.bucket in buckets])

    def to_struct(self, view: View) -> Explanation:
        from lakeprune.report.explanation import explanation

        return explanation(self, view)


def joined(texts: Sequence[str]) -> str | None:
    """Clauses as one condition.

    >>> joined(["a = 1 OR b = 2", "c = 3"])
    '(a = 1 OR b = 2) AND c = 3'
    """
    if len(texts) < 2:
        return texts[0] if texts else None
    return " AND ".join(f"({text})" if _has_bare_or(text) else text for text in texts)


def _has_bare_or(text: str) -> bool:
    """Whether an OR stands outside parentheses and quotes."""
    depth, quote = 0, ""
    for index, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and text[index - 1] != "\\" else quote
        elif letter in "'`\"":
            quote = letter
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif depth == 0 and text.startswith(" OR ", index):
            return True
    return False


def _is_opaque(clause: Clause) -> bool:
    return any(isinstance(node, Opaque) for node in nodes(clause.predicate))
