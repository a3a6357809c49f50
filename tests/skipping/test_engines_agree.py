"""The printed SQL on DuckDB means what the reference says, for random facts over random domains of every family."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.engines.reference import Domain
from lakeprune.formats.delta.ladder import EVIDENCE
from lakeprune.predicate.comparison import whole
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column
from lakeprune.skipping.fact import AllNull, Below, Covered, Fact, NanFree, NoNanSeen, NoNull, all_of, some_of, unproven
from lakeprune.skipping.ladder import Seen
from lakeprune.skipping.leaves.membership import membership_mask
from lakeprune.skipping.plan import Bit, Lift
from lakeprune.values.intervals import Interval, IntervalSet, from_intervals
from lakeprune.values.types import DataType, Family, Kind
from tests.scope import share_of
from tests.skipping.containers import SqlEngine, judge_by_reference

A32 = "a" * 32
NINES = "9" * 28 + "." + "9" * 10
TEXTS = [
    "", "a", "ab", A32, A32 + "b", "a'b", 'a"b', "a\\b", "a\x00b", "\n", "\x7f", "é", "\ud7ff", "\ue000", "\uffff",
    "\U0001f33c", "\U0010ffff", "z\U0010ffff", "b", "ba", "c", "NULL", "%", "'); --",
]  # fmt: skip
POOLS: dict[Kind, list[Any]] = {
    Kind.BOOLEAN: [False, True],
    Kind.BYTE: [-128, -1, 0, 1, 5, 127],
    Kind.LONG: [-(2**63), -(2**63) + 1, -5, -1, 0, 1, 2, 3, 5, 2**31, 2**53 + 1, 2**63 - 2, 2**63 - 1],
    Kind.DATE: [-719162, -1, 0, 1, 19737, 2932896],
    Kind.TIMESTAMP: [-(2**63), -1500, -1, 0, 999, 1705320000000500, 2**63 - 1],
    Kind.DOUBLE: [float("-inf"), -1.7976931348623157e308, -1.5, -0.0, 0.0, 5e-324, 0.1, 1.0, 2.0, 1e300, float("inf")],
    Kind.DECIMAL: [Decimal(NINES), Decimal("-" + NINES), *(Decimal(f"{n}.0000000001") for n in range(-4, 5))],
    Kind.STRING: TEXTS,
    Kind.BINARY: [text.encode("utf-8", "surrogatepass") for text in TEXTS] + [b"\xff", b"\xff\xff", b"\x00"],
}  # fmt: skip
ENGINE = SqlEngine()


def type_of(kind: Kind) -> DataType:
    return DataType(kind, 38, 10) if kind is Kind.DECIMAL else DataType(kind)


def column(kind: Kind, name: str = "x", role: Role = Role.DATA) -> Seen:
    return EVIDENCE.seen(Column((name,), (name,), type_of(kind), role))


@st.composite
def domains(draw: st.DrawFn, kind: Kind) -> Domain:
    ends = sorted(draw(st.lists(st.sampled_from(POOLS[kind]), min_size=2, max_size=2)))
    low, high = (end if draw(st.integers(0, 4)) else None for end in ends)
    no_null, all_null, nan_free, counted, has_nan = (draw(st.booleans()) for _ in range(5))
    cut = kind is Kind.STRING and high is not None and draw(st.booleans())
    return Domain(low, high, cut, no_null, all_null, nan_free, counted, has_nan)


@st.composite
def sets(draw: st.DrawFn, kind: Kind) -> IntervalSet:
    """Points, ranges and half-lines, open and closed; up to forty, so that the search beyond eight is met."""
    pool = POOLS[kind]
    made = []
    for _ in range(draw(st.sampled_from([1, 2, 3, 9, 40]))):
        low, high = sorted(draw(st.lists(st.sampled_from(pool), min_size=2, max_size=2)))
        if draw(st.booleans()):
            high = low
        is_point = low == high
        made.append(Interval(low, high, not is_point and draw(st.booleans()), not is_point and draw(st.booleans())))
    if draw(st.integers(0, 5)) == 0:
        made.append(Interval(None, draw(st.sampled_from(pool)), hi_open=draw(st.booleans())))
    if draw(st.integers(0, 5)) == 0:
        made.append(Interval(draw(st.sampled_from(pool)), None, lo_open=draw(st.booleans())))
    return whole(from_intervals(made, type_of(kind), nan=draw(st.booleans())), type_of(kind))


def assert_agreement(facts: list[Fact], columns: dict[Seen, Domain]) -> None:
    bits = [Bit(fact, lift) for fact in facts for lift in Lift]
    assert ENGINE.judge(bits, columns) == judge_by_reference(bits, columns)


@pytest.mark.parametrize("kind", POOLS, ids=lambda kind: kind.value)
def test_membership_means_the_same_on_both_engines(kind: Kind) -> None:
    @settings(max_examples=60, deadline=None)
    @given(domains(kind), sets(kind), st.sampled_from(Role))
    def check(domain: Domain, values: IntervalSet, role: Role) -> None:
        x = column(kind, role=role)
        mask = membership_mask(x, values)
        facts = [mask.can_true, mask.can_false, mask.can_null, mask.not_true]
        if values.intervals:
            facts.append(Covered(x, values))
        assert_agreement(facts, {x: domain})

    check()


@pytest.mark.parametrize("kind", POOLS, ids=lambda kind: kind.value)
def test_columns_compare_the_same_on_both_engines(kind: Kind) -> None:
    @settings(max_examples=40, deadline=None)
    @given(domains(kind), domains(kind), st.sampled_from(Role))
    def check(left: Domain, right: Domain, role: Role) -> None:
        a, b = column(kind, "a", role), column(kind, "b")
        facts: list[Fact] = [Below(a, b, True), Below(b, a, False), NoNull(a), AllNull(b)]
        if type_of(kind).family is Family.REAL:
            facts += [NanFree(a), NoNanSeen(a)]
        assert_agreement([*facts, all_of(*facts), some_of(*facts), unproven(facts[0])], {a: left, b: right})

    check()


@settings(max_examples=share_of(150), deadline=None)
@given(st.lists(st.integers(-60, 60), min_size=9, max_size=60, unique=True), st.integers(-70, 70), st.integers(0, 30))
def test_a_long_list_is_searched_exactly(points: list[int], low: int, width: int) -> None:
    """Against a set of plain integers: [low, low + width] inside the set, and outside it."""
    kind = Kind.LONG
    values = from_intervals([Interval(p, p) for p in points], type_of(kind))
    mask = membership_mask(column(kind), values)
    domain = {column(kind): Domain(low, low + width, no_null=True)}
    hull = set(range(low, low + width + 1))
    can_true, can_false = ENGINE.judge([Bit(mask.can_true), Bit(mask.can_false)], domain)
    assert can_true == bool(hull & set(points))
    # FALSE is excluded only when one interval of the set holds the whole range, which on integers means all of its values.
    assert can_false == bool(hull - set(points))
