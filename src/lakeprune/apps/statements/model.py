"""The vocabulary of statements: candidates, what becomes of each file, what it costs, how a run ended. Values only."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from lakeprune.report.amount import Amount


class Operation(Enum):
    UPDATE = "update"
    DELETE = "delete"
    MERGE = "merge"


class Certainty(Enum):
    """What metadata knows about a candidate."""

    FULL = "full"  # every row matches, and how many there are is known where that is needed
    UNDECIDED = "undecided"  # it has to be read


class Fate(Enum):
    """What the statement does to a file."""

    REWRITE = "rewrite"  # removed, its remaining and changed rows written again
    REMOVE = "remove"  # removed, nothing of it is written again
    VECTOR = "deletion_vector"  # stays, with a deletion vector over the rows that change


class Status(Enum):
    """How an execution ended."""

    NOTHING_MATCHES = "nothing_matches"  # no commit
    GUARDED = "guarded"  # a guard refused it before anything was written
    COMMITTED = "committed"
    CONFLICT = "conflict"  # somebody else's commit came first; nothing of ours is in the table


class Candidate(Struct, frozen=True):
    """A file that metadata keeps. `path` is as the log has it, `key` as paths are compared."""

    path: str
    key: str
    size: int
    live: int | None  # rows, None when the log does not say
    certainty: Certainty


class Touched(Struct, frozen=True):
    """A file with matching rows. Unknown numbers of rows are None: then every row matches."""

    path: str
    key: str
    size: int
    live: int | None
    matching: int | None
    fate: Fate


class Effects(Struct, frozen=True):
    """What a statement does. Rows are None when the log does not say how many there are."""

    touched: Amount  # every file that is rewritten, removed or gets a deletion vector
    rewritten: Amount
    removed: Amount
    vectors: Amount
    updated: int | None = 0
    deleted: int | None = 0
    copied: int | None = 0  # read and written again unchanged
    inserted: int | None = 0

    @property
    def changed(self) -> int | None:
        return total([self.updated, self.deleted, self.inserted])

    @property
    def matched(self) -> int | None:
        """Rows of the table that change."""
        return total([self.updated, self.deleted])

    @property
    def written(self) -> int | None:
        """Rows that are written to new files."""
        return total([self.updated, self.copied, self.inserted])

    @property
    def write_amplification(self) -> float | None:
        """Rows written per row changed."""
        return None if not self.changed or self.written is None else self.written / self.changed


class Outcome(Struct, frozen=True):
    """Steps 3 to 5: the affected files and what becomes of their rows; `is_empty` says that there is nothing to commit."""

    touched: tuple[Touched, ...]
    effects: Effects
    is_empty: bool


def effects_of(touched: Sequence[Touched], **changed: int | None) -> Effects:
    """What a statement does that affects these files; `changed` are the rows that it updates, deletes and inserts."""
    by_fate = {fate: [file for file in touched if file.fate is fate] for fate in Fate}
    copied = sum((file.live or 0) - (file.matching or 0) for file in by_fate[Fate.REWRITE])
    rewritten, removed, vectors = (amount_of(by_fate[fate]) for fate in (Fate.REWRITE, Fate.REMOVE, Fate.VECTOR))
    return Effects(amount_of(touched), rewritten, removed, vectors, copied=copied, **changed)


def total(numbers: Sequence[int | None]) -> int | None:
    """The sum, None when one of the numbers is not known.

    >>> total([1, 2]), total([1, None])
    (3, None)
    """
    return None if None in numbers else sum(number for number in numbers if number is not None)


def amount_of(files: Sequence[Touched] | Sequence[Candidate]) -> Amount:
    """Files, bytes and live rows of these files."""
    rows = [file.live for file in files]
    known = [number for number in rows if number is not None]
    return Amount(len(files), sum(file.size for file in files), sum(known), len(rows) - len(known))
