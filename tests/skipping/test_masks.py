"""Mask algebra against its definition: a mask is a set of truth values, a connective maps rows, so it maps sets of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product

import pytest

from lakeprune.engines.reference import Container, holds
from lakeprune.skipping.fact import Fact, Known
from lakeprune.skipping.mask import (
    Mask,
    both,
    conjunction,
    constant,
    disjunction,
    either,
    is_not_false,
    is_null,
    is_true,
    leaf,
    negation,
)

Truth = bool | None
TRUTHS: tuple[Truth, ...] = (True, False, None)
SUBSETS = [frozenset(c) for size in range(4) for c in combinations(TRUTHS, size)]
NON_EMPTY = [s for s in SUBSETS if s]
NOWHERE = Container({}, {})


def of(truths: Iterable[Truth]) -> Mask:
    found = set(truths)
    return leaf(Known(True in found), Known(False in found), Known(None in found))


def read(mask: Mask) -> frozenset[Truth]:
    flags = {True: mask.can_true, False: mask.can_false, None: mask.can_null}
    return frozenset(truth for truth, fact in flags.items() if is_proven(fact))


def is_proven(fact: Fact) -> bool:
    return holds(fact, NOWHERE)


def sql_and(values: Sequence[Truth]) -> Truth:
    return False if False in values else None if None in values else True


def sql_or(values: Sequence[Truth]) -> Truth:
    return True if True in values else None if None in values else False


def assert_side_facts_agree(mask: Mask) -> None:
    """not_true and not_false say what the three flags say."""
    found = read(mask)
    assert is_proven(mask.not_true) == bool(found & {False, None})
    assert is_proven(mask.not_false) == bool(found & {True, None})


@pytest.mark.parametrize(("connect", "rowwise"), [(conjunction, sql_and), (disjunction, sql_or)], ids=["and", "or"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_connective_of_masks_is_exactly_the_set_of_its_rows(
    connect: Callable[[Sequence[Mask]], Mask], rowwise: Callable[[Sequence[Truth]], Truth], count: int
) -> None:
    for parts in product(NON_EMPTY, repeat=count):
        mask = connect([of(part) for part in parts])
        assert read(mask) == {rowwise(row) for row in product(*parts)}, parts
        assert_side_facts_agree(mask)


def test_a_connective_of_nothing_is_its_neutral_constant() -> None:
    assert read(conjunction([])) == {True}
    assert read(disjunction([])) == {False}


@pytest.mark.parametrize("part", SUBSETS, ids=str)
def test_negation_swaps_true_and_false_and_keeps_null(part: frozenset[Truth]) -> None:
    mask = negation(of(part))
    assert read(mask) == {None if t is None else not t for t in part}
    assert_side_facts_agree(mask)
    assert read(negation(mask)) == part


@pytest.mark.parametrize("part", SUBSETS, ids=str)
def test_is_null_is_never_null_itself(part: frozenset[Truth]) -> None:
    mask = is_null(of(part))
    assert read(mask) == {t is None for t in part}
    assert_side_facts_agree(mask)


@pytest.mark.parametrize("part", SUBSETS, ids=str)
def test_truth_tests_are_never_null_themselves(part: frozenset[Truth]) -> None:
    assert read(is_true(of(part))) == {t is True for t in part}
    assert read(is_not_false(of(part))) == {t is not False for t in part}
    assert_side_facts_agree(is_true(of(part)))
    assert_side_facts_agree(is_not_false(of(part)))


def test_either_holds_everything_that_one_or_the_other_could_produce() -> None:
    for one, other in product(SUBSETS, repeat=2):
        mask = either(of(one), of(other))
        assert read(mask) == one | other
        assert_side_facts_agree(mask)


def test_several_leaves_about_one_predicate_leave_what_none_of_them_excludes() -> None:
    for one, other in product(SUBSETS, SUBSETS):
        mask = both(of(one), of(other))
        assert read(mask) == one & other
        assert_side_facts_agree(mask)


@pytest.mark.parametrize("truth", TRUTHS)
def test_a_constant_has_one_truth_value(truth: Truth) -> None:
    assert read(constant(truth)) == {truth}
    assert_side_facts_agree(constant(truth))


def test_nested_connectives_never_lose_a_truth_value() -> None:
    """NOT (a AND (b OR a)) with repeated parts: correlated rows are a subset of what independent masks allow."""
    for a, b in product(NON_EMPTY, repeat=2):
        mask = negation(conjunction([of(a), disjunction([of(b), of(a)])]))
        for x, y in product(a, b):
            inner = sql_and([x, sql_or([y, x])])
            assert (None if inner is None else not inner) in read(mask)
