"""Why a predicate reads what it reads: every rule asked, all their questions answered in one pass per round.

In: a plan and its patterns. Out: diagnoses, warnings first, otherwise in the order of `RULES` and of the clauses. To add one:
its code, a module in rules/, a line here, a page in docs/diagnoses/.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import astuple

from lakeprune.planning.question import Question
from lakeprune.predicate.walk import nodes
from lakeprune.programs.patterns import Evaluation, Pattern
from lakeprune.report.attribution import Attribution
from lakeprune.report.diagnosis.case import Case, Finding, Investigation, Patterns
from lakeprune.report.diagnosis.codes import Code
from lakeprune.report.diagnosis.rules.constant import always_true, contradiction
from lakeprune.report.diagnosis.rules.engine_differs import engine_differs
from lakeprune.report.diagnosis.rules.excludes_little import excludes_little
from lakeprune.report.diagnosis.rules.guards import timestamp_zone_unknown, truncated_string_bounds, wide_bounds_deletion_vectors
from lakeprune.report.diagnosis.rules.layout import small_files, weak_data_skipping
from lakeprune.report.diagnosis.rules.manifests_overlap import manifests_overlap
from lakeprune.report.diagnosis.rules.metrics_missing import metrics_missing
from lakeprune.report.diagnosis.rules.missing_statistics import excluded_statistics, missing_statistics, partial_statistics
from lakeprune.report.diagnosis.rules.nan import undefined_nan
from lakeprune.report.diagnosis.rules.nothing_left import nothing_left
from lakeprune.report.diagnosis.rules.opaque_expression import opaque_expression
from lakeprune.report.diagnosis.rules.partition_filter import no_partition_filter
from lakeprune.report.diagnosis.rules.transform_hides_range import transform_hides_range
from lakeprune.report.diagnosis.rules.unsplittable import unsplittable_or
from lakeprune.report.engines import EngineRead
from lakeprune.report.model import Diagnosis, Severity
from lakeprune.skipping.plan import Plan

RULES: dict[Code, Callable[[Case], list[Finding] | Investigation]] = {
    Code.NOTHING_LEFT: nothing_left,
    Code.CONTRADICTION: contradiction,
    Code.ALWAYS_TRUE: always_true,
    Code.EXCLUDES_LITTLE: excludes_little,
    Code.OPAQUE_EXPRESSION: opaque_expression,
    Code.UNSPLITTABLE_OR: unsplittable_or,
    Code.MISSING_STATS: missing_statistics,
    Code.STATS_BEYOND_INDEXED_COLUMNS: excluded_statistics,
    Code.PARTIAL_STATS: partial_statistics,
    Code.METRICS_MISSING: metrics_missing,
    Code.TRANSFORM_HIDES_RANGE: transform_hides_range,
    Code.MANIFESTS_OVERLAP: manifests_overlap,
    Code.WEAK_DATA_SKIPPING: weak_data_skipping,
    Code.SMALL_FILES: small_files,
    Code.TRUNCATED_STRING_BOUNDS: truncated_string_bounds,
    Code.UNDEFINED_NAN: undefined_nan,
    Code.TIMESTAMP_ZONE_UNKNOWN: timestamp_zone_unknown,
    Code.WIDE_BOUNDS_DELETION_VECTORS: wide_bounds_deletion_vectors,
    Code.ENGINE_DIFFERS: engine_differs,
    Code.NO_PARTITION_FILTER: no_partition_filter,  # last: it asks what is meant
}
LIMIT = 10_000  # clauses times terms: rules plan the whole predicate again for a clause; this many take some ten seconds


def diagnose(
    evaluation: Evaluation,
    question: Question,
    patterns: list[Pattern],
    numbers: Attribution,
    engines: tuple[EngineRead, ...] = (),
) -> tuple[Diagnosis, ...]:
    """What there is to say about this question on this table; nothing when there is nothing to read or to improve."""
    if (excess := _too_large(question.plan)) is not None:
        return (Diagnosis(Code.PREDICATE_TOO_LARGE.value, *astuple(excess)),)
    asked = (question.plan, tuple(patterns), numbers, question.conjuncts, question.tautologies)
    found = _found(Case(evaluation, *asked, next(iter(engines), None)))
    diagnoses = [Diagnosis(code.value, *astuple(finding)) for code in RULES for finding in found[code]]
    return tuple(sorted(diagnoses, key=lambda diagnosis: diagnosis.severity is not Severity.WARNING))


def _too_large(plan: Plan) -> Finding | None:
    clauses = len(plan.clauses)
    terms = sum(1 for clause in plan.clauses for _ in nodes(clause.predicate))
    if clauses * terms <= LIMIT:
        return None
    return Finding(
        severity=Severity.INFO,
        message=f"the predicate has {clauses} clauses with {terms} terms: trying variants of it would take too long",
        numbers={"clauses": clauses, "terms": terms, "limit": LIMIT},
        suggestion="ask about a part of it, or put long lists of values into one IN",
    )


def _found(case: Case) -> dict[Code, list[Finding]]:
    """The findings of every rule; round by round all investigations ask, then all of them are answered."""
    found: dict[Code, list[Finding]] = {}
    asking: dict[Code, Investigation] = {}
    for code, rule in RULES.items():
        given = rule(case)
        if isinstance(given, list):
            found[code] = given
        else:
            asking[code] = given
    answers: dict[Code, list[Patterns] | None] = dict.fromkeys(asking)
    while answers:
        wanted = {}
        for code, answer in answers.items():
            try:
                wanted[code] = next(asking[code]) if answer is None else asking[code].send(answer)
            except StopIteration as done:
                found[code] = done.value
        plans = [plan for several in wanted.values() for plan in several]
        patterns = iter(case.evaluation.patterns(plans) if plans else [])
        answers = {code: [next(patterns) for _ in several] for code, several in wanted.items()}
    return found
