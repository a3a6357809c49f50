"""Why a predicate reads what it reads: every rule asked, all their questions answered in one pass per round.

In: a plan and its patterns. Out: diagnoses, warnings first, otherwise in the order of `RULES` and of the clauses. To add one:
a module in rules/, a line here, a page in docs/diagnoses/.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import astuple

from lakeprune.planning.question import Question
from lakeprune.programs.patterns import Evaluation, Pattern
from lakeprune.report.attribution import Attribution
from lakeprune.report.diagnosis.case import Case, Finding, Investigation, Patterns
from lakeprune.report.diagnosis.rules.always_true import always_true
from lakeprune.report.diagnosis.rules.contradiction import contradiction
from lakeprune.report.diagnosis.rules.engine_differs import engine_differs
from lakeprune.report.diagnosis.rules.missing_statistics import excluded_statistics, missing_statistics, partial_statistics
from lakeprune.report.diagnosis.rules.nan import undefined_nan
from lakeprune.report.diagnosis.rules.opaque_expression import opaque_expression
from lakeprune.report.diagnosis.rules.partition_filter import no_partition_filter
from lakeprune.report.diagnosis.rules.text_bounds import truncated_string_bounds
from lakeprune.report.diagnosis.rules.unsplittable import unsplittable_or
from lakeprune.report.diagnosis.rules.weak_skipping import weak_data_skipping
from lakeprune.report.diagnosis.rules.wide_bounds import wide_bounds_deletion_vectors
from lakeprune.report.diagnosis.rules.zone import timestamp_zone_unknown
from lakeprune.report.diagnosis.too_large import TOO_LARGE, too_large
from lakeprune.report.model import Diagnosis, Severity

ALWAYS_TRUE, ENGINE_DIFFERS = "ALWAYS_TRUE", "ENGINE_DIFFERS"  # which DataFrames look at again

RULES: dict[str, Callable[[Case], list[Finding] | Investigation]] = {
    "CONTRADICTION": contradiction,  # a clause that no row satisfies
    ALWAYS_TRUE: always_true,  # a clause that filters nothing
    "NO_PARTITION_FILTER": no_partition_filter,  # a partition column that no clause looks at
    "OPAQUE_EXPRESSION": opaque_expression,  # a clause that metadata cannot decide
    "UNSPLITTABLE_OR": unsplittable_or,  # an OR over partition and data columns
    "MISSING_STATS": missing_statistics,  # no candidate has a statistic that a clause needs
    "STATS_BEYOND_INDEXED_COLUMNS": excluded_statistics,  # the table's settings exclude it
    "PARTIAL_STATS": partial_statistics,  # some candidates lack a statistic that a clause needs
    "WEAK_DATA_SKIPPING": weak_data_skipping,  # the ranges of a column overlap
    "TRUNCATED_STRING_BOUNDS": truncated_string_bounds,  # the maximum of a text is truncated
    "UNDEFINED_NAN": undefined_nan,  # NaN may lie outside the bounds
    "TIMESTAMP_ZONE_UNKNOWN": timestamp_zone_unknown,  # partition timestamps without offset
    "WIDE_BOUNDS_DELETION_VECTORS": wide_bounds_deletion_vectors,  # bounds that cover deleted rows
    ENGINE_DIFFERS: engine_differs,  # the format's own engine reads more
}
CODES = (*RULES, TOO_LARGE)


def diagnose(evaluation: Evaluation, question: Question, patterns: list[Pattern], numbers: Attribution) -> tuple[Diagnosis, ...]:
    """What there is to say about this question on this table; nothing when there is nothing to read or to improve."""
    if (excess := too_large(question.plan)) is not None:
        return (excess,)
    found = _found(Case(evaluation, question.plan, tuple(patterns), numbers, question.conjuncts, question.tautologies))
    diagnoses = [Diagnosis(code, *astuple(finding)) for code in RULES for finding in found[code]]
    return tuple(sorted(diagnoses, key=lambda diagnosis: diagnosis.severity is not Severity.WARNING))


def _found(case: Case) -> dict[str, list[Finding]]:
    """The findings of every rule; round by round all investigations ask, then all of them are answered."""
    found: dict[str, list[Finding]] = {}
    asking: dict[str, Investigation] = {}
    for code, rule in RULES.items():
        given = rule(case)
        if isinstance(given, list):
            found[code] = given
        else:
            asking[code] = given
    answers: dict[str, list[Patterns] | None] = dict.fromkeys(asking)
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
