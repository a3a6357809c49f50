"""What is decided about one file, and why: verdict, credit, reason. Pure functions of a file's signature.

A dropped file is credited to the least evidence that proves the drop, and to the first clause that this evidence speaks through.
A kept file names the clause that came closest to dropping it and what stood in the way: nothing is kept without a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from lakeprune.formats.row_groups.rung import ROW_GROUP
from lakeprune.predicate.tree import Column, ColumnCompare, Expr, Member, NullTest, Opaque
from lakeprune.predicate.walk import nodes
from lakeprune.programs.patterns import Outcome, Signature
from lakeprune.skipping.fact import Known
from lakeprune.skipping.ladder import Evidence
from lakeprune.skipping.lower import evidence_columns
from lakeprune.skipping.plan import Lift, Plan
from lakeprune.values.intervals import IntervalSet

# Credits beside the names of rungs.
CONSTANT = "constant"  # the predicate itself is never TRUE
JOINT = "joint"  # only several rungs together prove it (a mixed OR)
BLOOM = "bloom"  # of a row group: its Bloom filter has none of the values
ROW_GROUPS = ROW_GROUP.name  # every row group of the file is dropped


class Keeps(Enum):
    """Why a clause did not drop a file, most telling first."""

    PARTITION_TEXT_UNREADABLE = "PARTITION_TEXT_UNREADABLE"  # it would have, had the recorded partition value been readable
    EVALUATION_FAILED = "EVALUATION_FAILED"  # it would have, had the expression a value for this partition
    MISSING_STATISTIC = "MISSING_STATISTIC"  # it would have, had a missing statistic been favourable
    NAN_POSSIBLE = "NAN_POSSIBLE"  # it would have, had NaN been excluded
    NOT_DECIDABLE = "NOT_DECIDABLE"  # metadata cannot decide some part of it; its reason codes say which and why
    NULL_COUNT = "NULL_COUNT"  # the null count leaves matching rows possible
    RANGES_OVERLAP = "RANGES_OVERLAP"  # the file's values may include matching ones
    ALL_ROWS_MATCH = "ALL_ROWS_MATCH"  # every row of the file satisfies it


class Requirement(Enum):
    MIN_MAX = "min_max"
    NULL_COUNT = "null_count"


class ClauseNeeds(Struct, frozen=True):
    """What one clause asks of files: positions among the plan's columns, and whether metadata can decide all of it."""

    required: tuple[tuple[int, Requirement], ...]  # data columns only
    is_decidable: bool


def clause_needs(plan: Plan) -> tuple[ClauseNeeds, ...]:
    """What each clause of the plan needs."""
    found = []
    for clause, place in zip(plan.clauses, plan.positions, strict=True):
        required = dict.fromkeys(
            (plan.columns.index(column), requirement)
            for column, requirement in _requirements(clause.predicate, plan.evidence)
            if column in plan.columns
        )
        is_opaque = any(isinstance(node, Opaque) for node in nodes(clause.predicate))
        can_drop = plan.bits[place.can_true].fact != Known(True)
        found.append(ClauseNeeds(tuple(required), can_drop and not is_opaque))
    return tuple(found)


def _requirements(predicate: Expr, evidence: Evidence) -> list[tuple[Column, Requirement]]:
    """Columns known by bounds, with the statistic that decides their leaf: null tests need counts, comparisons bounds."""
    found: list[tuple[Column, Requirement]] = []
    for node in nodes(predicate):
        if isinstance(node, Member) and not _has_ends(node.values):
            continue  # TRUE for every value or for none: bounds would say nothing
        if isinstance(node, Member | NullTest | ColumnCompare):
            needed = Requirement.NULL_COUNT if isinstance(node, NullTest) else Requirement.MIN_MAX
            found += [(column, needed) for column in evidence_columns(node) if not evidence.is_exact(column)]
    return found


def _has_ends(values: IntervalSet) -> bool:
    return any(interval.lo is not None or interval.hi is not None for interval in values.intervals)


def credit_of(signature: Signature, plan: Plan) -> str:
    """The least evidence that drops a dropped file: none at all, one rung by itself, several together, or its row groups."""
    if signature.lost is not None:
        return ROW_GROUPS
    if signature.excluded_by is not None:
        return BLOOM
    if any(plan.is_constant(index) and drops(outcome) for index, outcome in enumerate(signature.outcomes)):
        return CONSTANT
    for place, rung in enumerate(plan.ladder):
        if not signature.is_left_by([place]):
            return rung.name
    # The number of rows is what the last rung records.
    return plan.ladder[-1].name if signature.is_empty else JOINT


def crediting_clause(signature: Signature, plan: Plan) -> int | None:
    """The first clause, in the order of evidence, that drops a dropped file; None when only its emptiness does, or row groups."""
    dropping = [index for index, outcome in enumerate(signature.outcomes) if drops(outcome)]
    first = [index for index in dropping if plan.is_constant(index)]
    for place in range(len(plan.ladder)):
        first += [index for index, outcome in enumerate(signature.outcomes) if not outcome.by_rung[place]]
    return next(iter((*first, *dropping)), None)


_BY_LIFT = {
    Lift.UNREADABLE: Keeps.PARTITION_TEXT_UNREADABLE,
    Lift.FAILED: Keeps.EVALUATION_FAILED,
    Lift.MISSING: Keeps.MISSING_STATISTIC,
    Lift.NAN: Keeps.NAN_POSSIBLE,
}


def keeps_because(signature: Signature, index: int, needs: ClauseNeeds) -> Keeps:
    """Why clause `index` did not drop a file."""
    outcome = signature.outcomes[index]
    if not outcome.not_true:
        return Keeps.ALL_ROWS_MATCH
    if not needs.is_decidable:
        return Keeps.NOT_DECIDABLE
    for lift, because in _BY_LIFT.items():
        if lift in outcome.kept_for or (lift is Lift.MISSING and _knows_nothing(signature, needs)):
            return because
    only_counts = needs.required and all(requirement is Requirement.NULL_COUNT for _, requirement in needs.required)
    return Keeps.NULL_COUNT if only_counts else Keeps.RANGES_OVERLAP


def _knows_nothing(signature: Signature, needs: ClauseNeeds) -> bool:
    """Not one needed statistic is there.

    On a float column NaN is in doubt as well, so lifting one ignorance alone drops nothing; yet no range overlaps.
    """
    return bool(needs.required) and not any(is_known(signature, *needed) for needed in needs.required)


def is_known(signature: Signature, column: int, requirement: Requirement) -> bool:
    known = signature.bounds_known if requirement is Requirement.MIN_MAX else signature.nulls_known
    return known[column]


def blocking_clause(signature: Signature, needs: Sequence[ClauseNeeds]) -> tuple[int | None, Keeps]:
    """The clause of a kept file whose refusal to drop tells most, and why it refused; no clause when every row matches."""
    best: tuple[int | None, Keeps] = (None, Keeps.ALL_ROWS_MATCH)
    order = list(Keeps)
    for index in range(len(signature.outcomes)):
        because = keeps_because(signature, index, needs[index])
        if order.index(because) < order.index(best[1]):
            best = (index, because)
    return best


def lacks_needed(signature: Signature, needs: Sequence[ClauseNeeds]) -> bool:
    """Whether a file with rows misses a statistic that some clause needs."""
    if signature.is_empty:
        return False
    return any(not is_known(signature, *needed) for clause in needs for needed in clause.required)


def drops(outcome: Outcome) -> bool:
    return not outcome.can_true
