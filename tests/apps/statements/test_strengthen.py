"""What is added to a condition is TRUE on every row on which the condition is: with NULL, NaN, clock changes and long lists."""

from __future__ import annotations

from random import Random

from hypothesis import given, reject, settings

from lakeprune.apps.statements.strengthen import added_conditions, strengthened
from lakeprune.formats.delta.ladder import EVIDENCE
from lakeprune.formats.delta.spark_usable import MOST_RANGES
from lakeprune.formats.snapshot import SnapshotFacts, TableFeatures
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.functions.evaluate import Row, evaluate
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.passes.split import written_clauses
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.predicate.tree import Expr, Profile
from tests.generator.trees import COLUMNS, DATA, TYPES, Asked, predicates, rows
from tests.predicate.columns import PROFILE


def facts_of(partition: str | None) -> SnapshotFacts:
    fields = [Field(name, name, type_, Role.PARTITION if name == partition else Role.DATA) for name, type_ in TYPES.items()]
    return SnapshotFacts(
        "delta", "Delta table", EVIDENCE, "t", 0, Schema(tuple(fields)), (partition,) if partition else (), TableFeatures(1, 2)
    )


FLAT, FACTS = facts_of(None), facts_of("h")


def read(text: str, profile: Profile, facts: SnapshotFacts = FLAT) -> Expr:
    return bind(parse_predicate(text, profile), facts.schema, profile, text)


def is_true(expr: Expr, row: Row, profile: Profile) -> bool:
    try:
        return evaluate(expr, row, profile) is True
    except EvaluationFailed:
        reject()


def added(where: str, zone: str = "UTC") -> tuple[str, ...]:
    profile = Profile(now=0, zone=zone)
    return added_conditions(written_clauses(read(where, profile, FACTS), profile), FACTS, profile)


@settings(max_examples=60, deadline=None)
@given(predicates(DATA), rows(DATA))
def test_what_is_added_is_true_wherever_the_condition_is(asked: Asked, row: Row) -> None:
    expr, profile = asked
    for condition in added_conditions(written_clauses(expr, profile), FLAT, profile):
        if is_true(expr, row, profile):
            assert is_true(read(condition, profile), row, profile), condition


def test_functions_lists_and_mixed_branches_gain_plain_comparisons() -> None:
    assert added("year(t) = 2024") == ("t >= '2024-01-01' AND t < '2025-01-01'",)
    assert added("l IN (5, 1995)") == ("l = 5 OR l = 1995",)
    assert added("l + 1 = 506") == ("l = 505 OR l >= 9223372036854775807",), "the greatest value may overflow"
    assert added("(h = 1 AND l < 3) OR (h = 2 AND l > 7)") == ("h = 1 OR h = 2", "l <= 2 OR l >= 8")


def test_nothing_is_added_to_what_delta_uses_as_it_is_or_what_implies_nothing() -> None:
    for where in (
        "l > 5",
        "h % 2 = 1",
        "h IN (1, 2)",
        "l = i",
        "b",
        "my_function(l) = 5",
        "h = 1 OR l = 5",
        "s LIKE 'a%'",
        "TRUE",
    ):
        assert added(where) == (), where


def test_a_long_list_becomes_ranges_that_hold_all_of_it() -> None:
    listed = sorted(Random(1).sample(range(20_000), 1_000))
    (condition,) = added(f"l IN ({', '.join(map(str, listed))})")
    assert condition.count(" OR ") == MOST_RANGES - 1
    bound, column = read(condition, PROFILE), COLUMNS["l"]
    assert all(evaluate(bound, {column: value}, PROFILE) is True for value in listed[::3])
    (condition,) = added(f"NOT l IN ({', '.join(map(str, listed))})")
    bound, others = read(condition, PROFILE), sorted({*range(-5, 20_005)} - {*listed})
    assert all(evaluate(bound, {column: value}, PROFILE) is True for value in others[::29])


def test_the_condition_keeps_its_own_parentheses() -> None:
    assert strengthened("a = 1 OR b = 2", ["c = 3 OR d = 4"]) == "(a = 1 OR b = 2) AND (c = 3 OR d = 4)"
