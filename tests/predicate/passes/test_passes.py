"""Passes: what each does to a condition, as pairs of SQL texts; and none of them ever changes the truth on a row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.functions.evaluate import evaluate
from lakeprune.predicate.passes.normalise import COMBINE, MERGE, STATE, Pass, normalise
from lakeprune.predicate.passes.unwrap_functions import has_functions, unwrap_functions
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.predicate.tree import Column, Either, Exact, Expr, Member, Opaque, Profile
from lakeprune.predicate.walk import nodes
from lakeprune.predicate.write.show import show
from lakeprune.values.types import BOOLEAN, DATE, DOUBLE, INT, LONG, STRING, TIMESTAMP, TIMESTAMP_NTZ, DataType, Kind, Scalar
from tests.generator.trees import EVERY, Asked, predicates, rows
from tests.predicate.outcomes import check_truths, outcomes
from tests.scope import share_of

UTC = Profile(now=0)
TYPES = {
    "n": INT, "m": INT, "l": LONG, "c": DataType(Kind.DECIMAL, 5, 2), "x": DOUBLE, "f": DataType(Kind.FLOAT), "s": STRING,
    "u": DataType(Kind.STRING, collation="UTF8_LCASE"), "b": BOOLEAN, "d": DATE, "t": TIMESTAMP, "w": TIMESTAMP_NTZ,
}  # fmt: skip
PARTITION_TYPES = {"p": INT, "q": STRING, "e": DATE}
SCHEMA = Schema(
    tuple(
        Field(name, name, type_, Role.PARTITION if name in PARTITION_TYPES else Role.DATA)
        for name, type_ in {**TYPES, **PARTITION_TYPES}.items()
    )
)


def unwrap_all(expr: Expr, profile: Profile) -> Expr:
    while has_functions(expr):
        expr = unwrap_functions(expr, profile)
        for change in STATE:
            expr = change(expr, profile)
    return expr


PASSES: dict[str, Pass] = {change.__name__: change for change in (*STATE, *COMBINE)} | {"unwrap_functions": unwrap_all}
PASSES |= {change.__name__: change for change in MERGE}


def pairs() -> Iterator[tuple[str, str, str]]:
    """(pass, before, after) of every pair in the file."""
    text = Path(__file__).with_name("pairs.sql").read_text(encoding="utf-8")
    for name, section in re.findall(r"^-- (\w+)\n((?:[^-\n].*\n)+)", text, re.MULTILINE):
        lines = [line.removesuffix(";") for line in section.splitlines()]
        yield from ((name, *pair) for pair in zip(lines[::2], lines[1::2], strict=True))


def bound(text: str) -> Expr:
    return bind(parse_predicate(text, UTC), SCHEMA, UTC, text)


@pytest.mark.parametrize(("name", "before", "after"), list(pairs()))
def test_a_pass_rewrites_the_first_of_a_pair_as_the_second(name: str, before: str, after: str) -> None:
    expr = bound(before)
    for known, change in PASSES.items():
        expr = change(expr, UTC)
        if known == name:
            break
    assert show(expr) == after


def test_every_pass_has_its_pairs() -> None:
    assert {name for name, _, _ in pairs()} | {"settle_columns"} == set(PASSES)


@settings(max_examples=share_of(300), deadline=None)
@given(predicates(EVERY), st.lists(rows(EVERY), min_size=1, max_size=4))
def test_normalising_keeps_the_truth_on_every_row(asked: Asked, found: list[dict[Column, Scalar]]) -> None:
    predicate, profile = asked
    after = normalise(predicate, profile)
    check_truths(predicate, after, found, profile)


def test_a_contradiction_is_an_empty_set_that_is_null_for_null() -> None:
    for text in ("n = 3.5", "n > 5 AND n < 3"):
        found = normalise(bound(text), UTC)
        assert isinstance(found, Member)
        assert found.values.is_empty()


def test_a_bounded_range_of_doubles_is_without_nan() -> None:
    found = normalise(bound("x >= 1 AND x <= 9"), UTC)
    assert isinstance(found, Member)
    assert found.values.nan is False


def test_only_leaves_on_partition_columns_are_evaluated() -> None:
    found = normalise(bound("year(e) = 2024 AND lower(s) = 'a'"), UTC)
    assert [type(node) for node in nodes(found) if isinstance(node, Exact | Opaque)] == [Exact, Opaque]


def test_a_decimal_that_is_not_a_float_has_two_meanings() -> None:
    found = normalise(bound("f = 0.1"), UTC)
    assert isinstance(found, Either)
    assert isinstance(found.outer, Member)
    assert found.outer.values.contains(0.10000000149011612)
    assert isinstance(found.inner, Member)
    assert found.inner.values.is_empty()


@pytest.mark.parametrize("number", [None, 3, 9])
@pytest.mark.parametrize("text", [None, "a", "b"])
def test_a_case_whose_branches_are_predicates_keeps_its_truth(number: Scalar, text: Scalar) -> None:
    case = "CASE WHEN n > 5 THEN s = 'a' ELSE s IS NULL END"
    for asked in (case, f"NOT {case}", f"({case}) AND n > 4"):
        predicate = bound(asked)
        row = {column: {"n": number, "s": text}[column.path[0]] for column in nodes(predicate) if isinstance(column, Column)}
        assert evaluate(predicate, row, UTC) in outcomes(normalise(predicate, UTC), row, UTC)
