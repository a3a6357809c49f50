"""Filters on rows outside Spark have Spark's truth on every row, or are refused.

Judges: what Spark 4.1 answered row by row (tests/predicate/spark_answers.json), and the evaluation of one row, on random rows and
predicates.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from lakeprune.apps.scan.filters import arrow_rows
from lakeprune.apps.scan.filters.exactness import NotExact, why_not_exact
from lakeprune.errors import PredicateError
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.functions.evaluate import evaluate
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.passes.normalise import normalise
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Either, Exact, Expr, Member
from lakeprune.predicate.walk import columns_of
from lakeprune.values.intervals import compare
from lakeprune.values.types import DOUBLE, Scalar
from tests.apps.scan.row_filters import arrow_table, by_expression
from tests.generator.trees import DATA, Asked, predicates, rows
from tests.predicate.test_spark_answers import TABLES, TRUTHS, ZONED, Replay, recorded
from tests.scope import IS_WHOLE

ALL_OPAQUE = ("decimal10", "tiny", "printed_double", "printed_float")  # tables of arithmetic and of printed numbers


@pytest.mark.parametrize("table", TABLES)
def test_filters_give_what_spark_answered(table: str) -> None:
    recording = recorded()["tables"][table]
    modes = recorded()["modes"] if set(recording["columns"].values()) & ZONED else recorded()["modes"][:2]
    compared = 0
    for position, (zone, ansi) in enumerate(modes if IS_WHOLE else modes[:3]):
        replay = Replay(table, Role.DATA, zone)
        kept = [column for column in replay.columns if column.type.family is not None]
        shown = arrow_table(kept, [dict(zip(replay.columns, row, strict=True)) for row in replay.rows])
        answers = recording["answers"]
        asked = {text: _normal(text, replay, ansi=ansi) for text in answers}
        known = {text: p for text, p in asked.items() if p is not None and set(columns_of(p)) <= set(kept)}
        for text, found in zip(known, by_expression(list(known.values()), shown) if known else [], strict=True):
            answer = answers[text]
            letters = answer if isinstance(answer, str) else answer[position % len(answer)]
            if letters != "-" and "?" not in letters:
                wrong = [i for i, letter in enumerate(letters) if letter in TRUTHS and TRUTHS[letter] is not found[i]]
                assert not wrong, f"{zone} {text} on {[(replay.rows[i], found[i]) for i in wrong]}"
                compared += 1
    assert (compared > 2) is (table not in ALL_OPAQUE)


def _normal(text: str, replay: Replay, *, ansi: bool) -> Expr | None:
    profile = replay.profile if ansi else replay.plain
    try:
        predicate = normalise(bind(parse_predicate(text, profile), replay.schema, profile, text), profile)
    except PredicateError:
        return None
    return None if why_not_exact(predicate) else predicate


@settings(max_examples=3000 if IS_WHOLE else 100)
@given(asked=predicates(DATA, depth=3), some=st.lists(rows(DATA), min_size=1, max_size=8))
def test_filters_agree_with_the_evaluation_of_each_row(asked: Asked, some: list[dict[Column, Scalar]]) -> None:
    predicate = normalise(asked.tree, asked.profile)
    if why_not_exact(predicate):
        reject()
    try:
        expected = [evaluate(predicate, row, asked.profile) for row in some]
    except EvaluationFailed:
        reject()
    table = arrow_table([spec.bound for spec in DATA], some)
    assert by_expression([predicate], table) == [expected]


def test_what_has_no_exact_form_is_refused() -> None:
    x = Column(("x",), ("x",), DOUBLE, Role.DATA)
    above = Member(x, compare(">", 1.0, DOUBLE))
    for predicate in (Either(above, above), Exact(above, (x,))):
        with pytest.raises(NotExact):
            arrow_rows.arrow_filter(predicate)


def test_a_filter_that_forgets_nan_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: with the handling of NaN switched off, the comparison with Spark's answers fails."""

    def forgetful(self: object, value: object, _type: object, values: object) -> object:
        return arrow_rows._balanced(self._pc.or_kleene, [self._between(value, i, DOUBLE) for i in values.intervals])  # type: ignore[attr-defined]

    x = Column(("x",), ("x",), DOUBLE, Role.DATA)
    above = Member(x, compare(">", 1.0, DOUBLE))
    table = arrow_table([x], [{x: math.nan}, {x: 2.0}, {x: 0.0}, {x: None}])
    assert by_expression([above], table) == [[True, True, False, None]]
    monkeypatch.setattr(arrow_rows._ArrowFilter, "_member", forgetful)
    assert by_expression([above], table) == [[False, True, False, None]]
