"""Buckets as evidence: the truth table on both engines, random sets against plain Python, and the credit in a plan."""

from __future__ import annotations

import importlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from lakeprune.engines.reference import Domain
from lakeprune.formats.lifting.bucket import Bucket
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.predicate.tree import Column, Member, Profile
from lakeprune.skipping.ladder import Bucketed, Bucketing, Evidence, Level, Rung, Seen
from lakeprune.skipping.leaves.buckets import MOST_VALUES
from lakeprune.skipping.lower import evidence_columns, lower
from lakeprune.skipping.mask import Mask, conjunction
from lakeprune.skipping.plan import Bit, plan_clauses
from lakeprune.values.intervals import Interval, from_intervals
from lakeprune.values.types import INT, STRING, DataType
from tests.scope import share_of
from tests.skipping.containers import SqlEngine, judge_by_reference
from tests.skipping.test_truth_tables import verdict

VALUES, METRICS = (Rung(name, name, name, name, Level.FILE, is_exact=False) for name in ("partition", "metrics"))
BUCKET = Column(("bucket",), ("bucket",), INT, Role.DATA)
TYPES = {"int": INT, "string": STRING}
PROFILE = Profile(0)
ENGINE = SqlEngine()


class Modulo(Struct, frozen=True):
    """Bucket numbers that a reader of a truth table can see."""

    count: int

    def apply(self, value: object) -> int | None:
        return value % self.count if isinstance(value, int) else len(str(value)) % self.count


def evidence(bucketing: Bucketing) -> Evidence:
    """A column is known by its metrics; its buckets by partition values."""
    return Evidence(
        (VALUES, METRICS),
        lambda column: frozenset({VALUES if column == BUCKET else METRICS}),
        lambda column: () if column == BUCKET else (Bucketed(BUCKET, bucketing),),
    )


def judged(mask: Mask, columns: list[Column], low: int | None, high: int | None) -> list[bool]:
    """The mask where the container has these buckets and nothing else is known, by both engines."""
    by_metrics = {Seen(column, frozenset({METRICS})): Domain() for column in columns}
    domains = {**by_metrics, Seen(BUCKET, frozenset({VALUES})): Domain(low, high)}
    bits = [Bit(fact) for fact in (mask.can_true, mask.can_false, mask.can_null)]
    found = judge_by_reference(bits, domains)
    assert ENGINE.judge(bits, domains) == found
    return found


def rows() -> list[list[str]]:
    text = importlib.import_module("lakeprune.skipping.leaves.buckets").__doc__ or ""
    _, *body = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.count("|") == 5]
    return body


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]} in {row[2]}: {row[5]}")
def test_a_row_of_the_truth_table_holds_on_both_engines(row: list[str]) -> None:
    predicate, type_name, buckets, mask, expected, _ = row
    low, high = (None if number == "?" else int(number) for number in buckets.split())
    name = "s" if type_name == "string" else "x"
    schema = Schema((Field(name, name, TYPES[type_name]),))
    clauses = split(bind(parse_predicate(predicate, PROFILE), schema, PROFILE, predicate), PROFILE)
    view = evidence(Modulo(8)).view(VALUES, METRICS)
    lowered = conjunction([lower(clause.predicate, view) for clause in clauses])
    columns = [column for clause in clauses for column in evidence_columns(clause.predicate)]
    found = judged(lowered, columns, low, high)
    letters = frozenset(letter for letter, flag in zip("TFN", found, strict=True) if flag)
    assert (letters, verdict(letters)) == (frozenset(mask), expected)


X = Column(("x",), ("x",), INT, Role.DATA)


@settings(max_examples=share_of(200), deadline=None)
@given(st.lists(st.tuples(st.integers(-40, 40), st.integers(0, 12)), max_size=4), st.integers(0, 15), st.integers(0, 15))
def test_a_container_is_dropped_exactly_when_none_of_the_buckets_is_there(
    ranges: list[tuple[int, int]], one: int, other: int
) -> None:
    low, high = sorted((one, other))
    bucket = Bucket(INT, 16)
    predicate = Member(X, from_intervals([Interval(start, start + width) for start, width in ranges], INT))
    mask = lower(predicate, evidence(bucket).view(VALUES))
    members = {value for start, width in ranges for value in range(start, start + width + 1)}
    numbers = {bucket.apply(value) for value in members}
    can_true = judged(mask, [], low, high)[0]
    assert can_true == any(number is not None and low <= number <= high for number in numbers)


@pytest.mark.parametrize("width", [MOST_VALUES - 1, MOST_VALUES + 5])
def test_a_long_range_is_not_listed(width: int) -> None:
    predicate = Member(X, from_intervals([Interval(0, width)], INT))
    mask = lower(predicate, evidence(Bucket(INT, 100_000)).view(VALUES))
    assert judged(mask, [], 99_998, 99_999)[0] is (width > MOST_VALUES)


def test_the_buckets_are_credited_to_their_rung_and_are_no_column_of_the_plan() -> None:
    schema = Schema((Field("x", "x", INT), Field("s", "s", DataType(STRING.kind))))
    text = "x = 5 AND s = 'a'"
    clauses = split(bind(parse_predicate(text, PROFILE), schema, PROFILE, text), PROFILE)
    plan = plan_clauses(clauses, evidence(Modulo(8)))
    assert [column.path for column in plan.columns] == [("x",), ("s",)]
    facts = [plan.bits[place.by_rung[0]].fact for place in plan.positions]
    by_values = Seen(BUCKET, frozenset({VALUES}))
    bits = [Bit(fact) for fact in facts]
    assert judge_by_reference(bits, {by_values: Domain(4, 4)}) == [False, False]
    assert judge_by_reference(bits, {by_values: Domain(5, 5)}) == [True, False]
    assert judge_by_reference(bits, {by_values: Domain(0, 6)}) == [True, True]
