"""What has to be asked of every container to explain a predicate: a list of yes/no bits, and how clauses read them.

In: clauses, and the evidence that a format brings. Out: `Plan`: the bits (facts, each possibly with one kind of ignorance
lifted), the columns and exact expressions they need, and per clause where its answers stand among the bits. Containers with
equal bits are one pattern; everything a report says about them is a sum over patterns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from msgspec import Struct

from lakeprune.predicate.tree import Clause, Column, Constant, Exact, NanPolicy
from lakeprune.skipping.fact import PROVEN, AllNull, Below, Covered, Fact, NanFree, Never, NoNanSeen, NoNull, walk
from lakeprune.skipping.hidden_nan import columns_in_doubt, without_hidden_nan
from lakeprune.skipping.ladder import Evidence, Ladder, Seen
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
    strict: int  # can_true without any assumption
    assumed_columns: tuple[Column, ...] = ()  # in which can_true and by_rung take no hidden NaN for granted


class Plan(Struct, frozen=True):
    clauses: tuple[Clause, ...]
    bits: tuple[Bit, ...]
    positions: tuple[ClauseBits, ...]
    columns: tuple[Column, ...]  # whose domains are needed, as all evidence shows them
    domains: tuple[Seen, ...]  # these, and as single rungs show them
    exacts: tuple[Exact, ...]
    evidence: Evidence

    @property
    def ladder(self) -> Ladder:
        return self.evidence.ladder

    @property
    def seen(self) -> tuple[Seen, ...]:
        """The columns as all evidence shows them."""
        return tuple(self.evidence.seen(column) for column in self.columns)

    @property
    def exact_rungs(self) -> tuple[int, ...]:
        """The rungs that know values, by their place: what they leave are the candidates of all others."""
        return tuple(place for place, rung in enumerate(self.ladder) if rung.is_exact)

    def is_constant(self, clause: int) -> bool:
        """Whether a clause is decided without any evidence."""
        return isinstance(self.clauses[clause].predicate, Constant)


def plan_clauses(clauses: Sequence[Clause], evidence: Evidence, nan_policy: NanPolicy = NanPolicy.STRICT) -> Plan:
    """The bits that explain these clauses, each asked once. Only with `ASSUME` does anything rest on an assumption."""
    bits: dict[Bit, int] = {}
    positions = tuple(_clause_bits(clause, evidence, bits, assumes=nan_policy is NanPolicy.ASSUME) for clause in clauses)
    facts = [part for bit in bits for part in walk(bit.fact)]
    exacts = tuple(dict.fromkeys(part.exact for part in facts if isinstance(part, Never)))
    domains = tuple(dict.fromkeys(seen for part in facts for seen in _domains(part)))
    named = {column for clause in clauses for column in evidence_columns(clause.predicate)}
    columns = tuple(dict.fromkeys(seen.column for seen in domains if seen.column in named))
    return Plan(tuple(clauses), tuple(bits), positions, columns, domains, exacts, evidence)


def _clause_bits(clause: Clause, evidence: Evidence, bits: dict[Bit, int], *, assumes: bool) -> ClauseBits:
    mask = lower(clause.predicate, evidence.view(*evidence.ladder))
    can_true, by_rung = mask.can_true, _by_rung(clause, mask.can_true, evidence)
    doubted = columns_in_doubt(can_true, evidence) if assumes else ()
    if doubted:
        can_true, *by_rung = (without_hidden_nan(fact, doubted) for fact in (can_true, *by_rung))
    exact = {evidence.is_exact(column) for column in evidence_columns(clause.predicate)}
    lifts = [Lift.MISSING] if False in exact else []
    if any(isinstance(part, NanFree | NoNanSeen) for part in walk(can_true)):
        lifts.append(Lift.NAN)
    if True in exact:
        lifts += [Lift.UNREADABLE, Lift.FAILED]

    def place(fact: Fact, lift: Lift = Lift.NOTHING) -> int:
        return bits.setdefault(Bit(fact, lift), len(bits))

    return ClauseBits(
        place(can_true),
        place(mask.not_true),
        tuple(place(fact) for fact in by_rung),
        {lift: place(can_true, lift) for lift in lifts},
        place(mask.can_true),
        doubted,
    )


def _by_rung(clause: Clause, can_true: Fact, evidence: Evidence) -> list[Fact]:
    """Whether the clause can be TRUE by the evidence of each rung alone; a constant needs none, so none can claim it."""
    if isinstance(clause.predicate, Constant):
        return [PROVEN] * len(evidence.ladder)
    columns = evidence_columns(clause.predicate)
    shown = [*columns, *(bucketed.column for column in columns for bucketed in evidence.buckets_of(column))]
    spoken = {rung for column in shown for rung in evidence.rungs_of(column)}
    found = []
    for rung in evidence.ladder:
        if spoken == {rung}:
            found.append(can_true)
        elif rung in spoken:
            found.append(lower(clause.predicate, evidence.view(rung)).can_true)
        else:
            found.append(PROVEN)
    return found


def _domains(fact: Fact) -> tuple[Seen, ...]:
    match fact:
        case NoNull(column) | AllNull(column) | NanFree(column, _) | NoNanSeen(column) | Covered(column, _):
            return (column,)
        case Below(left, right, _):
            return (left, right)
        case _:
            return ()
