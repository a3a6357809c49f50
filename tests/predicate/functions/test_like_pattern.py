"""LIKE against a plain definition of it, and patterns that would take forever place by place."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.predicate.functions.like_pattern import MAX_STEPS, Wildcard, matches, pieces_of
from tests.scope import share_of


def is_like(text: str, pattern: str) -> bool:
    """The definition: % takes any number of characters, _ takes one."""
    reached = {0}
    for character in pattern:
        if character == "%":
            reached = set(range(min(reached, default=len(text) + 1), len(text) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(text) and character in ("_", text[at])}
    return len(text) in reached


@settings(max_examples=share_of(1000), deadline=None)
@given(st.text("ab", max_size=9), st.text("ab%_", max_size=9))
def test_matches_is_the_definition(text: str, pattern: str) -> None:
    assert matches(text, pieces_of(pattern)) == is_like(text, pattern)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("a" * 100_000, "%" + "a%" * 25_000 + "b"),
        ("a" * 100_000, "%" + "a" * 50_000 + "b%"),
        ("a" * 100_000, "%" + "_%" * 50_000 + "b"),
        ("ab" * 50_000, "%" + "b%a%" * 25_000 + "c"),
        ("a" * 50_000, "%" + "_" * 49_000 + "b%"),
        ("a" * 20_000, "%" + "a_" * 20 + "b%"),
    ],
)
def test_no_pattern_is_tried_everywhere(text: str, pattern: str) -> None:
    started = time.process_time()
    assert not matches(text, pieces_of(pattern))
    assert time.process_time() - started < 2


def test_what_takes_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match=f"{MAX_STEPS:,} steps"):
        matches("a" * 10_000, pieces_of("%" + "a_" * 500 + "b%"))
    assert pieces_of("%_")[0] is Wildcard.ANY
