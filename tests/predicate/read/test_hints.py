"""Text that is never meant is refused, and what only looks like it is read. The fixes are in tests/cli/test_messages.py."""

from __future__ import annotations

import pytest

from tests.predicate.read.test_sql import outcome


@pytest.mark.parametrize("text", ["x = y < 3", "1 < x < 5", "x = 'a' || y > 3"])
def test_comparisons_in_a_row_with_a_number_are_an_error(text: str) -> None:
    assert outcome(text) == "LP106"


@pytest.mark.parametrize(
    "text", ["x > {{ y }}", "x > ${y}", "x > :y", ":y = x", "x IN (?, ?)", "x BETWEEN :a AND :b", "x = '{{ y }}'"]
)
def test_a_template_without_its_values_is_an_error(text: str) -> None:
    assert outcome(text) == "LP110"


@pytest.mark.parametrize("text", ["v:a = 1", "`v`:a.b > 2", "x = ':y'", "x = 'a {{ y }}'", "x = '?'"])
def test_what_only_looks_like_a_template_is_read(text: str) -> None:
    assert outcome(text) == "fine"
