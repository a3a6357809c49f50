"""The SET of an UPDATE: cut into assignments, and refused where it is none."""

from __future__ import annotations

from typing import Any

import pytest

from lakeprune.apps.statements.assignments import assignments_of, check_columns
from lakeprune.errors import LakepruneError, PredicateError, StatementError, UsageError
from lakeprune.predicate.schema import Field, Schema
from lakeprune.values.types import LONG, DataType, Kind

SCHEMA = Schema(
    (
        Field("a", "a", LONG),
        Field("b c", "b c", LONG),
        Field("st", "st", DataType(Kind.STRUCT), children=(Field("x", "x", LONG), Field("y", "y", LONG))),
        Field("list", "list", DataType(Kind.ARRAY)),
        Field("g", "g", LONG),
    )
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a = 1", [(("a",), "1")]),
        ("a = 1, b = b + 1;", [(("a",), "1"), (("b",), "b + 1")]),
        ("st.x = concat(',', '='), `b c` = a = 1", [(("st", "x"), "concat(',', '=')"), (("b c",), "a = 1")]),
        ("a = CASE WHEN a = 1 THEN 2 ELSE f(3, 4) END -- , b = 2", [(("a",), "CASE WHEN a = 1 THEN 2 ELSE f(3, 4) END")]),
        ("a /* = 5 */ = /* , */ 1 + 2", [(("a",), "1 + 2")]),
        ("`x``y` = '--', z = \"/*\"", [(("x`y",), "'--'"), (("z",), '"/*"')]),
    ],
)
def test_text_is_cut_at_its_own_commas_and_first_equals_sign(text: str, found: Any) -> None:
    assert [(a.column, a.expression) for a in assignments_of(text)] == found


def test_a_mapping_says_the_same_as_text() -> None:
    given = assignments_of({"st.x": "1 -- one", "`b c`": "a + 1"})
    assert [(a.column, a.expression, a.target) for a in given] == [
        (("st", "x"), "1", "st.x"),
        (("b c",), "a + 1", "`b c`"),
    ]


@pytest.mark.parametrize(
    "text", ["", "a", "a =", "= 1", "a = 1,", ", a = 1", "a + 1 = 2", "a[0] = 1", "a.= 1", "a = (1", "a = 'x"]
)
def test_what_is_no_assignment_is_refused(text: str) -> None:
    with pytest.raises(StatementError) as refused:
        assignments_of(text)
    assert refused.value.code == "LP401"


@pytest.mark.parametrize("given", [5, ["a = 1"], {"a": 1}, {1: "a"}])
def test_what_is_no_text_is_refused(given: Any) -> None:
    with pytest.raises(UsageError) as refused:
        assignments_of(given)
    assert refused.value.code == "LP251"


@pytest.mark.parametrize(
    ("text", "error", "code", "words"),
    [
        ("aa = 1", PredicateError, "LP102", "did you mean a?"),
        ("st.z = 1", PredicateError, "LP102", "no `z` in st"),
        ("a = 1, A = 2", StatementError, "LP402", "A is set twice"),
        ("st = NULL, st.x = 1", StatementError, "LP402", "both whole and in part"),
        ("st.x = 1, ST.X = 2", StatementError, "LP402", "set twice"),
        ("g = 1", StatementError, "LP403", "generated as a + 1"),
        ("list.x = 1", StatementError, "LP403", "inside an array"),
    ],
)
def test_columns_that_cannot_be_set_are_refused(text: str, error: type[LakepruneError], code: str, words: str) -> None:
    with pytest.raises(error) as refused:
        check_columns(assignments_of(text), SCHEMA, {"g": "generated as a + 1"})
    assert refused.value.code == code
    assert words in str(refused.value)


def test_fields_of_one_struct_may_be_set_beside_each_other() -> None:
    check_columns(assignments_of("st.x = 1, st.y = 2, `B C` = 3"), SCHEMA, {})
