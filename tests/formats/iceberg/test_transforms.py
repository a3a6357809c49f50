"""Hidden partitioning: what a tuple proves about the column it was computed from, file by file and spec by spec."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lakeprune
from lakeprune.formats.iceberg import transforms
from tests.formats.iceberg.tables import Entry, SpecField, column, encoded, write_table

_COLUMNS = [column(1, "ts", "timestamp"), column(2, "name", "string"), column(3, "n", "int"), column(4, "x", "double")]


def files(root: Path, fields: dict[str, tuple[int, str, str, list[Any]]], metrics: Any = None) -> None:
    """One file per value, named by its place; `fields`: name -> source id, transform, type of its values, values."""
    spec = [
        SpecField(source, transform, name, 1000 + k, type_)
        for k, (name, (source, transform, type_, _)) in enumerate(fields.items())
    ]
    count = len(next(iter(fields.values()))[3])
    tuples = [{1000 + k: values[n] for k, (*_, values) in enumerate(fields.values())} for n in range(count)]
    write_table(
        root, _COLUMNS, [Entry(f"f{n}", 10, tuple=each, metrics=metrics or {}) for n, each in enumerate(tuples)], {0: spec}
    )


def kept(root: Path, where: str) -> list[str]:
    return sorted(file.path for file in lakeprune.explain(root, where, nan_policy="strict").files if file.kept)


@pytest.mark.parametrize(
    ("transform", "source", "values", "where", "expected"),
    [
        ("day", 1, [19722, 19723, 19724, None], "ts >= '2024-01-01' AND ts < '2024-01-02'", ["f1"]),
        ("day", 1, [-1, 0, 1], "ts < '1970-01-01'", ["f0", "f1"]),  # T11: 0 may stand for the day before
        ("hour", 1, [0, 1, 2_147_483_000], "ts > '1970-01-01 01:30:00'", ["f1", "f2"]),  # T12: may be any time
        ("month", 1, [648, 649, 650], "ts = '2024-02-29 23:59:59.999999'", ["f1"]),
        ("year", 1, [53, 54, None], "ts < '2024-01-01'", ["f0"]),
        ("year", 1, [53, 54, None], "ts IS NULL", ["f2"]),
        ("truncate[3]", 2, ["ab", "abc", "abd", None], "name = 'abcde'", ["f1"]),
        ("truncate[3]", 2, ["ab", "abc", "abd", None], "name LIKE 'ab%'", ["f0", "f1", "f2"]),
        ("truncate[3]", 2, ["ab", "abc", "abd", None], "name NOT LIKE 'abc%'", ["f0", "f2"]),  # T47
        ("truncate[10]", 3, [-10, 0, 10], "n = -1", ["f0"]),
        ("truncate[10]", 3, [-10, 0, 10], "n BETWEEN 5 AND 12", ["f1", "f2"]),
        ("bucket[4]", 3, [0, 1, None], "n IS NULL", ["f2"]),
        ("bucket[4]", 3, [0, 1, None], "n > 5", ["f0", "f1"]),  # T48
        ("bucket[16]", 3, [2, 3, 4, None], "n = 34", ["f1"]),  # 34 hashes to 2017239379
        ("bucket[16]", 3, [2, 3, 4, None], "n = 34 OR n IS NULL", ["f1", "f3"]),
        ("bucket[16]", 3, [2, 3, 4, None], "NOT (n = 34)", ["f0", "f1", "f2"]),
        ("bucket[16]", 2, [8, 9, 10], "name = 'iceberg'", ["f1"]),  # 1210000089
        ("bucket[16]", 2, [8, 9, 10], "name LIKE 'iceberg%'", ["f0", "f1", "f2"]),
        ("void", 3, [None, None], "n IS NOT NULL", ["f0", "f1"]),  # T49
        ("zorder", 3, [None, None], "n IS NOT NULL", ["f0", "f1"]),
        ("truncate[0]", 3, [0, 0], "n = 5", ["f0", "f1"]),
    ],
)
def test_files_are_judged_by_their_tuples(
    tmp_path: Path, transform: str, source: int, values: list[Any], where: str, expected: list[str]
) -> None:
    type_ = "string" if source == 2 and transform.startswith("truncate") else "int"
    files(tmp_path, {"part": (source, transform, type_, values)})
    assert kept(tmp_path, where) == expected


def test_several_fields_of_one_column_are_merged(tmp_path: Path) -> None:
    days, buckets = [19722, 19723, None], [3, 3, None]
    files(
        tmp_path, {"b": (1, "bucket[4]", "int", buckets), "y": (1, "year", "int", [53, 54, None]), "d": (1, "day", "int", days)}
    )
    assert kept(tmp_path, "ts < '2023-12-31 12:00:00'") == ["f0"]
    assert kept(tmp_path, "ts IS NOT NULL") == ["f0", "f1"]


def test_tuples_and_metrics_are_merged_at_the_leaf(tmp_path: Path) -> None:
    """Neither proves the whole condition: the tuple refutes one leg of the OR, the metrics the other."""
    metrics = {"null_value_counts": {3: 0}, "lower_bounds": {3: encoded(1, "int")}, "upper_bounds": {3: encoded(9, "int")}}
    files(tmp_path, {"d": (1, "day", "int", [19723])}, metrics)
    assert kept(tmp_path, "ts < '2023-06-01' OR n > 50") == []
    (file,) = lakeprune.explain(tmp_path, "ts < '2023-06-01' OR n > 50").files
    assert file.credit == "joint"
    assert kept(tmp_path, "ts < '2023-06-01' OR n > 5") == ["f0"]


def test_credits_go_to_the_first_rung_that_proves_the_drop(tmp_path: Path) -> None:
    metrics = {
        "null_value_counts": {1: 0},
        "lower_bounds": {1: encoded(0, "timestamp")},
        "upper_bounds": {1: encoded(0, "timestamp")},
    }
    files(tmp_path, {"d": (1, "day", "int", [19723, 0])}, metrics)
    credited = {file.path: file.credit for file in lakeprune.explain(tmp_path, "ts > '2024-01-01 00:00:00'").files}
    assert credited == {"f0": None, "f1": "transform"}  # of f0 tuple and metrics contradict each other: it is kept (T24)


def test_specs_of_old_and_new_files_differ(tmp_path: Path) -> None:
    """T50: by month first, by day later; each file by its own."""
    specs = {0: [SpecField(1, "month", "m", 1000, "int")], 1: [SpecField(1, "day", "d", 1001, "int")], 2: []}
    entries = [Entry("old", tuple={1000: 648}), Entry("new", tuple={1001: 19723}, spec=1), Entry("none", spec=2)]
    write_table(tmp_path, _COLUMNS, entries, specs)
    assert kept(tmp_path, "ts = '2024-01-20 00:00:00'") == ["none", "old"]
    assert kept(tmp_path, "ts = '2024-01-01 00:00:00'") == ["new", "none", "old"]
    assert kept(tmp_path, "ts IS NULL") == ["none"]


def test_one_field_id_in_two_specs_is_two_fields(tmp_path: Path) -> None:
    """Version 1 numbers the fields of every spec anew."""
    specs = {0: [SpecField(1, "month", "m", 1000, "int")], 1: [SpecField(3, "truncate[10]", "t", 1000, "int")]}
    write_table(tmp_path, _COLUMNS, [Entry("a", tuple={1000: 648}), Entry("b", tuple={1000: 640}, spec=1)], specs)
    assert kept(tmp_path, "n = 645") == ["a", "b"]
    assert kept(tmp_path, "n = 5") == ["a"]
    assert kept(tmp_path, "ts < '2023-01-01 00:00:00'") == ["b"]


def test_nan_of_a_partition_that_only_some_specs_have(tmp_path: Path) -> None:
    """T51: NaN is above every number, and no bound."""
    specs = {0: [SpecField(4, "identity", "x", 1000, "double")], 1: []}
    entries = [
        Entry("nan", tuple={1000: float("nan")}),
        Entry("one", tuple={1000: 1.0}),
        Entry("zero", tuple={1000: -0.0}),
        Entry("any", spec=1),
    ]
    write_table(tmp_path, _COLUMNS, entries, specs)
    assert kept(tmp_path, "x > 100") == ["any", "nan"]
    assert kept(tmp_path, "x = 0.0") == ["any", "nan", "zero"]  # that there is nothing but NaN is not a fact yet
    assert kept(tmp_path, "x IS NULL") == ["any"]


def test_a_tuple_value_of_another_type_proves_nothing(tmp_path: Path) -> None:
    """T41: a tuple of text under a transform to days, a tuple of text under an integer column."""
    files(tmp_path, {"d": (1, "day", "string", ["2024-01-01"]), "n": (3, "truncate[10]", "string", ["5"])})
    assert kept(tmp_path, "ts < '1999-01-01' AND n = 77 AND ts IS NULL") == ["f0"]


def test_without_the_guard_for_early_writers_their_files_are_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path, {"d": (1, "day", "int", [0])})
    assert kept(tmp_path, "ts < '1969-12-31 12:00:00'") == ["f0"]
    monkeypatch.setattr(transforms, "transform_of", lambda declared, source, *_: transforms._TIMES[declared](source))
    assert kept(tmp_path, "ts < '1969-12-31 12:00:00'") == []
