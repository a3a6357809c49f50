"""The conditions of a MERGE as values: their conjuncts, equalities, bare columns and names, read from the text once."""

from __future__ import annotations

import pytest

from lakeprune.apps.statements.merge.on import Conjunct, Equality, Side, check_on, conjuncts_of
from lakeprune.errors import StatementError


def one(text: str) -> Conjunct:
    (conjunct,) = conjuncts_of(text)
    return conjunct


@pytest.mark.parametrize(
    ("text", "conjuncts"),
    [
        ("t.a = s.a", ["t.a = s.a"]),
        ("(t.a = s.a AND ((t.b = s.b)))", ["t.a = s.a", "t.b = s.b"]),
        ("t.a = s.a AND t.b BETWEEN 1 AND 2", ["t.a = s.a", "t.b BETWEEN 1 AND 2"]),
        ("t.a = s.a OR t.b = s.b AND t.c = 1", ["t.a = s.a OR t.b = s.b AND t.c = 1"]),
        ("NOT (t.a = s.a AND t.b = 1)", ["NOT (t.a = s.a AND t.b = 1)"]),
        ("CASE WHEN t.a = 1 AND s.a = 2 THEN TRUE END AND t.b = ' and '", [
            "CASE WHEN t.a = 1 AND s.a = 2 THEN TRUE END",
            "t.b = ' and '",
        ]),
    ],
)  # fmt: skip
def test_a_condition_has_the_conjuncts_that_sql_gives_it(text: str, conjuncts: list[str]) -> None:
    assert [conjunct.text for conjunct in conjuncts_of(text)] == conjuncts


@pytest.mark.parametrize(
    ("text", "left", "right", "is_null_safe"),
    [
        ("t.a = s.a", ("t.a", ("a",)), ("s.a", ("s", "a")), False),
        ("t.a <=> concat(s.b, '=')", ("t.a", ("a",)), ("concat(s.b, '=')", None), True),
        ("(T . `a b`.c) == s.b + 1", ("(T . `a b`.c)", ("a b", "c")), ("s.b + 1", None), False),
        ("`t`.`x``y` = s.a", ("`t`.`x``y`", ("x`y",)), ("s.a", ("s", "a")), False),
        ("id = s.id", ("id", ("id",)), ("s.id", ("s", "id")), False),
        ("(s.d) = abs(t.d)", ("(s.d)", ("s", "d")), ("abs(t.d)", None), False),
        ("t = s.a", ("t", ("t",)), ("s.a", ("s", "a")), False),
    ],
)
def test_an_equality_has_two_sides_and_knows_bare_columns(
    text: str, left: tuple[str, tuple[str, ...] | None], right: tuple[str, tuple[str, ...] | None], is_null_safe: bool
) -> None:
    assert one(text).equality == Equality(Side(*left), Side(*right), is_null_safe)


@pytest.mark.parametrize(
    "text",
    ["NOT t.a = s.a", "! t.a = s.a", "t.a = s.a = TRUE", "t.a > s.a", "t.a BETWEEN s.a AND s.b", "t.a IN (s.a)", "t.a"],
)
def test_what_is_not_one_equality_has_no_sides(text: str) -> None:
    assert one(text).equality is None


def test_an_equality_inside_parentheses_is_found_at_its_own_level() -> None:
    first, second = conjuncts_of("((t.a = s.a) AND ((t.b) <=> (s.b)))")
    assert first.equality == Equality(Side("t.a", ("a",)), Side("s.a", ("s", "a")), is_null_safe=False)
    assert second.equality == Equality(Side("(t.b)", ("b",)), Side("(s.b)", ("s", "b")), is_null_safe=True)


@pytest.mark.parametrize(
    ("text", "unaliased"),
    [
        ("t.a = 1", "a = 1"),
        ("abs(t . `b`) > 't.c'", "abs(`b`) > 't.c'"),
        ("T.a.t.b = x.t.c", "a.t.b = x.t.c"),
        ("a + t.b * `t`.c < 5", "a + b * c < 5"),
    ],
)
def test_the_target_alone_reads_a_condition_without_its_alias(text: str, unaliased: str) -> None:
    assert one(text).unaliased == unaliased


def test_names_are_those_of_columns_functions_and_aliases_in_lower_case() -> None:
    assert one("lower(t.`A b`) = S.x").names == {"lower", "t", "a b", "s", "x"}


@pytest.mark.parametrize(
    ("on", "fix"),
    [
        ("id = id", "write t.id = s.id"),
        ("t.day = s.day AND (ID == id)", "write t.ID = s.ID"),
        ("`a b` <=> `a b` -- the key", "write t.`a b` = s.`a b`"),
    ],
)
def test_a_column_compared_with_itself_is_refused_with_what_was_meant(on: str, fix: str) -> None:
    with pytest.raises(StatementError) as refused:
        check_on(on)
    assert refused.value.code == "LP446"
    assert (refused.value.fix or "").startswith(f"{fix}: ")


@pytest.mark.parametrize("on", ["t.id = s.id", "id = key", "t.id = t.id", "s.id = s.id", "NOT id = id", "id = id + 1", "id > id"])
def test_whose_column_is_meant_elsewhere_is_for_spark(on: str) -> None:
    check_on(on)
