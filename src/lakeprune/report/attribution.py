"""From verdict patterns to numbers: what each kind of evidence and each clause did. Pure.

In: the patterns of one plan. Out: `Attribution`, sums over patterns in files, bytes and live rows. Nothing is estimated, and
everything adds up: the credits and the kept files are all files, the first credits of the clauses are all drops by clauses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from lakeprune.programs.patterns import Pattern
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
from lakeprune.skipping.plan import Plan
from lakeprune.skipping.verdict import Verdict


class ClauseCredit(Struct, frozen=True):
    """What one clause did. Kept amounts count only the candidates."""

    drops_any: Amount  # it drops them by itself
    drops_first: Amount  # credited to it: no earlier evidence drops them
    drops_alone: Amount  # without it they would be kept
    kept: dict[Keeps, Amount]


class Coverage(Struct, frozen=True):
    """How many of the files that partition pruning left carry the statistic that a column's clauses need."""

    column: str
    requirement: Requirement
    covered: int = field(name="covered_files")
    candidates: int = field(name="candidate_files")
    share: float = field(name="coverage_pct")


class Attribution(Struct, frozen=True):
    total: Amount
    credits: dict[str, Amount]  # by CONSTANT, the names of the rungs, JOINT
    empty: Amount  # the part of `credits` that no clause drops: files without a live row
    candidates: Amount  # what constants and the exact rungs left
    kept: Amount
    full: Amount  # the part of `kept` whose every row matches
    clauses: tuple[ClauseCredit, ...]
    coverage: tuple[Coverage, ...]
    with_stats: int
    with_deletion_vectors: int
    lacking_statistics: int  # files that miss a statistic some clause needs
    partition_is_exact: bool  # partition values decided their clauses on every file they left


def attribute(plan: Plan, patterns: Iterable[Pattern]) -> Attribution:
    """The numbers of one plan."""
    needs = clause_needs(plan)
    groups = list(patterns)
    dropped: list[Pattern] = []
    kept: list[Pattern] = []
    for pattern in groups:
        (dropped if pattern.signature.verdict is Verdict.DROP else kept).append(pattern)
    credited: dict[str, list[Pattern]] = {name: [] for name in (CONSTANT, *(rung.name for rung in plan.ladder), JOINT)}
    for pattern in dropped:
        credited[credit_of(pattern.signature, plan)].append(pattern)
    decided = {CONSTANT, *(rung.name for rung in plan.ladder if rung.is_exact)}
    candidates = kept + [p for name, several in credited.items() if name not in decided for p in several]
    return Attribution(
        total=total_of(groups),
        credits={name: total_of(several) for name, several in credited.items()},
        empty=total_of(p for p in dropped if crediting_clause(p.signature, plan) is None),
        candidates=total_of(candidates),
        kept=total_of(kept),
        full=total_of(p for p in kept if p.signature.verdict is Verdict.FULL),
        clauses=tuple(_clause_credit(i, plan, needs[i], groups, candidates) for i in range(len(needs))),
        coverage=_coverage(plan, needs, candidates),
        with_stats=sum(p.files for p in groups if p.signature.has_stats),
        with_deletion_vectors=sum(p.files for p in groups if p.signature.has_dv),
        lacking_statistics=sum(p.files for p in groups if lacks_needed(p.signature, needs)),
        partition_is_exact=_partition_is_exact(plan, candidates),
    )


def total_of(patterns: Iterable[Pattern]) -> Amount:
    """The files, bytes and live rows of these patterns."""
    total = NOTHING
    for pattern in patterns:
        total += Amount(pattern.files, pattern.bytes, pattern.rows, pattern.files_without_rows)
    return total


def _clause_credit(
    index: int, plan: Plan, needs: ClauseNeeds, groups: Sequence[Pattern], candidates: Sequence[Pattern]
) -> ClauseCredit:
    by_itself = [p for p in groups if drops(p.signature.outcomes[index])]
    kept: dict[Keeps, Amount] = dict.fromkeys(Keeps, NOTHING)
    for pattern in candidates:
        if not drops(pattern.signature.outcomes[index]):
            kept[keeps_because(pattern.signature, index, needs)] += total_of([pattern])
    return ClauseCredit(
        drops_any=total_of(by_itself),
        drops_first=total_of(p for p in by_itself if crediting_clause(p.signature, plan) == index),
        drops_alone=total_of(p for p in by_itself if not p.signature.is_empty and sum(map(drops, p.signature.outcomes)) == 1),
        kept=kept,
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
