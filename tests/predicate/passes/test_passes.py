"""Normalising never changes the truth of a predicate on any row."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.predicate.functions.evaluate import evaluate
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.passes.normalise import normalise
from lakeprune.predicate.tree import (
    FALSE,
    NULL,
    And,
    Call,
    Column,
    ColumnCompare,
    Compare,
    Either,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Member,
    Not,
    NullTest,
    Op,
    Opaque,
    Or,
    Profile,
)
from lakeprune.values.intervals import compare, everything, nothing, prefixed, values
from lakeprune.values.types import BOOLEAN, DOUBLE, INT, STRING, DataType, Kind, Scalar
from tests.predicate.random_trees import COLUMNS, PARTITIONS, ZONES, outcomes, predicates, rows

UTC = Profile(now=0)
PROFILES = st.sampled_from(ZONES).map(lambda zone: Profile(now=0, zone=zone))
EVERY_COLUMN = {**COLUMNS, **{f"p_{name}": column for name, column in PARTITIONS.items()}}
N, X, F, S, T = (COLUMNS[name] for name in "ixfst")
DECIMAL = DataType(Kind.DECIMAL, 5, 3)
ONE_TO_NINE = compare(">=", 1.0, DOUBLE).intersect(compare("<=", 9.0, DOUBLE))  # without NaN


@settings(max_examples=300, deadline=None)
@given(predicates(EVERY_COLUMN, 2), st.lists(rows(EVERY_COLUMN), min_size=1, max_size=4), PROFILES)
def test_normalising_keeps_the_truth_on_every_row(predicate: Expr, found: list[dict[Column, Scalar]], profile: Profile) -> None:
    after = normalise(predicate, profile)
    for row in found:
        try:
            truth = evaluate(predicate, row, profile)
            possible = outcomes(after, row, profile)
        except EvaluationFailed:
            continue
        assert truth in possible, (row, after)


def lit(value: Scalar, type_: DataType = INT) -> Literal:
    return Literal(value, type_)


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (Compare(Op.LT, N, lit(Decimal("3.5"), DECIMAL)), Member(N, compare("<=", 3, INT))),
        (Compare(Op.GT, lit(3), N), Member(N, compare("<", 3, INT))),
        (Compare(Op.EQ, N, lit(Decimal("3.5"), DECIMAL)), Member(N, nothing(INT))),
        (Compare(Op.LT, N, lit(2**40)), Member(N, everything(INT))),
        (Compare(Op.EQ, N, lit(None)), NULL),
        (Compare(Op.NULL_SAFE_EQ, N, lit(None)), NullTest(N)),
        (In(N, (lit(1), lit(None))), Or((Member(N, values([1], INT)), NULL))),
        (Not(In(N, (lit(1), lit(None)))), And((Member(N, compare("!=", 1, INT)), NULL))),
        (And((Compare(Op.GT, N, lit(5)), Compare(Op.LT, N, lit(3)))), Member(N, nothing(INT))),
        (Not(Or((Compare(Op.LT, N, lit(5)), Compare(Op.GT, N, lit(9))))), Member(N, values(range(5, 10), INT))),
        (Like(S, lit("ab%", STRING)), Member(S, prefixed("ab"))),
        (Like(S, lit("a\\_b%", STRING)), Member(S, prefixed("a_b"))),
        (Like(S, lit("ab", STRING)), Member(S, values(["ab"], STRING))),
        (Like(S, lit("%", STRING)), Member(S, everything(STRING))),
        (IsNull(Compare(Op.LT, N, lit(3))), NullTest(N)),
        (Compare(Op.GT, N, N), ColumnCompare(Op.LT, N, N)),
        (And((FALSE, Compare(Op.LT, N, lit(3)))), FALSE),
        (
            And((Compare(Op.GE, X, lit(1.0, DOUBLE)), Compare(Op.LE, X, lit(9.0, DOUBLE)))),
            Member(X, ONE_TO_NINE),
        ),
    ],
)
def test_leaves_end_in_one_form(predicate: Expr, expected: Expr) -> None:
    assert normalise(predicate, UTC) == expected


def test_a_decimal_that_is_no_float_is_read_both_ways() -> None:
    after = normalise(Compare(Op.EQ, F, lit(Decimal("0.1"), DECIMAL)), UTC)
    assert isinstance(after, Either)
    assert isinstance(after.outer, Member)
    assert after.outer.values.contains(0.10000000149011612)
    assert isinstance(after.inner, Member)
    assert after.inner.values.is_empty()


def test_a_prefix_before_other_wildcards_still_prunes() -> None:
    after = normalise(Like(S, lit("ab%c", STRING)), UTC)
    assert isinstance(after, And)
    assert after.parts[0] == Member(S, prefixed("ab"))
    assert isinstance(after.parts[1], Opaque)


def test_common_conjuncts_are_factored_out_of_an_or() -> None:
    same, left, right = Compare(Op.EQ, N, lit(1)), Compare(Op.GT, X, lit(5.0, DOUBLE)), IsNull(T)
    after = normalise(Or((And((same, left)), And((same, right)))), UTC)
    assert after == And((Member(N, values([1], INT)), Or((Member(X, compare(">", 5.0, DOUBLE)), NullTest(T)))))


@pytest.mark.parametrize("number", [None, 3, 9])
@pytest.mark.parametrize("text", [None, "a", "b"])
def test_a_case_whose_branches_are_predicates_keeps_its_truth(number: Scalar, text: Scalar) -> None:
    """`CASE WHEN i > 5 THEN s = 'a' ELSE s IS NULL END` as a condition of its own."""
    branches = (Compare(Op.GT, N, lit(5)), Compare(Op.EQ, S, lit("a", STRING)), IsNull(S))
    predicate = Call("case", branches, BOOLEAN)
    row: dict[Column, Scalar] = {N: number, S: text}
    for asked in (predicate, Not(predicate), And((predicate, Compare(Op.GT, N, lit(4))))):
        assert evaluate(asked, row, UTC) in outcomes(normalise(asked, UTC), row, UTC)
