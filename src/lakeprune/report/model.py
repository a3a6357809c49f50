"""The report: everything one explanation found, as values. Renderers read it and add nothing.

In: snapshot facts, clauses, attribution, assertions. Out: `Report`, with the contract's names for what the contract names.
Files are listed and pictures made lazily: a report of a million files holds numbers, not paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Final

from msgspec import Struct, field

from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.planning.session import Session
from lakeprune.predicate.tree import Clause, Constant, Opaque
from lakeprune.predicate.walk import columns_of, nodes
from lakeprune.report.amount import NOTHING, Amount
from lakeprune.report.attribution import Attribution, ClauseCredit
from lakeprune.report.buckets import EXACT_BUCKETS, Bucket
from lakeprune.report.document import Document, View
from lakeprune.report.gates import Assertion
from lakeprune.report.verdict import CONSTANT, Keeps
from lakeprune.skipping.ladder import Evidence, Rung
from lakeprune.skipping.verdict import Verdict
from lakeprune.storage.storage import Traffic

if TYPE_CHECKING:
    from lakeprune.report.explanation import Explanation
    from lakeprune.report.pictures.model import Picture

CONSTANT_PHASE: Final = "Constant condition"


class Confidence(Enum):
    EXACT = "exact"  # only partition evidence was needed, and it decided every file
    CONSERVATIVE = "conservative"  # statistics took part: a kept file may still hold no match
    INCOMPLETE = "incomplete"  # some clause mixes kinds of evidence or cannot be decided from metadata


class Phase(Struct, frozen=True):
    """One rung of the ladder of evidence, or the constants before it: what came in, what was left."""

    name: str
    label: str  # in a picture
    predicate: str
    confidence: Confidence
    before: Amount
    after: Amount


class ClauseReport(Struct, frozen=True):
    """A clause of the predicate and what it did."""

    clause: Clause
    bucket: Bucket
    credit: ClauseCredit

    @property
    def is_attributable(self) -> bool:
        """Whether one kind of evidence decides it."""
        return self.bucket is not Bucket.UNSPLITTABLE and not _is_opaque(self.clause)


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
    records: int | None = field(name="num_records")  # physical rows
    live_rows: int | None
    size: int = field(name="size_bytes")
    partition: dict[str, str | None] = field(name="partition_values")
    bounds: dict[str, Bounds]  # of the predicate's data columns
    verdict: Verdict
    credit: str | None  # a rung, CONSTANT or JOINT
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
        """The funnel: rung by rung, each only where the predicate has something for it."""
        return tuple(_phases(self)) if self.predicate is not None else ()

    @property
    def confidence(self) -> Confidence:
        if any(not clause.is_attributable for clause in self.clauses):
            return Confidence.INCOMPLETE
        only_partition = all(clause.bucket in EXACT_BUCKETS for clause in self.clauses)
        return Confidence.EXACT if only_partition and self.numbers.partition_is_exact else Confidence.CONSERVATIVE

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


def _phases(report: Report) -> Iterator[Phase]:
    numbers = report.numbers
    *rungs, last = report.facts.evidence.ladder
    constants = [c.clause.text for c in report.clauses if isinstance(c.clause.predicate, Constant)]
    rest = report.text_of(Bucket.STATS_SAFE, Bucket.UNSPLITTABLE)
    left = numbers.total
    if constants:
        after = left - numbers.credits[CONSTANT]
        yield Phase(CONSTANT_PHASE, "constants", joined(constants) or "", Confidence.EXACT, left, after)
        left = after
    for rung in rungs:
        own = [c.clause.text for c in report.clauses if _is_decided_by(c, rung, report.facts.evidence)]
        # A rung may also speak through a mixed clause, `p = 1 OR (p = 2 AND x > 5)`, when no clause is its own.
        if own or numbers.credits[rung.name] != NOTHING:
            is_exact = rung.is_exact and numbers.partition_is_exact
            after = left - numbers.credits[rung.name]
            exactness = Confidence.EXACT if is_exact else Confidence.CONSERVATIVE
            yield Phase(rung.phase, rung.label, joined(own) or rest or "", exactness, left, after)
            left = after
    if rest is not None or left != numbers.kept:
        incomplete = report.confidence is Confidence.INCOMPLETE
        confidence = Confidence.INCOMPLETE if incomplete else Confidence.CONSERVATIVE
        yield Phase(last.phase, last.label, rest or "(files without live rows)", confidence, left, numbers.kept)


def _is_decided_by(clause: ClauseReport, rung: Rung, evidence: Evidence) -> bool:
    columns = columns_of(clause.clause.predicate)
    is_own = clause.bucket in EXACT_BUCKETS if rung.is_exact else clause.bucket is Bucket.STATS_SAFE
    return is_own and bool(columns) and all(rung in evidence.rungs_of(column) for column in columns)
