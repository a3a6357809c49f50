"""Why a predicate reads what it reads: every diagnosis asked, all their questions answered in one pass per round.

In: a plan and its patterns. Out: diagnoses, warnings first, otherwise in the order of `DIAGNOSES` and of the clauses. To add one:
a module with an investigating function, a line here, a page in docs/diagnoses/.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from lakeprune.planning.question import Question
from lakeprune.programs.patterns import Evaluation, Pattern
from lakeprune.report.attribution import Attribution
from lakeprune.report.diagnosis.always_true import always_true
from lakeprune.report.diagnosis.case import Case, Investigation, Patterns
from lakeprune.report.diagnosis.contradiction import contradiction
from lakeprune.report.diagnosis.engine_differs import engine_differs
from lakeprune.report.diagnosis.missing_statistics import beyond_indexed_columns, missing_statistics, partial_statistics
from lakeprune.report.diagnosis.nan import undefined_nan
from lakeprune.report.diagnosis.opaque_expression import opaque_expression
from lakeprune.report.diagnosis.partition_filter import no_partition_filter
from lakeprune.report.diagnosis.text_bounds import truncated_string_bounds
from lakeprune.report.diagnosis.too_large import too_large
from lakeprune.report.diagnosis.unsplittable import unsplittable_or
from lakeprune.report.diagnosis.weak_skipping import weak_data_skipping
from lakeprune.report.diagnosis.wide_bounds import wide_bounds_deletion_vectors
from lakeprune.report.diagnosis.zone import timestamp_zone_unknown
from lakeprune.report.model import Diagnosis, Severity
from lakeprune.skipping.plan import Plan

DIAGNOSES: tuple[Callable[[Case], Investigation], ...] = (
    contradiction,
    always_true,
    no_partition_filter,
    opaque_expression,
    unsplittable_or,
    missing_statistics,
    beyond_indexed_columns,
    partial_statistics,
    weak_data_skipping,
    truncated_string_bounds,
    undefined_nan,
    timestamp_zone_unknown,
    wide_bounds_deletion_vectors,
    engine_differs,
)


def diagnose(evaluation: Evaluation, question: Question, patterns: list[Pattern], numbers: Attribution) -> tuple[Diagnosis, ...]:
    """What there is to say about this question on this table; nothing when there is nothing to read or to improve."""
    if (excess := too_large(question.plan)) is not None:
        return (excess,)
    found = _investigate(Case(evaluation, question.plan, tuple(patterns), numbers, question.conjuncts, question.tautologies))
    return tuple(sorted(found, key=lambda diagnosis: diagnosis.severity is not Severity.WARNING))


class _Asking(Struct, frozen=True):
    """An investigation that waits for answers."""

    number: int
    investigation: Investigation
    wanted: list[Plan]


def _investigate(case: Case) -> list[Diagnosis]:
    """Every investigation, round by round: all of them ask, then all of them are answered."""
    found: list[list[Diagnosis]] = [[] for _ in DIAGNOSES]
    asking = [_step(number, start(case), None, found) for number, start in enumerate(DIAGNOSES)]
    while waiting := [one for one in asking if one is not None]:
        plans = [plan for one in waiting for plan in one.wanted]
        answers = iter(case.evaluation.patterns(plans) if plans else [])
        asking = [_step(one.number, one.investigation, [next(answers) for _ in one.wanted], found) for one in waiting]
    return [diagnosis for diagnoses in found for diagnosis in diagnoses]


def _step(
    number: int, investigation: Investigation, answers: list[Patterns] | None, found: list[list[Diagnosis]]
) -> _Asking | None:
    try:
        wanted = next(investigation) if answers is None else investigation.send(answers)
    except StopIteration as done:
        found[number] = done.value
        return None
    return _Asking(number, investigation, wanted)
