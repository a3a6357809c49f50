"""Matches and groups as a backtracking engine finds them, without backtracking."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.functions.matching import Matcher
from tests.scope import share_of

atoms = st.sampled_from(["a", "b", "c", ".", "[ab]", "[^a]", r"\w", "^", "$"])
patterns = st.recursive(
    atoms,
    lambda parts: st.one_of(
        st.lists(parts, min_size=1, max_size=3).map("".join),
        st.lists(parts, min_size=1, max_size=3).map(lambda found: f"({'|'.join(found)})"),
        st.tuples(parts, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{2,}"])).map(lambda pair: f"({pair[0]}){pair[1]}"),
    ),
    max_leaves=8,
)


def backtracked(pattern: str, text: str) -> Iterator[tuple[int, ...]]:
    """The matches as Java's `Matcher.find` goes on: one character behind an empty match (Python would try there again)."""
    start = 0
    while start <= len(text) and (match := re.compile(pattern).search(text, start)) is not None:
        yield tuple(edge for group in range(match.re.groups + 1) for edge in match.span(group))
        start = match.end() + (match.start() == match.end())


@settings(max_examples=share_of(2000), deadline=None)
@given(patterns, st.text("abc-", max_size=8))
def test_it_finds_what_a_backtracking_engine_finds_first(pattern: str, text: str) -> None:
    try:
        found = list(Matcher(pattern).matches(text))
    except EvaluationFailed:
        return
    assert found == list(backtracked(pattern, text))


def test_alternatives_are_tried_in_their_order() -> None:
    assert next(Matcher("(a|ab)(c|bcd)").matches("xabcd")) == (1, 5, 1, 2, 2, 5)


def test_a_group_holds_its_last_repetition() -> None:
    assert next(Matcher("((a)|b)+").matches("ab")) == (0, 2, 1, 2, 0, 1)


@pytest.mark.parametrize("pattern", ["(a*)*", "(a|b*)+", "(^)*a", "(a?){2,}", "a*?", "a*+", "(?i)a", r"(a)\1", "[a&&b]"])
def test_what_engines_may_read_otherwise_has_no_answer(pattern: str) -> None:
    with pytest.raises(EvaluationFailed):
        Matcher(pattern)


def test_a_pattern_that_would_backtrack_for_ever_ends() -> None:
    assert list(Matcher("(a+)+$").matches("a" * 2_000 + "b")) == []


def test_too_many_steps_have_no_answer() -> None:
    with pytest.raises(EvaluationFailed, match="steps"):
        list(Matcher("a(.*b)?").matches("a" * 5_000))


def test_a_pattern_of_too_many_states_has_no_answer() -> None:
    with pytest.raises(EvaluationFailed, match="states"):
        Matcher("(a{30}){40}")
