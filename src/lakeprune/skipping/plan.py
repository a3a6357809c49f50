"""What has to be asked of every file to explain a predicate: a list of yes/no bits, and how clauses read them.

In: clauses. Out: `Plan`: the bits (facts, each possibly with one kind of ignorance lifted), the columns and exact expressions
they need, and per clause where its answers stand among the bits. Files with equal bits are one pattern; everything a report
says about files is a sum over patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from lakeprune.predicate.tree import Bucket, Clause, Column, Exact
from lakeprune.skipping.fact import AllNull, Below, Covered, Fact, Known, NanFree, Never, NoNull, walk
from lakeprune.skipping.lower import PARTITION_ONLY, STATISTICS_ONLY, lower


class Lift(Enum):
    """A kind of ignorance to assume away: if the file would then be dropped, that ignorance is why it was kept."""

    NOTHING = "nothing"
    MISSING = "missing"  # as if every absent statistic had been favourable
    NAN = "nan"  # as if no column held NaN


class Bit(Struct, frozen=True, cache_hash=True):
    fact: Fact
    lift: Lift = Lift.NOTHING


class ClauseBits(Struct, frozen=True, cache_hash=True):
    """Positions among the bits: can the clause be TRUE, under which evidence, and why not excluded."""

    can_true: int
    not_true: int
    by_partition: int
    by_statistics: int
    if_complete: int
    if_nan_free: int


class Plan(Struct, frozen=True, cache_hash=True):
    clauses: tuple[Clause, ...]
    bits: tuple[Bit, ...]
    positions: tuple[ClauseBits, ...]
    columns: tuple[Column, ...]  # whose domains are needed
    exacts: tuple[Exact, ...]


def plan_clauses(clauses: Sequence[Clause]) -> Plan:
    """The bits that explain these clauses, each asked once."""
    bits: dict[Bit, int] = {}
    positions = tuple(_clause_bits(clause, bits) for clause in clauses)
    facts = [part for bit in bits for part in walk(bit.fact)]
    exacts = tuple(dict.fromkeys(part.exact for part in facts if isinstance(part, Never)))
    columns = tuple(dict.fromkeys(column for part in facts for column in _domain_columns(part)))
    return Plan(tuple(clauses), tuple(bits), positions, columns, exacts)


def _clause_bits(clause: Clause, bits: dict[Bit, int]) -> ClauseBits:
    mask = lower(clause.predicate)
    can_true = by_partition = by_statistics = mask.can_true
    match clause.bucket:
        case Bucket.PARTITION_SAFE | Bucket.PARTITION_EXACT:
            by_statistics = Known(True)
        case Bucket.STATS_SAFE:
            by_partition = Known(True)
        case Bucket.UNSPLITTABLE:
            by_partition = lower(clause.predicate, PARTITION_ONLY).can_true
            by_statistics = lower(clause.predicate, STATISTICS_ONLY).can_true
    nan_matters = any(isinstance(part, NanFree) for part in walk(can_true))
    asked = (
        Bit(can_true),
        Bit(mask.not_true),
        Bit(by_partition),
        Bit(by_statistics),
        Bit(can_true, Lift.MISSING),
        Bit(can_true, Lift.NAN if nan_matters else Lift.NOTHING),
    )
    return ClauseBits(*(bits.setdefault(bit, len(bits)) for bit in asked))


def _domain_columns(fact: Fact) -> tuple[Column, ...]:
    match fact:
        case NoNull(column) | AllNull(column) | NanFree(column) | Covered(column, _):
            return (column,)
        case Below(left, right, _):
            return (left, right)
        case _:
            return ()
