"""What has to be asked of every container to explain a predicate: a list of yes/no bits, and how clauses read them.

In: clauses, and the evidence that a format brings. Out: `Plan`: the bits (facts, each possibly with one kind of ignorance
lifted), the columns and exact expressions they need, and per clause where its answers stand among the bits. Containers with
equal bits are one pattern; everything a report says about them is a sum over patterns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from msgspec import Struct

from lakeprune.predicate.tree import Clause, Column, Constant, Exact
from lakeprune.skipping.fact import PROVEN, AllNull, Below, Covered, Fact, NanFree, Never, NoNull, walk
from lakeprune.skipping.ladder import Evidence, Ladder
from lakeprune.skipping.lower import evidence_columns, lower


class Lift(Enum):
    """A kind of ignorance to assume away: if the container would then be dropped, that ignorance is why it was kept."""

    NOTHING = "nothing"
    MISSING = "missing"  # as if every absent statistic had been favourable
    NAN = "nan"  # as if no column held NaN
    UNREADABLE = "unreadable"  # as if every value that is recorded as unreadable text, or not at all, had been favourable
    FAILED = "failed"  # as if every expression that could not be evaluated had been favourable


class Bit(Struct, frozen=True, cache_hash=True):
    fact: Fact
    lift: Lift = Lift.NOTHING


class ClauseBits(Struct, frozen=True):
    """Positions among the bits: can the clause be TRUE, by which evidence, and had an ignorance been lifted."""

    can_true: int
    not_true: int
    by_rung: tuple[int, ...]  # using the evidence of one rung only, in the order of the ladder
    lifted: Mapping[Lift, int]  # the kinds of ignorance that could matter to it


class Plan(Struct, frozen=True):
    clauses: tuple[Clause, ...]
    bits: tuple[Bit, ...]
    positions: tuple[ClauseBits, ...]
    columns: tuple[Column, ...]  # whose domains are needed
    exacts: tuple[Exact, ...]
    evidence: Evidence

    @property
    def ladder(self) -> Ladder:
        return self.evidence.ladder

    @property
    def exact_rungs(self) -> tuple[int, ...]:
        """The rungs that know values, by their place: what they leave are the candidates of all others."""
        return tuple(place for place, rung in enumerate(self.ladder) if rung.is_exact)

    def is_constant(self, clause: int) -> bool:
        """Whether a clause is decided without any evidence."""
        return isinstance(self.clauses[clause].predicate, Constant)


def plan_clauses(clauses: Sequence[Clause], evidence: Evidence) -> Plan:
    """The bits that explain these clauses, each asked once."""
    bits: dict[Bit, int] = {}
    positions = tuple(_clause_bits(clause, evidence, bits) for clause in clauses)
    facts = [part for bit in bits for part in walk(bit.fact)]
    exacts = tuple(dict.fromkeys(part.exact for part in facts if isinstance(part, Never)))
    columns = tuple(dict.fromkeys(column for part in facts for column in _domain_columns(part)))
    return Plan(tuple(clauses), tuple(bits), positions, columns, exacts, evidence)


def _clause_bits(clause: Clause, evidence: Evidence, bits: dict[Bit, int]) -> ClauseBits:
    mask = lower(clause.predicate)
    by_rung = _by_rung(clause, mask.can_true, evidence)
    exact = {evidence.is_exact(column) for column in evidence_columns(clause.predicate)}
    lifts = [Lift.MISSING] if False in exact else []
    if any(isinstance(part, NanFree) for part in walk(mask.can_true)):
        lifts.append(Lift.NAN)
    if True in exact:
        lifts += [Lift.UNREADABLE, Lift.FAILED]

    def place(fact: Fact, lift: Lift = Lift.NOTHING) -> int:
        return bits.setdefault(Bit(fact, lift), len(bits))

    return ClauseBits(
        place(mask.can_true),
        place(mask.not_true),
        tuple(place(fact) for fact in by_rung),
        {lift: place(mask.can_true, lift) for lift in lifts},
    )


def _by_rung(clause: Clause, can_true: Fact, evidence: Evidence) -> list[Fact]:
    """Whether the clause can be TRUE by the evidence of each rung alone; a constant needs none, so none can claim it."""
    if isinstance(clause.predicate, Constant):
        return [PROVEN] * len(evidence.ladder)
    spoken = {rung for column in evidence_columns(clause.predicate) for rung in evidence.rungs_of(column)}
    found = []
    for rung in evidence.ladder:
        if spoken == {rung}:
            found.append(can_true)
        elif rung in spoken:
            found.append(lower(clause.predicate, lambda column, rung=rung: rung in evidence.rungs_of(column)).can_true)  # type: ignore[misc]
        else:
            found.append(PROVEN)
    return found


def _domain_columns(fact: Fact) -> tuple[Column, ...]:
    match fact:
        case NoNull(column) | AllNull(column) | NanFree(column) | Covered(column, _):
            return (column,)
        case Below(left, right, _):
            return (left, right)
        case _:
            return ()
