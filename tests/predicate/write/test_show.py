"""Trees as SQL text: readable, and read back as the same tree."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings

from lakeprune.errors import PredicateError
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import (
    And,
    Column,
    ColumnCompare,
    Compare,
    Either,
    Exact,
    Expr,
    Member,
    Not,
    NullTest,
    Op,
    Opaque,
    Or,
)
from lakeprune.predicate.write.show import show
from lakeprune.values.intervals import IntervalSet, between, compare, everything, nothing, prefixed
from lakeprune.values.intervals import values as points
from lakeprune.values.types import BOOLEAN, DATE, DOUBLE, INT, STRING, TIMESTAMP, DataType, Kind
from tests.predicate.bind.test_bind import bound, predicates
from tests.predicate.columns import PROFILE, SCHEMA
from tests.scope import share_of


@pytest.mark.parametrize(
    "text",
    [
        "country = 'DE' AND age > 40",
        "ts >= '2024-01-01' AND ts < '2025-01-01'",
        "age IN (1, 2)",
        "age NOT IN (1, NULL)",
        "age != 5",
        "name IS NOT NULL",
        "(age > 1 OR age < 0) AND NOT (active AND name = 'x')",
        "name LIKE 'a\\\\_b%'",
        "name NOT LIKE 'a!%' ESCAPE '!'",
        "age BETWEEN 1 AND 10 OR age NOT BETWEEN 20 AND 30",
        "`a.b` = 1 AND address.geo.lat > 1.5",
        "year(day) = 2024",
        "(age + 1) * 2 > 4 - (1 - 2)",
        "-age < 5",
        "CASE WHEN age > 3 THEN 1 ELSE 2 END = 1",
        "CAST(name AS INT) = 1",
        "CAST(total AS DECIMAL(10,2)) = 1",
        "age IS DISTINCT FROM 4",
        "age <=> NULL",
        "(age > 1) IS NOT TRUE",
        "name = 'it\\'s'",
        "raw = X'1F'",
        "ts + INTERVAL '3' DAY - INTERVAL '1.5' SECOND > '2024-01-01'",
        "price > 1.006",
        "active AND NOT active",
        "score > 1.5D",
        "TRUE OR NULL",
    ],
)
def test_plain_sql_is_shown_as_written(text: str) -> None:
    assert show(parse_predicate(text, PROFILE)) == text


def member(values: IntervalSet, type_: DataType, name: str = "x") -> str:
    return show(Member(Column((name,), (name,), type_, Role.DATA), values))


MICROS = 86_400_000_000


@pytest.mark.parametrize(
    ("values", "type_", "text"),
    [
        (compare("=", 5, INT), INT, "x = 5"),
        (compare("!=", 5, INT), INT, "x != 5"),
        (compare(">", 40, INT), INT, "x >= 41"),
        (points([1, 2, 7], INT).complement(), INT, "x <= 0 OR x BETWEEN 3 AND 6 OR x >= 8"),
        (points([1, 3, 7], INT).complement(), INT, "x NOT IN (1, 3, 7)"),
        (between(3, 9, INT), INT, "x BETWEEN 3 AND 9"),
        (points([1, 5], INT), INT, "x IN (1, 5)"),
        (nothing(INT), INT, "FALSE"),
        (everything(INT), INT, "x IS NOT NULL"),
        (compare("<", Decimal("1.006"), DataType(Kind.DECIMAL, 10, 2)), DataType(Kind.DECIMAL, 10, 2), "x <= 1.00"),
        (compare("=", 19727, DATE), DATE, "x = '2024-01-05'"),
        (between(19723 * MICROS, 20089 * MICROS - 1, TIMESTAMP), TIMESTAMP, "x >= '2024-01-01' AND x < '2025-01-01'"),
        (prefixed("ab_"), STRING, "x LIKE 'ab\\\\_%'"),
        (compare(">", 1.5, DOUBLE), DOUBLE, "x > 1.5D"),
        (compare("<", 1.5, DOUBLE), DOUBLE, "x < 1.5D"),
        (compare("!=", 1.5, DOUBLE), DOUBLE, "x != 1.5D"),
        (compare(">", 1.5, DOUBLE).intersect(compare("<", math.nan, DOUBLE)), DOUBLE, "x > 1.5D AND x < CAST('NaN' AS DOUBLE)"),
        (compare("=", math.nan, DOUBLE), DOUBLE, "x = CAST('NaN' AS DOUBLE)"),
        (compare("=", True, BOOLEAN), BOOLEAN, "x = TRUE"),
    ],
)
def test_sets_are_shown_as_the_natural_comparison(values: IntervalSet, type_: DataType, text: str) -> None:
    assert member(values, type_) == text


def test_long_lists_and_chains_are_shortened() -> None:
    assert show(bound(f"age IN ({', '.join(map(str, range(1000)))})")).endswith("18, 19, ... 980 more)")
    assert member(points(range(0, 3000, 3), INT), INT).endswith(", 57, ... 980 more)")
    assert show(parse_predicate(" OR ".join(["x = 1"] * 1000), PROFILE)).endswith("OR ... 980 more")


def test_nodes_of_the_passes() -> None:
    a, b = Column(("a",), ("a",), INT, Role.DATA), Column(("b", "c d"), ("b", "c"), INT, Role.DATA)
    five = Member(a, compare("=", 5, INT))
    assert show(ColumnCompare(Op.LT, a, b)) == "a < b.`c d`"
    assert show(Not(NullTest(b))) == "b.`c d` IS NOT NULL"
    assert show(Either(five, Member(a, nothing(INT)))) == "a = 5"
    assert show(Exact(five, (a,))) == "a = 5"
    opaque = Opaque("f(x) or g(x)", Reason(ReasonCode.UNSUPPORTED_EXPRESSION, "f"))
    assert show(And((opaque, five))) == "(f(x) or g(x)) AND a = 5"
    ranges = Member(a, points([1, 5, 6], INT))
    assert show(And((ranges, Or((five, opaque))))) == "(a = 1 OR a BETWEEN 5 AND 6) AND (a = 5 OR (f(x) or g(x)))"


def test_timestamps_are_shown_in_the_zone_asked_for() -> None:
    at = Member(Column(("ts",), ("ts",), TIMESTAMP, Role.DATA), compare("=", 0, TIMESTAMP))
    assert show(at) == "ts = '1970-01-01'"
    assert show(at, "+05:30") == "ts = '1970-01-01 05:30:00'"


@settings(max_examples=share_of(1500), deadline=None, derandomize=True)
@given(predicates)
def test_bound_predicates_are_read_back_as_they_were(text: str) -> None:
    try:
        first = bound(text)
    except PredicateError:
        return
    shown = show(first)
    again = bind(parse_predicate(shown, PROFILE), SCHEMA, PROFILE, shown)
    assert show(again) == shown
    # A date is shown as text, and text beside a number may be compared as text: `day IN (1, current_date())`.
    if not _has_opaque(first) and not _has_opaque(again):
        assert _same(again, first)


def test_chains_inside_truth_tests_are_flat() -> None:
    assert show(bound("age > 1 AND ((age < 9 AND name = 'a') = TRUE)")) == "age > 1 AND age < 9 AND name = 'a'"


def _has_opaque(expr: Any) -> bool:
    parts = expr if isinstance(expr, tuple) else [getattr(expr, f) for f in getattr(expr, "__struct_fields__", ())]
    return isinstance(expr, Opaque | Either) or any(_has_opaque(part) for part in parts)


def _same(left: Expr, right: Expr) -> bool:
    """Equal once `NOT (a = b)` is read as `a != b`, double NOT as none, and chains in parentheses are flat."""
    return bool(_plain(left) == _plain(right))


def _plain(expr: Any) -> Any:
    if isinstance(expr, tuple):
        return tuple(_plain(part) for part in expr)
    if isinstance(expr, Compare) and expr.op is Op.NE:
        return Not(_plain(Compare(Op.EQ, expr.left, expr.right)))
    if isinstance(expr, Not):
        inner = _plain(expr.part)
        return inner.part if isinstance(inner, Not) else Not(inner)
    if isinstance(expr, And | Or):
        flat: list[Any] = []
        for part in map(_plain, expr.parts):
            flat.extend(part.parts if type(part) is type(expr) else (part,))
        return type(expr)(tuple(flat))
    if isinstance(expr, float) and math.isnan(expr):
        return "NaN"
    if isinstance(expr, DataType) or not hasattr(expr, "__struct_fields__"):
        return expr
    return type(expr)(*(_plain(getattr(expr, field)) for field in expr.__struct_fields__))
