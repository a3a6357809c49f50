"""Overlap depth against a count by hand: every file's range is checked at every distinct bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.formats.delta.ladder import EVIDENCE
from lakeprune.formats.relation import Needs
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Profile
from lakeprune.programs.overlap import Overlap, overlap_of
from lakeprune.programs.patterns import Evaluation
from lakeprune.programs.select import files_where
from lakeprune.skipping.plan import plan_clauses
from lakeprune.values.types import DOUBLE, LONG, STRING, DataType
from tests.builders.engine import ENGINE
from tests.builders.snapshot import File, RowsSnapshot

VALUES: dict[DataType, st.SearchStrategy[Any]] = {
    LONG: st.integers(-5, 12),
    DOUBLE: st.sampled_from([float("-inf"), -1.5, -0.0, 0.0, 0.25, 1e300, float("inf")]),
    STRING: st.text(alphabet="abé~", max_size=2),
}


def overlap(type_: DataType, files: list[File]) -> Overlap:
    column = Column(("x",), ("x",), type_, Role.DATA)
    evaluation = Evaluation(ENGINE, RowsSnapshot({"x": type_}, files), Profile(0))
    subset = files_where(evaluation, plan_clauses([], EVIDENCE), [], Needs(domains=(EVIDENCE.seen(column),)))
    return overlap_of(ENGINE, subset, EVIDENCE.seen(column))


def by_hand(files: list[File]) -> Overlap:
    """The definition, word by word, in quadratic time."""
    reported = [(file.stats or {})["x"] for file in files if file.rows != file.deleted]
    live = [file for file in files if file.rows != file.deleted]
    ranged = [(lo, hi, file) for (lo, hi, _), file in zip(reported, live, strict=True) if lo is not None and hi is not None]
    known = [file.rows - file.deleted for _, _, file in ranged if file.rows is not None]
    average = sum(known) / len(known) if known else 1
    bounds = sorted({bound for lo, hi, _ in ranged for bound in (lo, hi)})

    def depth(value: Any) -> int:
        return sum(lo <= value <= hi for lo, hi, _ in ranged)

    total = weights = 0.0
    for lo, hi, file in ranged:
        weight = average if file.rows is None else file.rows - file.deleted
        inside = [depth(bound) for bound in bounds if lo <= bound <= hi]
        total += weight * sum(inside) / len(inside)
        weights += weight
    return Overlap(
        len(ranged),
        len(live) - len(ranged),
        sum(lo == hi for lo, hi, _ in ranged),
        total / weights if weights else 0,
        max(map(depth, bounds), default=0),
    )


@st.composite
def some_files(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> list[File]:
    files = []
    for number in range(draw(st.integers(0, 12))):
        lo, hi = sorted((draw(values), draw(values)))
        bounds = draw(st.sampled_from([(lo, hi), (lo, hi), (lo, lo), (None, hi), (None, None)]))
        rows = draw(st.sampled_from([None, 1, 3, 100]))
        deleted = draw(st.sampled_from([0, 1])) if rows is not None else 0
        files.append(File(str(number), rows=rows, deleted=deleted, stats={"x": (*bounds, None)}))
    return files


@pytest.mark.parametrize("type_", VALUES, ids=str)
def test_depth_is_what_counting_by_hand_gives(type_: DataType) -> None:
    @settings(max_examples=60, deadline=None)
    @given(some_files(VALUES[type_]))
    def check(files: list[File]) -> None:
        found, expected = overlap(type_, files), by_hand(files)
        assert found.depth == pytest.approx(expected.depth)
        assert (found.files, found.unbounded) == (expected.files, expected.unbounded)
        assert (found.constant, found.deepest) == (expected.constant, expected.deepest)

    check()


def ranges(count: int, of: Callable[[int], tuple[int, int]]) -> list[File]:
    return [File(str(i), stats={"x": (*of(i), 0)}) for i in range(count)]


def test_ordered_files_have_depth_one() -> None:
    assert overlap(LONG, ranges(50, lambda i: (10 * i, 10 * i + 9))).depth == 1


def test_files_that_hold_everything_have_the_depth_of_their_number() -> None:
    found = overlap(LONG, ranges(50, lambda _: (0, 1000)))
    assert (found.depth, found.deepest, found.constant) == (50, 50, 0)


def test_a_file_that_spans_all_others_adds_one() -> None:
    files = [*ranges(50, lambda i: (10 * i, 10 * i + 9)), File("wide", stats={"x": (0, 499, 0)})]
    assert overlap(LONG, files).depth == pytest.approx(2)


def test_files_with_many_rows_weigh_more() -> None:
    """Three rows of four are found in one file only, the fourth in three."""
    files = [
        File("alone", rows=30, stats={"x": (0, 0, 0)}),
        *(File(f"{i}", rows=r, stats={"x": (9, 9, 0)}) for i, r in enumerate((4, 3, 3))),
    ]
    assert overlap(LONG, files).depth == pytest.approx(0.75 * 1 + 0.25 * 3)


def test_all_null_files_are_no_ranges() -> None:
    files = [*ranges(2, lambda i: (i, i)), File("null", rows=10, stats={"x": (None, None, 10)})]
    found = overlap(LONG, files)
    assert (found.files, found.unbounded, found.depth) == (2, 0, 1)
