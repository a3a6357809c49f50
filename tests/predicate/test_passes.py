"""Normalising never changes the truth of a predicate on any row."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lakeprune.predicate.evaluate import evaluate
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.normalise import normalise
from lakeprune.predicate.tree import Expr, Profile
from tests.predicate.random_trees import COLUMNS, PARTITIONS, ZONES, outcomes, predicates, rows

PROFILES = st.sampled_from(ZONES).map(lambda zone: Profile(now=0, zone=zone))
EVERY_COLUMN = {**COLUMNS, **{f"p_{name}": column for name, column in PARTITIONS.items()}}


def check(predicate: Expr, row: dict, profile: Profile) -> None:
    after = normalise(predicate, profile)
    try:
        truth = evaluate(predicate, row, profile)
    except EvaluationFailed:
        assume(False)
    assert truth in outcomes(after, row, profile), after


@settings(max_examples=400, deadline=None)
@given(predicates(COLUMNS), st.lists(rows(COLUMNS), min_size=1, max_size=4), PROFILES)
def test_normalising_keeps_the_truth_on_data_columns(predicate: Expr, found: list, profile: Profile) -> None:
    for row in found:
        check(predicate, row, profile)
