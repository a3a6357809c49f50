"""From verdict patterns to numbers: what each kind of evidence and each clause did. Pure.

In: the patterns of one plan. Out: `Attribution`, sums over patterns in files, bytes and live rows. Nothing is estimated, and
everything adds up: the credits and the kept files are all files, the first credits of the clauses are all drops by clauses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from lakeprune.programs.patterns import Pattern, Signature
from lakeprune.report.amount import NOTHING, Amount, percent
from lakeprune.report.buckets import EXACT_BUCKETS, bucket_of
from lakeprune.report.verdict import (
    CONSTANT,
    JOINT,
    ClauseNeeds,
    Keeps,
    Requirement,
    clause_needs,
    credit_of,
    crediting_clause,
    drops,
    is_known,
    keeps_because,
    lacks_needed,
)
from lakeprune.skipping.ladder import Level
from lakeprune.skipping.plan import Plan
from lakeprune.skipping.verdict import Verdict


class ClauseCredit(Struct, frozen=True):
    """What one clause did. Kept amounts count only the candidates."""

    drops_any: Amount  # it drops them by itself
    drops_first: Amount  # credited to it: no earlier evidence drops them
    drops_alone: Amount  # without it they would be kept
    drops_assumed: Amount  # it drops them only because no NaN is assumed to be hidden
    kept: dict[Keeps, Amount]


class Manifests(Struct, frozen=True):
    """The containers above files. Credits and kept ones are all of them."""

    total: int
    kept: int
    credits: dict[str, int]


class Coverage(Struct, frozen=True):
    """How many of the files that partition pruning left carry the statistic that a column's clauses need."""

    column: str
    requirement: Requirement
    covered_files: int
    candidate_files: int
    coverage_pct: float


class Attribution(Struct, frozen=True):
    total: Amount
    credits: dict[str, Amount]  # by CONSTANT, the names of the rungs, JOINT
    empty: Amount  # the part of `credits` that no clause drops: files without a live row
    assumed: Amount  # the part of `credits` that rests on an assumption
    assumptions: dict[str, Amount]  # by column: what is dropped only because no NaN is assumed to be hidden there
    candidates: Amount  # what constants and the exact rungs left
    kept: Amount
    full: Amount  # the part of `kept` whose every row matches
    clauses: tuple[ClauseCredit, ...]
    coverage: tuple[Coverage, ...]
    read: int  # files whose own metadata was read; the others are those of manifests that were not
    with_stats: int
    with_deletion_vectors: int
    lacking_statistics: int  # files that miss a statistic some clause needs
    partition_is_exact: bool  # partition values decided their clauses on every file they left
    manifests: Manifests | None  # None: the format has none, or nothing is known of them

    @property
    def counted_at(self) -> Level:
        """Where the files of a clause were counted: the outcomes of files in unread manifests are those of their manifest."""
        return Level.FILE if self.read == self.total.files else Level.MANIFEST


def attribute(plan: Plan, patterns: Iterable[Pattern], *, more: str | None = None) -> Attribution:
    """The numbers of one plan; `more` is a credit that is not a rung of it: ROW_GROUPS of files, BLOOM of row groups."""
    needs = clause_needs(plan)
    groups = list(patterns)
    dropped: list[Pattern] = []
    kept: list[Pattern] = []
    for pattern in groups:
        (dropped if pattern.signature.verdict is Verdict.DROP else kept).append(pattern)
    credited: dict[str, list[Pattern]] = {name: [] for name in (CONSTANT, *(rung.name for rung in plan.ladder), JOINT)}
    if more is not None:
        credited[more] = []
    for pattern in dropped:
        credited[credit_of(pattern.signature, plan)].append(pattern)
    decided = {CONSTANT, *(rung.name for rung in plan.ladder if rung.is_exact or rung.level is Level.MANIFEST)}
    candidates = kept + [p for name, several in credited.items() if name not in decided for p in several]
    candidates = [p for p in candidates if p.level is Level.FILE]
    read = [p for p in groups if p.level is Level.FILE]
    by_clause = [(pattern, crediting_clause(pattern.signature, plan)) for pattern in groups]
    return Attribution(
        total=total_of(groups),
        credits={name: total_of(several) for name, several in credited.items()},
        empty=total_of(p for p in dropped if p.signature.is_empty and crediting_clause(p.signature, plan) is None),
        assumed=total_of(p for p in dropped if p.signature.is_assumed),
        assumptions=_assumptions(plan, dropped),
        candidates=total_of(candidates),
        kept=total_of(kept),
        full=total_of(p for p in kept if p.signature.verdict is Verdict.FULL),
        clauses=tuple(_clause_credit(i, needs[i], by_clause, candidates) for i in range(len(needs))),
        coverage=_coverage(plan, needs, candidates),
        read=sum(p.files for p in read),
        with_stats=sum(p.files for p in read if p.signature.has_stats),
        with_deletion_vectors=sum(p.files for p in read if p.signature.has_dv),
        lacking_statistics=sum(p.files for p in read if lacks_needed(p.signature, needs)),
        manifests=_manifests(plan, groups),
        partition_is_exact=_partition_is_exact(plan, candidates),
    )


def _manifests(plan: Plan, patterns: Sequence[Pattern]) -> Manifests | None:
    above = [pattern for pattern in patterns if pattern.level is Level.MANIFEST]
    if not above:
        return None
    dropped = [pattern for pattern in above if pattern.signature.verdict is Verdict.DROP]
    credited: dict[str, int] = {}
    for pattern in dropped:
        name = credit_of(pattern.signature, plan)
        credited[name] = credited.get(name, 0) + pattern.groups
    total = sum(pattern.groups for pattern in above)
    return Manifests(total, total - sum(credited.values()), credited)


def assumed_columns(plan: Plan, signature: Signature) -> list[str]:
    """The columns in which no NaN is assumed to be hidden when files are dropped; none when the drop is proven."""
    if signature.lost is not None:
        return list(signature.lost.assumed_columns)
    if not signature.is_assumed:
        return []
    found = (
        column
        for outcome, place in zip(signature.outcomes, plan.positions, strict=True)
        if outcome.is_assumed
        for column in place.assumed_columns
    )
    return list(dict.fromkeys(".".join(column.path) for column in found))


def _assumptions(plan: Plan, dropped: Sequence[Pattern]) -> dict[str, Amount]:
    found: dict[str, Amount] = {}
    for pattern in dropped:
        for column in assumed_columns(plan, pattern.signature):
            found[column] = found.get(column, NOTHING) + total_of([pattern])
    return found


def total_of(patterns: Iterable[Pattern]) -> Amount:
    """The files, bytes and live rows of these patterns."""
    return Amount(*map(sum, zip(*(pattern.sums for pattern in patterns), strict=True)))


def _clause_credit(
    index: int, needs: ClauseNeeds, credited: Sequence[tuple[Pattern, int | None]], candidates: Sequence[Pattern]
) -> ClauseCredit:
    """What clause `index` did to these patterns, each with the clause that is credited with its drop."""
    by_itself = [(p, clause) for p, clause in credited if drops(p.signature.outcomes[index])]
    kept: dict[Keeps, list[Pattern]] = {because: [] for because in Keeps}
    for pattern in candidates:
        if not drops(pattern.signature.outcomes[index]):
            kept[keeps_because(pattern.signature, index, needs)].append(pattern)
    return ClauseCredit(
        drops_any=total_of(p for p, _ in by_itself),
        drops_first=total_of(p for p, clause in by_itself if clause == index),
        drops_assumed=total_of(p for p, _ in by_itself if p.signature.outcomes[index].is_assumed),
        drops_alone=total_of(p for p, _ in by_itself if not p.signature.is_empty and sum(map(drops, p.signature.outcomes)) == 1),
        kept={because: total_of(several) for because, several in kept.items()},
    )


def _coverage(plan: Plan, needs: Sequence[ClauseNeeds], candidates: Sequence[Pattern]) -> tuple[Coverage, ...]:
    wanted = dict.fromkeys(needed for clause in needs for needed in clause.required)
    files = sum(p.files for p in candidates)
    found = []
    for column, requirement in wanted:
        covered = sum(p.files for p in candidates if is_known(p.signature, column, requirement))
        found.append(Coverage(".".join(plan.columns[column].path), requirement, covered, files, percent(covered, files)))
    return tuple(sorted(found, key=lambda coverage: (coverage.column, coverage.requirement.value)))


def _partition_is_exact(plan: Plan, candidates: Sequence[Pattern]) -> bool:
    """False when a partition value was in doubt (unreadable, or of an unknown zone) and its file was kept on suspicion."""
    places = [i for i, clause in enumerate(plan.clauses) if bucket_of(clause, plan.evidence) in EXACT_BUCKETS]
    return not any(pattern.signature.outcomes[i].not_true for pattern in candidates for i in places)
