"""What a rule may look at: the table, the predicate, its plan and verdict patterns, and rewrites of it, planned for real.

A rule is a function that gives its findings. One that wants to know more is a generator: it yields plans, gets the verdict
patterns of each, and returns its findings. That way the questions of all rules are one pass over the metadata. A rule never
looks at another.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence

from msgspec import Struct

from lakeprune.errors import PredicateError
from lakeprune.formats.remedies import Remedies
from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.passes.rebuild import all_of
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.tree import Expr, Or, Profile
from lakeprune.predicate.walk import columns_of
from lakeprune.predicate.write.show import name_text
from lakeprune.programs.patterns import Evaluation, Pattern, Signature
from lakeprune.report.attribution import Attribution
from lakeprune.report.engines import EngineRead
from lakeprune.report.model import Severity
from lakeprune.skipping.ladder import Level
from lakeprune.skipping.plan import Plan, plan_clauses
from lakeprune.skipping.verdict import Verdict
from lakeprune.values.intervals import IntervalSet

LONGEST_CLAUSE = 120
Patterns = Sequence[Pattern]
Numbers = dict[str, int | float | str]


class Finding(Struct, frozen=True, kw_only=True):
    """A diagnosis without its code; `Diagnosis` explains the fields."""

    severity: Severity = Severity.WARNING
    clause: str | None = None
    column: str | None = None
    message: str
    numbers: Numbers
    suggestion: str
    rewrite: str | None = None


Investigation = Generator[list[Plan], list[Patterns], list[Finding]]


class Case(Struct, frozen=True):
    """One predicate on one table. `conjuncts` are the bound conjuncts behind each clause of the plan, in order."""

    evaluation: Evaluation
    plan: Plan
    patterns: tuple[Pattern, ...]
    numbers: Attribution
    conjuncts: tuple[Expr, ...]
    tautologies: tuple[str, ...]  # the texts of clauses that are TRUE on every row, which the plan leaves out
    engine: EngineRead | None  # what the format's own engine reads, where that is modelled

    @property
    def facts(self) -> SnapshotFacts:
        return self.evaluation.snapshot.facts

    @property
    def profile(self) -> Profile:
        return self.evaluation.profile

    @property
    def remedies(self) -> Remedies:
        return self.evaluation.snapshot.remedies()

    @property
    def total(self) -> int:
        """All files."""
        return self.numbers.total.files

    @property
    def kept(self) -> int:
        """The files to read."""
        return self.numbers.kept.files

    def read(self, where: str) -> Expr | None:
        """Another condition, bound to this table; None when it does not read back, so that it cannot be proposed."""
        try:
            return bind(parse_predicate(where, self.profile), self.facts.schema, self.profile, where)
        except PredicateError:
            return None

    def plan_of(self, bound: Expr) -> Plan:
        """The plan that `explain` would make of a condition."""
        return plan_clauses(split(bound, self.profile), self.facts.evidence, self.profile.nan_policy)

    def plan_with(self, index: int, bound: Expr) -> Plan:
        """The plan of the whole predicate with one clause written differently."""
        return self.plan_of(all_of([*self.conjuncts[:index], bound, *self.conjuncts[index + 1 :]]))

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

    @property
    def candidates(self) -> list[Pattern]:
        """The files with live rows that the exact rungs leave, and the groups above them."""
        rungs = [place for place, rung in enumerate(self.plan.ladder) if rung.is_exact or rung.level is Level.MANIFEST]
        left = (p for p in self.patterns if p.level is Level.FILE and not p.signature.is_empty)
        return [p for p in left if p.signature.is_left_by(rungs)]


def files_of(patterns: Iterable[Pattern], test: Callable[[Signature], bool]) -> int:
    """How many files pass."""
    return sum(pattern.files for pattern in patterns if test(pattern.signature))


def kept_files(patterns: Patterns) -> int:
    """How many files a plan keeps, by its patterns."""
    return files_of(patterns, is_kept)


def is_kept(signature: Signature) -> bool:
    return signature.verdict is not Verdict.DROP


def is_exclusion(values: IntervalSet) -> bool:
    """Whether a set is everything but some values, or but a range between."""
    pieces = values.intervals
    return len(pieces) > 1 and pieces[0].lo is None and pieces[-1].hi is None


def brief(text: str) -> str:
    """A clause inside a sentence; the whole text stands in the diagnosis itself.

    >>> brief("x" * 200)[-6:]
    'xxx...'
    """
    return text if len(text) <= LONGEST_CLAUSE else text[: LONGEST_CLAUSE - 3] + "..."


def column_in(condition: Expr) -> str | None:
    """The name of the one column that a condition looks at, None when there are none or several."""
    return only_one([name_text(column.path) for column in columns_of(condition)])


def only_one(texts: Iterable[str]) -> str | None:
    found = list(dict.fromkeys(texts))
    return found[0] if len(found) == 1 else None
