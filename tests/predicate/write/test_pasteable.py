"""The plain rewrite of a normalised predicate: read back, it filters the same rows, NULL and clock changes included."""

from __future__ import annotations

import pytest
from hypothesis import given, reject, settings

from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.functions.evaluate import Row, evaluate
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.passes.normalise import normalise
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Schema
from lakeprune.predicate.tree import FALSE, NULL, Expr, IsNull, Member, Not, NullTest, Or, Profile
from lakeprune.predicate.write.pasteable import implied, is_exact, plain_sql
from lakeprune.values.intervals import IntervalSet, everything, nothing
from lakeprune.values.types import INT
from tests.generator.trees import COLUMNS, DATA, TYPES, Asked, predicates, rows

SCHEMA = Schema(tuple(Field(name, name, type_) for name, type_ in TYPES.items()))


def read(text: str, profile: Profile) -> Expr:
    return bind(parse_predicate(text, profile), SCHEMA, profile, text)


def is_true(expr: Expr, row: Row, profile: Profile) -> bool:
    try:
        return evaluate(expr, row, profile) is True
    except EvaluationFailed:
        reject()


@settings(max_examples=60, deadline=None)
@given(predicates(DATA), rows(DATA))
def test_a_rewrite_filters_the_same_rows(asked: Asked, row: Row) -> None:
    expr, profile = asked
    found = normalise(expr, profile)
    exact, weaker = plain_sql(found, profile.zone) if is_exact(found) else None, plain_sql(implied(found), profile.zone)
    truth = is_true(expr, row, profile)
    if exact is not None:
        assert is_true(read(exact, profile), row, profile) == truth
    if weaker is not None and truth:
        assert is_true(read(weaker, profile), row, profile)


@pytest.mark.parametrize("values", [everything(INT), nothing(INT)])
def test_a_set_of_all_or_no_values_is_null_where_the_column_is(values: IntervalSet) -> None:
    member = Member(COLUMNS["i"], values)
    assert plain_sql(IsNull(member), "UTC") == "i IS NULL"
    assert plain_sql(Not(Or((member, IsNull(member)))), "UTC") is None
    assert plain_sql(IsNull(Or((member, member))), "UTC") is None


def test_what_is_implied_has_no_leg_that_is_never_true_and_no_double_negation() -> None:
    name, column = next(iter(COLUMNS.items()))
    for never in (FALSE, NULL):
        assert plain_sql(implied(Or((Not(NullTest(column)), never))), "UTC") == f"{name} IS NOT NULL"
    assert implied(Or((FALSE, NULL))) == FALSE
