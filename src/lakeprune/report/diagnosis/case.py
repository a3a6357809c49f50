"""What a diagnosis may look at: the table, the predicate, its plan and verdict patterns, and other spellings planned for real.

A diagnosis is a generator. It yields the plans it wants to know more about and gets the verdict patterns of each; it returns what
it found. That way the questions of all diagnoses are one pass over the metadata. A diagnosis never looks at another.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence

from msgspec import Struct

from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.passes.rebuild import all_of
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.tree import Expr, Or
from lakeprune.programs.patterns import Evaluation, Pattern, Signature
from lakeprune.report.amount import NOTHING, Amount
from lakeprune.report.attribution import Attribution
from lakeprune.report.model import Diagnosis
from lakeprune.skipping.plan import Plan, plan_clauses
from lakeprune.skipping.verdict import Verdict

LONGEST_CLAUSE = 120
Patterns = Sequence[Pattern]
Investigation = Generator[list[Plan], list[Patterns], list[Diagnosis]]


class Case(Struct, frozen=True):
    """One predicate on one table. `conjuncts` are the bound conjuncts behind each clause of the plan, in order."""

    evaluation: Evaluation
    plan: Plan
    patterns: tuple[Pattern, ...]
    numbers: Attribution
    conjuncts: tuple[Expr, ...]
    tautologies: tuple[str, ...]  # the texts of clauses that are TRUE on every row, which the plan leaves out

    @property
    def facts(self) -> SnapshotFacts:
        return self.evaluation.snapshot.facts

    @property
    def zone(self) -> str:
        return self.evaluation.profile.zone

    @property
    def table(self) -> str:
        """The table as Spark SQL names it by its location."""
        return f"delta.`{self.facts.location.replace('`', '``')}`"

    def read(self, where: str) -> Expr:
        """Another condition, bound to this table."""
        profile = self.evaluation.profile
        return bind(parse_predicate(where, profile), self.facts.schema, profile, where)

    def plan_of(self, bound: Expr) -> Plan:
        """The plan that `explain` would make of a condition."""
        return plan_clauses(split(bound, self.evaluation.profile), self.facts.evidence)

    def plan_with(self, index: int, bound: Expr) -> Plan:
        """The plan of the whole predicate with one clause written differently."""
        return self.plan_of(all_of([*self.conjuncts[:index], bound, *self.conjuncts[index + 1 :]]))

    def plan_and(self, bound: Expr) -> Plan:
        """The plan of the whole predicate with one more condition."""
        return self.plan_of(all_of([*self.conjuncts, bound]))

    def in_place(self, text: str, bound: Expr) -> str:
        """A condition as it can be pasted where a clause stood: an OR beside other clauses needs its parentheses."""
        return f"({text})" if isinstance(bound, Or) and len(self.conjuncts) > 1 else text

    @property
    def can_be_true(self) -> list[int]:
        """The bits that select what is kept."""
        return [place.can_true for place in self.plan.positions]

    @property
    def left_by_exact_rungs(self) -> list[int]:
        """The bits that select the candidates of all other rungs."""
        return [place.by_rung[rung] for place in self.plan.positions for rung in self.plan.exact_rungs]

    def is_candidate(self, signature: Signature) -> bool:
        """Whether the exact rungs leave the file and it has live rows."""
        return not signature.is_empty and signature.is_left_by(self.plan.exact_rungs)


def kept_files(patterns: Patterns) -> int:
    """How many files a plan keeps, by its patterns."""
    return amount_where(patterns, is_kept).files


def amount_where(patterns: Iterable[Pattern], test: Callable[[Signature], bool]) -> Amount:
    """The files, bytes and rows of the patterns that pass."""
    total = NOTHING
    for pattern in patterns:
        if test(pattern.signature):
            total += Amount(pattern.files, pattern.bytes, pattern.rows, pattern.files_without_rows)
    return total


def is_kept(signature: Signature) -> bool:
    return signature.verdict is not Verdict.DROP


def brief(text: str) -> str:
    """A clause inside a sentence; the whole text stands in the diagnosis itself.

    >>> brief("x" * 200)[-6:]
    'xxx...'
    """
    return text if len(text) <= LONGEST_CLAUSE else text[: LONGEST_CLAUSE - 3] + "..."


def column_of(clause_columns: Iterable[str]) -> str | None:
    """The one column, None when there are none or several."""
    found = list(dict.fromkeys(clause_columns))
    return found[0] if len(found) == 1 else None
