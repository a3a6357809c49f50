"""Partition values computed before a column was promoted (T96): they are not those of the type that the column has now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lakeprune
from lakeprune.formats.iceberg import specs as module
from lakeprune.formats.lifting.bucket import Bucket
from lakeprune.formats.lifting.truncate import Truncate
from lakeprune.values.types import DataType, Kind
from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, encoded, write_table

DAY = 18_262  # 2020-01-01
LEAST = -(2**31)
IN_BUCKET = Bucket(DataType(Kind.DATE), 16).apply(DAY)
WRAPPED = Truncate(DataType(Kind.INT), 10).apply(LEAST)  # far above 0
NEW_YEAR = "x = TIMESTAMP_NTZ'2020-01-01 00:00:00'"
# type before | type now | transform | partition value | type of it | a condition that the row satisfies
PROMOTED: dict[str, tuple[str, str, str, Any, str, str]] = {
    "identity of a date": ("date", "timestamp", "identity", DAY, "date", NEW_YEAR),
    "bucket of a date": ("date", "timestamp", "bucket[16]", IN_BUCKET, "int", NEW_YEAR),
    "identity of a date, now with a zone": ("date", "timestamptz", "identity", DAY, "date", "x = TIMESTAMP'2020-01-01 00:00Z'"),
    "identity of a date, now with nanoseconds": ("date", "timestamp_ns", "identity", DAY, "date", "x = '2020-01-01'"),
    "truncate of an int that wrapped around": ("int", "long", "truncate[10]", WRAPPED, "int", f"x = {LEAST}"),
}  # fmt: skip


def written(root: Path, name: str, *, summaries: bool, other_spec: bool) -> str:
    """The table at `root`, with the condition that its one row satisfies."""
    before, now, transform, value, type_, where = PROMOTED[name]
    schemas = [
        {"schema-id": number, "type": "struct", "fields": [column(2, "x", kind)]} for number, kind in enumerate((before, now))
    ]
    specs = {0: [SpecField(2, transform, "p", 1000, type_)], **({1: []} if other_spec else {})}
    entries = [Entry("f", 1, tuple={1000: value}), *([Entry("g", 1, spec=1)] if other_spec else [])]
    how = Layout(3, summaries=summaries, changes={"schemas": schemas, "current-schema-id": 1})
    write_table(root, [], entries, specs, how)
    return where


def is_kept(root: Path, where: str) -> bool:
    files = lakeprune.explain(root, where, nan_policy="strict", timezone="UTC").files
    return any(file.kept for file in files if file.path == "f")


@pytest.mark.parametrize("other_spec", [False, True], ids=["one spec", "an older spec"])
@pytest.mark.parametrize("summaries", [False, True], ids=["tuples", "summaries"])
@pytest.mark.parametrize("name", PROMOTED)
def test_a_value_of_the_earlier_type_drops_no_file(tmp_path: Path, name: str, summaries: bool, other_spec: bool) -> None:
    where = written(tmp_path, name, summaries=summaries, other_spec=other_spec)
    assert is_kept(tmp_path, where)
    assert is_kept(tmp_path, "x IS NOT NULL")


@pytest.mark.parametrize("name", PROMOTED)
def test_without_the_guard_the_file_is_lost(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: nobody knows of the earlier type."""
    monkeypatch.setattr(module, "earlier_types", lambda _metadata: {})
    where = written(tmp_path, name, summaries=False, other_spec=False)
    assert not is_kept(tmp_path, where)


@pytest.mark.parametrize(
    ("types", "transform", "value", "never", "some"),
    [
        (("int", "long"), "identity", 7, "x = 8", "x = 7"),
        (("int", "long"), "bucket[16]", Bucket(DataType(Kind.INT), 16).apply(7), "x = 8", "x = 7"),
        (("int", "long"), "truncate[10]", 10, "x = 9", "x = 19"),
        (("int", "long"), "truncate[10]", 2**31 + 2, "x = 5", f"x = {2**31 + 11}"),
        (("float", "double"), "identity", 1.5, "x = 2.5", "x = 1.5"),
        (("date", "timestamp"), "day", DAY, "x < TIMESTAMP_NTZ'2020-01-01 00:00:00'", NEW_YEAR),
    ],
)  # fmt: skip
def test_values_that_the_promotion_leaves_as_they_are_still_prove_something(
    tmp_path: Path, types: tuple[str, str], transform: str, value: Any, never: str, some: str
) -> None:
    schemas = [{"schema-id": number, "type": "struct", "fields": [column(2, "x", kind)]} for number, kind in enumerate(types)]
    changes = {"schemas": schemas, "current-schema-id": 1}
    spec = {0: [SpecField(2, transform, "p", 1000, "float" if isinstance(value, float) else "long")]}
    write_table(tmp_path, [], [Entry("f", 1, tuple={1000: value})], spec, Layout(3, summaries=False, changes=changes))
    assert is_kept(tmp_path, some)
    assert not is_kept(tmp_path, never)


def test_days_that_no_timestamp_reaches_are_no_bound(tmp_path: Path) -> None:
    """A bound of a date under a nanosecond timestamp, as a damaged manifest may have it."""
    far = encoded(2**31 - 1, "date")
    metrics = {"lower_bounds": {2: far}, "upper_bounds": {2: far}}
    write_table(tmp_path, [column(2, "x", "timestamp_ns")], [Entry("f", 1, metrics=metrics)], None, Layout(3))
    assert is_kept(tmp_path, "x < '2020-01-01'")
