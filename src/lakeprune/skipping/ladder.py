"""The ladder of evidence: a format brings its rungs in order, and nothing below the report knows one by name.

In: nothing. Out: `Rung`, a kind of evidence with its titles, and `Evidence`, which says what a format knows about a column.
A container that is dropped is credited to the first rung that proves it alone, or to all of them together.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import Struct

from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column


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


class Evidence(Struct, frozen=True):
    """The rungs of a format, and which of them say something about a column."""

    ladder: Ladder
    rungs_of: Callable[[Column], frozenset[Rung]]

    def is_exact(self, column: Column) -> bool:
        """Whether the values of the column are known, not only bounds of them."""
        return any(rung.is_exact for rung in self.rungs_of(column))


def by_role(partition: Rung, data: Rung) -> Evidence:
    """Partition columns are known by their values, all others by their statistics."""
    rungs = {Role.PARTITION: frozenset({partition}), Role.DATA: frozenset({data})}
    return Evidence((partition, data), lambda column: rungs[column.role])
