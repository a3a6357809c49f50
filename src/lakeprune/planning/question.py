"""A predicate that was read, bound, split and lowered: what every application asks of a table, prepared once.

In: nothing; `Planner.ask` makes it. Out: a value. It holds no table and no session, so it may be kept, compared and printed.
"""

from __future__ import annotations

from msgspec import Struct

from lakeprune.predicate.condition import Condition
from lakeprune.predicate.tree import TRUE, Clause, Expr
from lakeprune.skipping.plan import Plan


class Question(Struct, frozen=True):
    """`parts` are all clauses, each with the bound conjuncts it was made of; `plan` leaves out those that are always TRUE."""

    condition: Condition | None  # None: no predicate, every container is read
    bound: Expr
    parts: tuple[tuple[Expr, Clause], ...]
    plan: Plan

    @property
    def text(self) -> str | None:
        return None if self.condition is None else self.condition.text

    @property
    def conjuncts(self) -> tuple[Expr, ...]:
        """The bound conjuncts behind each clause of the plan, in order."""
        return tuple(conjunct for conjunct, clause in self.parts if clause.predicate != TRUE)

    @property
    def tautologies(self) -> tuple[str, ...]:
        """The texts of the clauses that are TRUE on every row."""
        return tuple(clause.text for _, clause in self.parts if clause.predicate == TRUE)
