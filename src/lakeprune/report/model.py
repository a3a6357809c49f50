"""The report: everything one explanation found, as values. Renderers read it and add nothing.

In: snapshot facts, clauses, attribution, assertions. Out: `Report`, with the contract's names for what the contract names.
Files are listed and pictures made lazily: a report of a million files holds numbers, not paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from msgspec import Meta, Struct, field

from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.planning.session import Session
from lakeprune.predicate.tree import Bucket, Clause, Opaque
from lakeprune.predicate.walk import nodes
from lakeprune.report.amount import NOTHING, Amount
from lakeprune.report.attribution import PARTITION_BUCKETS, Attribution, ClauseCredit
from lakeprune.report.document import Document, View
from lakeprune.report.gates import Assertion
from lakeprune.report.verdict import Credit, Keeps
from lakeprune.skipping.verdict import Verdict
from lakeprune.storage.storage import Traffic

if TYPE_CHECKING:
    from lakeprune.report.explanation import Explanation
    from lakeprune.report.pictures.model import Picture

PARTITION_PHASE: Final = "Partition pruning"
SKIPPING_PHASE: Final = "Data skipping (min/max statistics)"
PhaseName = Annotated[str, Meta(extra_json_schema={"enum": sorted([PARTITION_PHASE, SKIPPING_PHASE])})]


class Confidence(Enum):
    EXACT = "exact"  # only partition evidence was needed, and it decided every file
    CONSERVATIVE = "conservative"  # statistics took part: a kept file may still hold no match
    INCOMPLETE = "incomplete"  # some clause mixes kinds of evidence or cannot be decided from metadata


class Phase(Struct, frozen=True):
    """One rung of the evidence ladder: what came in, what was left."""

    name: PhaseName
    predicate: str
    confidence: Confidence
    before: Amount
    after: Amount


class ClauseReport(Struct, frozen=True):
    """A clause of the predicate and what it did."""

    clause: Clause
    credit: ClauseCredit

    @property
    def is_attributable(self) -> bool:
        """Whether one kind of evidence decides it."""
        return self.clause.bucket is not Bucket.UNSPLITTABLE and not _is_opaque(self.clause)


class Bounds(Struct, frozen=True):
    """Proven bounds of a column in one file; null is unbounded. Dates, times and decimals are text."""

    min: bool | int | float | str | None
    max: bool | int | float | str | None


class FileReport(Struct, frozen=True):
    """One file. `clause` is the one that drops it, or of a kept file the one that came closest; `reason` says why it was kept."""

    path: str
    kept: bool
    pruned_by: PhaseName | None
    has_stats: bool
    records: int | None = field(name="num_records")  # physical rows
    live_rows: int | None
    size: int = field(name="size_bytes")
    partition: dict[str, str | None] = field(name="partition_values")
    bounds: dict[str, Bounds]  # of the predicate's data columns
    verdict: Verdict
    credit: Credit | None
    clause: str | None
    keeps: Keeps | None = field(name="reason")


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


class Report(Document, frozen=True):
    """What one predicate must read of one table, why, and whether that is good enough."""

    kind: ClassVar[str] = "explain"

    table: str
    predicate: str | None
    facts: SnapshotFacts
    session: Session
    numbers: Attribution
    clauses: tuple[ClauseReport, ...]
    assertions: tuple[Assertion, ...]
    elapsed_ms: int
    listing: Callable[[int | None], Iterator[FileReport]]
    picture: Callable[[], Picture]
    diagnoses: tuple[Diagnosis, ...] | None = None  # None: nobody asked why
    traffic: Traffic | None = None  # None: the table lies on this machine

    def __repr__(self) -> str:
        total, kept = self.numbers.total.files, self.numbers.kept.files
        return f"<Report on {self.table!r} version {self.facts.version}, {self.predicate!r}: {total} -> {kept} files>"

    @property
    def passed(self) -> bool:
        """Whether every gate that was asked for passed."""
        return all(assertion.passed for assertion in self.assertions)

    @property
    def files(self) -> list[FileReport]:
        """Every file with its verdict, ordered by path. Reads the metadata again; a big table has a long list."""
        return list(self.listing(None))

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The funnel: partition pruning, then data skipping, each only where the predicate has something for it."""
        return tuple(_phases(self)) if self.predicate is not None else ()

    @property
    def confidence(self) -> Confidence:
        if any(not clause.is_attributable for clause in self.clauses):
            return Confidence.INCOMPLETE
        only_partition = all(clause.clause.bucket in PARTITION_BUCKETS for clause in self.clauses)
        return Confidence.EXACT if only_partition and self.numbers.partition_is_exact else Confidence.CONSERVATIVE

    def text_of(self, *buckets: Bucket) -> str | None:
        """The clauses of these buckets as one condition, None without any."""
        return joined([c.clause.text for c in self.clauses if c.clause.bucket in buckets])

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


def _phases(report: Report) -> Iterator[Phase]:
    numbers = report.numbers
    partition = report.text_of(*PARTITION_BUCKETS)
    rest = report.text_of(Bucket.STATS_SAFE, Bucket.UNSPLITTABLE)
    by_partition = numbers.credits[Credit.PARTITION]
    # Partition values may also speak through a mixed clause, `p = 1 OR (p = 2 AND x > 5)`, when no clause is theirs alone.
    if partition is not None or by_partition != NOTHING:
        exactness = Confidence.EXACT if numbers.partition_is_exact else Confidence.CONSERVATIVE
        yield Phase(PARTITION_PHASE, partition or rest or "", exactness, numbers.total, numbers.candidates)
    if rest is not None or numbers.candidates != numbers.kept:
        incomplete = report.confidence is Confidence.INCOMPLETE
        confidence = Confidence.INCOMPLETE if incomplete else Confidence.CONSERVATIVE
        yield Phase(SKIPPING_PHASE, rest or "(files without live rows)", confidence, numbers.candidates, numbers.kept)
