"""The ladder of evidence: a format brings its rungs in order, and nothing below the report knows one by name.

In: nothing. Out: `Rung`, a kind of evidence with its titles; `Seen`, a column as some rungs together show it; `Evidence`, which
says what a format knows about a column. A container that is dropped is credited to the first rung that proves it alone, or to all
of them together.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Protocol

from msgspec import Struct

from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column
from lakeprune.values.types import DataType


class Level(Enum):
    """What a rung speaks about."""

    MANIFEST = "manifest"
    FILE = "file"
    ROW_GROUP = "row_group"


class Rung(Struct, frozen=True, cache_hash=True):
    """One kind of evidence. `is_exact`: it holds the values themselves, not bounds of them."""

    name: str  # of its credits in documents: "partition"
    label: str  # in a picture: "partitions"
    evidence: str  # in a sentence: "partition values"
    phase: str  # the title of its phase: "Partition pruning"
    level: Level
    is_exact: bool


Ladder = tuple[Rung, ...]


class Seen(Struct, frozen=True, cache_hash=True):
    """What these rungs together show of a column."""

    column: Column
    rungs: frozenset[Rung] = frozenset()

    @property
    def type(self) -> DataType:
        return self.column.type

    @property
    def is_exact(self) -> bool:
        """Whether the values are known, not only bounds of them."""
        return bool(self.rungs) and all(rung.is_exact for rung in self.rungs)


class Bucketing(Protocol):
    """A function that puts values into numbered buckets, equal ones into the same."""

    @property
    def count(self) -> int:
        """How many buckets there are."""

    def apply(self, value: Any) -> int | None:
        """The bucket of a value, None when it has none."""


class Bucketed(Struct, frozen=True):
    """A column whose values are the buckets of another: what is seen of it says which buckets a container can hold."""

    column: Column
    bucketing: Bucketing


def _not_bucketed(_column: Column) -> tuple[Bucketed, ...]:
    return ()


class Evidence(Struct, frozen=True):
    """The rungs of a format, and which of them say something about a column, by itself or by the buckets of its values."""

    ladder: Ladder
    rungs_of: Callable[[Column], frozenset[Rung]]
    buckets_of: Callable[[Column], tuple[Bucketed, ...]] = _not_bucketed

    def seen(self, column: Column) -> Seen:
        """The column as all of its rungs show it."""
        return Seen(column, self.rungs_of(column))

    def view(self, *rungs: Rung) -> View:
        """Everything as these rungs show it."""
        return View(self, frozenset(rungs))

    def is_exact(self, column: Column) -> bool:
        """Whether the values of the column are known, not only bounds of them."""
        return self.seen(column).is_exact


class View(Struct, frozen=True):
    """What some rungs of a ladder show; without evidence, columns as whoever asks knows them."""

    evidence: Evidence | None = None
    rungs: frozenset[Rung] = frozenset()

    def seen(self, column: Column) -> Seen | None:
        """What is seen of a column, None when that is nothing."""
        if self.evidence is None:
            return Seen(column)
        rungs = self.evidence.rungs_of(column) & self.rungs
        return Seen(column, rungs) if rungs else None

    def buckets(self, column: Column) -> list[tuple[Bucketing, Seen]]:
        """The buckets that are seen of a column's values."""
        found = () if self.evidence is None else self.evidence.buckets_of(column)
        return [(each.bucketing, seen) for each in found if (seen := self.seen(each.column)) is not None]


def by_role(partition: Rung, data: Rung) -> Evidence:
    """Partition columns are known by their values, all others by their statistics."""
    rungs = {Role.PARTITION: frozenset({partition}), Role.DATA: frozenset({data})}
    return Evidence((partition, data), lambda column: rungs[column.role])
