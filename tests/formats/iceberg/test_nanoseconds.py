"""Columns of nanoseconds against literals of microseconds: every file with a matching row is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lakeprune
from lakeprune.formats.iceberg import bounds
from lakeprune.formats.iceberg.transforms import transform_of
from lakeprune.predicate.comparison import members
from lakeprune.predicate.passes import state_as_sets
from lakeprune.skipping.verdict import Verdict
from lakeprune.values.literals import format_value
from lakeprune.values.types import TIMESTAMP_NTZ, DataType
from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, encoded, write_table
from tests.scope import IS_WHOLE

_DAY = 86_400_000_000
_COLUMNS = [column(1, "x", "timestamp_ns")]
_OPERATORS = {
    "=": int.__eq__, "<>": int.__ne__, "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__,
}  # fmt: skip
_TRANSFORMS = ("identity", "year", "month", "day", "hour", "bucket[4]")


def entry(path: str, values: list[int], partition: Any = None) -> Entry:
    metrics: dict[str, dict[int, Any]] = {
        "null_value_counts": {1: 0},
        "lower_bounds": {1: encoded(min(values), "long")},
        "upper_bounds": {1: encoded(max(values), "long")},
    }
    return Entry(
        path, len(values), metrics=metrics if partition is None else {}, tuple={} if partition is None else {1000: partition}
    )


def literal(microseconds: int) -> str:
    return format_value(microseconds, TIMESTAMP_NTZ, "UTC")


def test_metrics_of_nanoseconds_drop_files(tmp_path: Path) -> None:
    """Negative control: evidence is used at all, and a file of one microsecond is kept for what lies inside of it."""
    base = 1_704_067_200_000_001  # a maximum in whole milliseconds may have lost digits
    write_table(tmp_path, _COLUMNS, [entry("a", [base * 1000 + 500]), entry("b", [(base + 9) * 1000])], None, Layout(3))
    verdicts = {
        where: {file.path: file.verdict for file in lakeprune.explain(tmp_path, where).files}
        for where in (
            f"x > {literal(base)}",
            f"x > {literal(base)} AND x < {literal(base + 1)}",
            f"x < {literal(base)}",
            f"x >= {literal(base + 5)}",
        )
    }
    assert [each["a"] for each in verdicts.values()] == [Verdict.KEEP, Verdict.KEEP, Verdict.KEEP, Verdict.DROP]
    assert [each["b"] for each in verdicts.values()] == [Verdict.FULL, Verdict.DROP, Verdict.DROP, Verdict.FULL]


def test_what_is_not_a_comparison_with_a_literal_is_opaque(tmp_path: Path) -> None:
    columns = [*_COLUMNS, column(2, "y", "timestamp_ns"), column(3, "z", "timestamp")]
    write_table(tmp_path, columns, [entry("a", [5])], None, Layout(3))
    for where in (
        "year(x) = 2030",
        "x + INTERVAL 1 DAY < '1970-01-01'",
        "x = y",
        "x < z",
        "CAST(x AS DATE) = '2030-01-01'",
        "x IS NULL",
    ):
        report = lakeprune.explain(tmp_path, where)
        assert [file.kept for file in report.files] == [where != "x IS NULL"], where
    assert "nanoseconds" in lakeprune.explain(tmp_path, "year(x) = 2030").to_text()


_NANOSECONDS = st.one_of(
    st.integers(-(10**15), 10**15),
    st.integers(-3000, 3000),
    st.builds(lambda day, rest: day * _DAY * 1000 + rest, st.integers(-3, 3), st.integers(-1001, 1001)),
)


@st.composite
def _cases(draw: Any) -> tuple[list[list[int]], list[tuple[str, list[tuple[str, int]]]], str | None]:
    files = draw(st.lists(st.lists(_NANOSECONDS, min_size=1, max_size=3), min_size=1, max_size=4))
    near = [value // 1000 + move for values in files for value in values for move in (-1, 0, 1)]
    literals = st.one_of(st.sampled_from(near), _NANOSECONDS.map(lambda value: value // 1000))
    part = st.tuples(st.sampled_from(list(_OPERATORS)), literals)
    joined = draw(
        st.lists(st.tuples(st.sampled_from(["AND", "OR"]), st.lists(part, min_size=1, max_size=2)), min_size=1, max_size=6)
    )
    return files, joined, draw(st.sampled_from([None, *_TRANSFORMS]))


def _check(root: Path, files: list[list[int]], asked: list[tuple[str, list[tuple[str, int]]]], transform: str | None) -> None:
    entries = []
    for number, values in enumerate(files):
        if transform is None:
            entries.append(entry(f"f{number}", values))
            continue
        made = transform_of(transform, TIMESTAMP_NTZ)
        assert made is not None
        for value in values:  # a file has one tuple: one value each
            partition = value if transform == "identity" else made.apply(value // 1000)
            entries.append(entry(f"f{number}-{value}", [value], partition))
    entries = list({each.path: each for each in entries}.values())
    spec = {0: (SpecField(1, transform, "p", 1000, "long" if transform == "identity" else "int"),)} if transform else None
    write_table(root, _COLUMNS, entries, spec, Layout(3))
    rows = {
        each.path: (files[int(each.path[1:])] if transform is None else [int(each.path.partition("-")[2])]) for each in entries
    }
    wheres = [f" {word} ".join(f"x {op} {literal(value)}" for op, value in parts) for word, parts in asked]
    wheres += [f"NOT ({where})" for where in wheres]
    reports = lakeprune.explain_many(root, wheres, nan_policy="strict")
    for number, (where, report) in enumerate(zip(wheres, reports, strict=True)):
        word, parts = asked[number % len(asked)]
        for file in report.files:
            truths = [
                (all if word == "AND" else any)(_OPERATORS[op](value, limit * 1000) for op, limit in parts)
                != (number >= len(asked))
                for value in rows[file.path]
            ]
            assert file.kept or not any(truths), (where, file.path, rows[file.path])
            assert file.verdict is not Verdict.FULL or all(truths), (where, file.path, rows[file.path])


@settings(max_examples=600 if IS_WHOLE else 10)
@given(_cases())
def test_every_file_with_a_matching_row_is_kept(tmp_path_factory: pytest.TempPathFactory, case: Any) -> None:
    _check(tmp_path_factory.mktemp("ns"), *case)


def test_without_the_doubt_between_two_microseconds_rows_are_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = ([[1500]], [("AND", [(">", 1), ("<", 2)])], None)
    _check(tmp_path / "a", *case)
    monkeypatch.setattr(state_as_sets, "floored", members)
    with pytest.raises(AssertionError):
        _check(tmp_path / "b", *case)


def test_rounding_towards_zero_loses_rows_before_1970(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """T90."""
    case = ([[-1]], [("AND", [("<", 0)])], None)
    _check(tmp_path / "a", *case)

    def towards_zero(values: list[bytes | None], _type: DataType) -> list[int | None]:
        return bounds._numbers(values, {8: "q"}, {8: lambda number: int(number / 1000) + 1})

    monkeypatch.setattr("lakeprune.formats.iceberg.files.microseconds", towards_zero)
    with pytest.raises(AssertionError):
        _check(tmp_path / "b", *case)
