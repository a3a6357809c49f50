"""What is added to a scan: implied by its filters on every row, without what would make a connector lose one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from lakeprune.apps.sharpen.implied import ROUNDED, Conditions, conditions_of
from lakeprune.formats.delta.spark_usable import MOST_RANGES
from lakeprune.predicate.functions.evaluate import Row
from lakeprune.predicate.passes.split import written_clauses
from lakeprune.predicate.schema import Field, Schema
from lakeprune.predicate.tree import NULL, Or, Profile
from lakeprune.values.types import DataType, Kind
from tests.apps.statements.test_strengthen import FACTS, FLAT, is_true, read
from tests.generator.trees import DATA, EVERY, Asked, predicates, rows

UTC = Profile(now=0)
PARTITIONED = replace(FLAT, schema=Schema(tuple(Field(s.path[0], s.path[0], s.bound.type, s.bound.role) for s in EVERY)))


def conditions(where: str, zone: str = "UTC") -> Conditions:
    profile = Profile(now=0, zone=zone)
    return conditions_of(written_clauses(read(where, profile, FACTS), profile), FACTS, profile)


@settings(max_examples=80, deadline=None)
@given(predicates(DATA), rows(DATA))
def test_what_is_added_is_true_wherever_the_filter_is(asked: Asked, row: Row) -> None:
    expr, profile = asked
    found = conditions_of(written_clauses(expr, profile), FLAT, profile)
    if found.added and is_true(expr, row, profile):
        for condition in found.added:  # texts are in UTC, whatever the zone of the session
            assert is_true(read(condition, UTC), row, UTC), condition


@settings(max_examples=80, deadline=None)
@given(predicates(EVERY), predicates(EVERY), rows(EVERY))
def test_a_row_of_the_filter_lies_in_exactly_one_branch(asked: Asked, other: Asked, row: Row) -> None:
    expr, profile = Or((asked[0], other[0])), asked[1]
    found = conditions_of(written_clauses(expr, profile), PARTITIONED, profile)
    if found.branches and is_true(expr, row, profile):
        in_branch = [all(is_true(read(text, UTC, PARTITIONED), row, UTC) for text in branch) for branch in found.branches]
        assert in_branch.count(True) == 1


@pytest.mark.parametrize(
    ("where", "added"),
    [
        ("year(t) = 2024", ("t >= '2024-01-01' AND t < '2025-01-01'",)),
        ("l IN (5, 1995)", ("l = 5 OR l = 1995",)),
        ("(h = 1 AND l < 3) OR (h = 2 AND l > 7)", ("h = 1 OR h = 2", "l <= 2 OR l >= 8")),
        ("s RLIKE '^abc'", ("s LIKE 'abc%'",)),
        ("CAST(l AS STRING) = '505'", ("l = 505",)),
        ("abs(f) < 5", ("f > -5.0D AND f < 5.0D",)),
    ],
)
def test_what_the_connector_cannot_use_gains_comparisons(where: str, added: tuple[str, ...]) -> None:
    assert conditions(where).added == added


def test_times_are_written_in_utc() -> None:
    assert conditions("year(t) = 2024", "Europe/Berlin").added == ("t >= '2023-12-31 23:00:00' AND t < '2024-12-31 23:00:00'",)


@pytest.mark.parametrize("where", ["abs(f) > 5", "NOT abs(f) <= 5", "NOT (abs(f) BETWEEN 1 AND 5)"])
def test_no_condition_that_nan_satisfies_is_added(where: str) -> None:
    assert conditions(where).added == ()


def test_no_condition_on_rounded_bounds_is_added() -> None:
    """T93: deltalake cuts bounds of a DECIMAL(38, 0) at 64 bits, and Delta Spark would skip the file."""
    schema = Schema(
        (Field("wide", "wide", DataType(Kind.DECIMAL, 38, 0)), Field("price", "price", DataType(Kind.DECIMAL, 10, 2)))
    )
    facts = replace(FLAT, schema=schema)

    def found(where: str) -> Conditions:
        return conditions_of(written_clauses(read(where, UTC, facts), UTC), facts, UTC)

    assert found("wide IN (1, 5)") == Conditions(("wide IS NOT NULL",), (), (("wide IN (1, 5)", ROUNDED),))
    assert found("price IN (1, 5)").added == ("price = 1.00 OR price = 5.00",)


@pytest.mark.parametrize("where", ["l > 5", "h % 2 = 1", "h IN (1, 2)", "s LIKE 'a%'", "TRUE"])
def test_nothing_is_added_to_what_delta_uses(where: str) -> None:
    assert conditions(where) == Conditions((), (), ())


@pytest.mark.parametrize("where", ["l = i", "b", "length(s) = 3", "l % 2 = 0"])
def test_what_implies_nothing_is_named(where: str) -> None:
    found = conditions(where)
    assert found.added == ()
    assert [clause for clause, why in found.refused if why] == [where]


def test_an_or_of_partitions_and_data_is_divided() -> None:
    assert conditions("h = 1 OR l = 5").branches == (("h = 1",), ("NOT coalesce(h = 1, FALSE)", "l = 5"))
    assert conditions("l = 5 OR h = 1").branches == (("h = 1",), ("NOT coalesce(h = 1, FALSE)", "l = 5"))
    first, second = conditions("(h = 1 AND l < 3) OR (h = 2 AND l > 7)").branches
    assert first[:2] == ("h = 1", "l <= 2")
    assert second[:3] == ("NOT coalesce(h = 1, FALSE)", "h = 2", "l >= 8")
    assert conditions("l = 5 OR l + 1 = 3").branches == ()


def test_a_leg_that_is_never_true_asks_for_nothing() -> None:
    expr = Or((NULL, read("h = 1", UTC, FACTS), read("l = 5", UTC, FACTS)))
    found = conditions_of(written_clauses(expr, UTC), FACTS, UTC)
    assert not any("NULL" in condition for branch in found.branches for condition in branch)
    assert len(found.branches) == 2


def test_a_long_list_becomes_ranges() -> None:
    (condition,) = conditions(f"l IN ({', '.join(str(7 * n) for n in range(1000))})").added
    assert condition.count(" OR ") == MOST_RANGES - 1


@pytest.mark.parametrize(
    ("where", "added"),
    [
        ("l BETWEEN 10 AND 5", ("FALSE",)),
        ("round(i) = 601", ("i IS NOT NULL",)),
        ("i IN (601, l)", ("i IS NOT NULL",)),
        ("trim(s) = 'w601'", ("s IS NOT NULL",)),
        ("struct(l, i) = struct(505L, 5)", ("l = 505 AND (l IS NOT NULL)", "i = 5 AND (i IS NOT NULL)")),
        ("round(i) = 601 OR l = 1", ()),
        ("length(s) = 3", ()),  # Spark infers that s has a value
    ],
)
def test_what_functions_lists_and_structs_demand_of_their_columns(where: str, added: tuple[str, ...]) -> None:
    assert conditions(where).added == added
