"""RLIKE without backtracking: the answers of `re`, in time that no pattern can stretch."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lakeprune.predicate.functions.automaton import MAX_STATES, MAX_WORK
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.functions.regular_expression import MAX_DEPTH, is_found
from tests.scope import share_of

ATOMS = ["a", "b", "1", " ", ".", "[ab]", "[^a]", "[a-b1]", r"\d", r"\w", r"\s", r"\.", r"[\d.]", "^", "$", r"\$", ""]
QUANTIFIERS = ["", "", "", "*", "+", "?", "{2}", "{0}", "{1,2}", "{2,}", "{0,1}"]


@st.composite
def patterns(draw: st.DrawFn, depth: int = 3) -> str:
    """Alternatives of sequences of quantified atoms and groups."""
    branches = []
    for _ in range(draw(st.integers(1, 3 if depth else 1))):
        pieces = []
        for _ in range(draw(st.integers(0, 3))):
            grouped = depth > 0 and draw(st.booleans())
            atom = f"({draw(patterns(depth - 1))})" if grouped else draw(st.sampled_from(ATOMS))
            pieces.append(atom + (draw(st.sampled_from(QUANTIFIERS)) if atom not in ("^", "$", "") else ""))
        branches.append("".join(pieces))
    return "|".join(branches)


@settings(max_examples=share_of(400), deadline=None)
@given(patterns(), st.text("ab1 .$", max_size=7))
@example("(^|x)(^|y)z", "z")
@example("(a|b$)+$", "ab")
@example("()*|(a{0}){3}b", "b")
@example("(^)+(^)a|($)b", "a")
def test_what_is_found_is_what_re_finds(pattern: str, text: str) -> None:
    try:
        found = is_found(pattern, text)
    except EvaluationFailed:
        return
    assert found == (re.search(pattern, text, re.ASCII) is not None)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 5000 + "b"),
        ("^(a|a)*$", "a" * 5000 + "b"),
        ("(a|aa)+$", "a" * 5000 + "b"),
        ("(.*)(.*)(.*)(.*)(.*)(.*)x", "a" * 5000),
        ("(a?){30}a{30}", "a" * 29),
        ("(((a*)*)*)*b", "a" * 5000),
        ("([a-z]+)*[0-9]", "a" * 5000),
        ("(x+x+)+y", "x" * 5000),
        ("a*" * 50 + "b", "a" * 1000),
    ],
)
def test_no_pattern_backtracks(pattern: str, text: str) -> None:
    started = time.process_time()
    assert not is_found(pattern, text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("pattern", "text", "why"),
    [
        ("a{99999999999}", "a", f"{MAX_STATES:,} states"),
        ("((a{100}){100}){100}", "a", f"{MAX_STATES:,} states"),
        ("a" * (MAX_STATES + 1), "a", f"{MAX_STATES:,} characters"),
        ("(" * 60 + ")" * 60, "a", f"{MAX_DEPTH} groups"),
        ("(a|b)*a(a|b){20}c", "a", f"{MAX_WORK:,} steps"),
        ("(a", "a", "not closed"),
        ("a)", "a", "is not a regular expression"),
        ("a{2,1}", "a", "quantifier"),
        ("[z-a]", "a", "class"),
        (r"(a)\1", "aa", "may mean something else in Java"),
        ("(?=a)a", "a", "may mean something else in Java"),
        ("a$+", "a", "may mean something else in Java"),
        ("a", "a\n", "line ends"),
    ],
)
def test_what_exceeds_a_limit_or_the_common_syntax_has_no_answer(pattern: str, text: str, why: str) -> None:
    with pytest.raises(EvaluationFailed, match=re.escape(why)):
        is_found(pattern, text)


def test_a_long_row_of_empty_groups_is_built_at_once() -> None:
    started = time.process_time()
    assert is_found("((((){1000000}){1000000})*x|(()()()()()(){9})*){40}", "x")
    assert time.process_time() - started < 1
