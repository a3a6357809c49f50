"""What an engine reads for the same predicate, beside what metadata allows.

In: the engine's own plan, as its model makes it. Out: `EngineRead`. Both plans are one plan while the metadata is read: bits that
they share are asked once, and where the engine uses everything, nothing more is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.formats.own_skipping import OwnSkipping
from lakeprune.planning.question import Question
from lakeprune.programs.patterns import Pattern, Signature
from lakeprune.report.amount import NOTHING, Amount
from lakeprune.report.attribution import total_of
from lakeprune.report.verdict import clause_needs, lacks_needed
from lakeprune.skipping.plan import ClauseBits, Plan


class EngineRead(Struct, frozen=True):
    """What an engine reads for the predicate: by the model of its skipping, or as it was seen to plan it."""

    name: str
    version: str
    files: int
    bytes: int
    basis: Literal["modelled", "planned"]
    why: list[str]  # it reads more than metadata allows


class Pair(Struct, frozen=True):
    """A question and the plan of an engine, asked as one plan: the question's clauses, bits and columns come first."""

    question: Question
    theirs: Plan
    reasons: tuple[str, ...]
    engine: OwnSkipping

    @property
    def both(self) -> Question:
        """The question to be asked for the two."""
        ours, theirs = self.question.plan, self.theirs
        bits = {bit: place for place, bit in enumerate(ours.bits)}
        places = [bits.setdefault(bit, len(bits)) for bit in theirs.bits]
        plan = replace(
            ours,
            clauses=(*ours.clauses, *theirs.clauses),
            bits=tuple(bits),
            positions=(*ours.positions, *(_moved(position, places) for position in theirs.positions)),
            columns=tuple(dict.fromkeys((*ours.columns, *theirs.columns))),
            domains=tuple(dict.fromkeys((*ours.domains, *theirs.domains))),
            exacts=tuple(dict.fromkeys((*ours.exacts, *theirs.exacts))),
        )
        return replace(self.question, plan=plan)

    def ours(self, patterns: Sequence[Pattern]) -> list[Pattern]:
        """The patterns of the question."""
        clauses, columns = len(self.question.plan.clauses), range(len(self.question.plan.columns))
        return [replace(each, signature=_part(each.signature, slice(clauses), columns)) for each in patterns]

    def read(self, patterns: Sequence[Pattern]) -> EngineRead:
        """What the engine reads."""
        both = self.both.plan.columns
        rest, columns = slice(len(self.question.plan.clauses), None), [both.index(column) for column in self.theirs.columns]
        theirs = [replace(each, signature=_part(each.signature, rest, columns)) for each in patterns]
        amount, gaps = amount_read(self.theirs, theirs)
        reasons = (*self.reasons, self.engine.keeps_gaps) if gaps != NOTHING else self.reasons
        return EngineRead(self.engine.name, self.engine.version, amount.files, amount.bytes, "modelled", list(reasons))


def pair(question: Question, engine: OwnSkipping | None) -> Pair | None:
    """A question with what the format's own engine makes of it; None where there is no predicate or no model."""
    if engine is None or question.condition is None:
        return None
    return Pair(question, *engine.plan(question.conjuncts), engine)


def amount_read(plan: Plan, patterns: Sequence[Pattern]) -> tuple[Amount, Amount]:
    """What an engine reads by its plan, and the part that it reads only because a statistic is missing.

    It takes each kind of evidence by itself, and a missing statistic keeps a file whatever other columns say.
    """
    needs = clause_needs(plan)
    left = [each for each in patterns if not each.signature.is_empty and each.signature.is_left_by(plan.exact_rungs)]
    true = [each for each in left if all(outcome.can_true for outcome in each.signature.outcomes)]
    gaps = [
        each
        for each in left
        if lacks_needed(each.signature, needs) and not all(outcome.can_true for outcome in each.signature.outcomes)
    ]
    return total_of([*true, *gaps]), total_of(gaps)


def _moved(position: ClauseBits, places: Sequence[int]) -> ClauseBits:
    return ClauseBits(
        places[position.can_true],
        places[position.not_true],
        tuple(places[place] for place in position.by_rung),
        {lift: places[place] for lift, place in position.lifted.items()},
        places[position.strict],
        position.assumed_columns,
    )


def _part(signature: Signature, clauses: slice, columns: Sequence[int]) -> Signature:
    return replace(
        signature,
        outcomes=signature.outcomes[clauses],
        bounds_known=tuple(signature.bounds_known[column] for column in columns),
        nulls_known=tuple(signature.nulls_known[column] for column in columns),
    )
