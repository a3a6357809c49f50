"""Predicates beyond a limit: clauses are used in order, and one that exceeds a limit is opaque with the limit in its reason."""

from __future__ import annotations

import pytest

from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.passes.limit_terms import MAX_COLUMNS, MAX_EXPRESSIONS, MAX_TERMS
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.predicate.tree import Opaque, Profile
from lakeprune.predicate.walk import nodes
from lakeprune.values.types import INT, STRING

PROFILE = Profile(now=0)
SCHEMA = Schema((
    *(Field(f"c{n}", f"c{n}", INT) for n in range(2 * MAX_COLUMNS)),
    Field("p", "p", STRING, Role.PARTITION),
))  # fmt: skip


def opaque_clauses(text: str) -> list[str]:
    clauses = split(bind(parse_predicate(text, PROFILE), SCHEMA, PROFILE, text), PROFILE)
    return [clause.reasons[0].message for clause in clauses if any(isinstance(n, Opaque) for n in nodes(clause.predicate))]


@pytest.mark.parametrize(("text", "message"), [
    (" AND ".join(f"c{n} > 1" for n in range(MAX_COLUMNS + 3)), f"{MAX_COLUMNS + 1} columns; {MAX_COLUMNS:,} are used"),
    (
        " AND ".join(f"length(concat(p, '{n}')) = {n}" for n in range(MAX_EXPRESSIONS + 3)),
        f"{MAX_EXPRESSIONS + 1} expressions over partition columns; {MAX_EXPRESSIONS:,} are used",
    ),
    (
        " AND ".join(f"(c0 = {n} OR c1 = {n})" for n in range(MAX_TERMS // 2 + 3)),
        f"{MAX_TERMS + 2:,} terms; {MAX_TERMS:,} are used",
    ),
])  # fmt: skip
def test_clauses_beyond_a_limit_are_opaque(text: str, message: str) -> None:
    found = opaque_clauses(text)
    assert found == [f"with this clause the predicate has {message}"] * 3
    assert opaque_clauses(text.rsplit(" AND ", 3)[0]) == []


def test_a_large_clause_does_not_take_the_room_of_later_ones() -> None:
    large = " OR ".join(f"(c0 = {n} AND c1 = {n})" for n in range(MAX_TERMS))
    assert len(opaque_clauses(f"({large}) AND c5 = 1 AND c6 = 2")) == 1


def test_functions_inside_each_other_end_as_an_opaque_clause() -> None:
    assert opaque_clauses("c0" + " + 1" * 60 + " = 5") == ["more than 8 functions inside each other"]
    assert opaque_clauses("abs(" * 20 + "c0" + ")" * 20 + " = 5") == ["more than 8 functions inside each other"]
    assert opaque_clauses("abs(abs(c0 + 1) + 1) = 5") == []
