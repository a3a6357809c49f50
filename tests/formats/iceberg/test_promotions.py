"""Partition values computed before a column was promoted (T96): they are not those of the type that the column has now.

The schema with the earlier type is listed in the metadata, or was removed from it: Iceberg does so when no snapshot has it.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import lakeprune
from lakeprune.formats.iceberg import specs as module
from lakeprune.formats.iceberg import summaries as summaries_module
from lakeprune.formats.iceberg.metadata import PartitionField, PartitionSpec, TableMetadata
from lakeprune.formats.iceberg.widened import Earlier, Widened
from lakeprune.formats.lifting.bucket import Bucket
from lakeprune.formats.lifting.truncate import Truncate
from lakeprune.values.types import DataType, Kind
from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, encoded, manifest, write_table

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
    "the same in a manifest that was written again": ("int", "long", "truncate[10]", WRAPPED, "long", f"x = {LEAST}"),
}  # fmt: skip
WRITTEN_AS_INT = [
    name for name, (*_, transform, _, type_, _) in PROMOTED.items() if transform != "bucket[16]" and type_ != "long"
]


def schemas_of(before: str, now: str, *, is_listed: bool) -> dict[str, Any]:
    """What the metadata has of the schemas; it may list the earlier one no more."""
    found = [
        {"schema-id": number, "type": "struct", "fields": [column(2, "x", kind)]} for number, kind in enumerate((before, now))
    ]
    return {"schemas": found if is_listed else found[1:], "current-schema-id": 1}


def written(root: Path, name: str, *, summaries: bool = False, other_spec: bool = False, is_listed: bool = True) -> str:
    """The table at `root`, with the condition that its one row satisfies."""
    before, now, transform, value, type_, where = PROMOTED[name]
    specs = {0: [SpecField(2, transform, "p", 1000, type_)], **({1: []} if other_spec else {})}
    entries = [Entry("f", 1, tuple={1000: value}), *([Entry("g", 1, spec=1)] if other_spec else [])]
    how = Layout(3, summaries=summaries, changes=schemas_of(before, now, is_listed=is_listed))
    write_table(root, [], entries, specs, how)
    return where


def is_kept(root: Path, where: str) -> bool:
    files = lakeprune.explain(root, where, nan_policy="strict", timezone="UTC").files
    return any(file.kept for file in files if file.path == "f")


@pytest.mark.parametrize("is_listed", [True, False], ids=["listed", "removed"])
@pytest.mark.parametrize("other_spec", [False, True], ids=["one spec", "an older spec"])
@pytest.mark.parametrize("summaries", [False, True], ids=["tuples", "summaries"])
@pytest.mark.parametrize("name", PROMOTED)
def test_a_value_of_the_earlier_type_drops_no_file(
    tmp_path: Path, name: str, summaries: bool, other_spec: bool, is_listed: bool
) -> None:
    where = written(tmp_path, name, summaries=summaries, other_spec=other_spec, is_listed=is_listed)
    assert is_kept(tmp_path, where)
    assert is_kept(tmp_path, "x IS NOT NULL")


@pytest.mark.parametrize("summaries", [False, True], ids=["tuples", "summaries"])
@pytest.mark.parametrize("name", WRITTEN_AS_INT)
def test_how_a_value_was_written_tells_without_any_other_evidence(tmp_path: Path, name: str, summaries: bool) -> None:
    """The metadata looks as if there had never been another schema."""
    _, now, transform, value, type_, where = PROMOTED[name]
    spec = {0: [SpecField(2, transform, "p", 1000, type_)]}
    write_table(tmp_path, [column(2, "x", now)], [Entry("f", 1, tuple={1000: value})], spec, Layout(3, summaries=summaries))
    assert is_kept(tmp_path, where)


@pytest.mark.parametrize("is_listed", [True, False], ids=["listed", "removed"])
@pytest.mark.parametrize("name", PROMOTED)
def test_without_the_guards_the_file_is_lost(tmp_path: Path, name: str, is_listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: nobody knows of the earlier type."""
    monkeypatch.setattr(module, "earlier_types", lambda _metadata: {})
    monkeypatch.setattr(module, "possible_types", lambda _metadata: {})
    monkeypatch.setattr(module, "widened", lambda _type, _transform: None)
    assert not is_kept(tmp_path, written(tmp_path, name, is_listed=is_listed))


@pytest.mark.parametrize(
    ("guard", "without", "name", "summaries"),
    [
        ("possible_types", lambda _metadata: {}, "bucket of a date", False),
        ("possible_types", lambda _metadata: {}, "bucket of a date", True),
        ("possible_types", lambda _metadata: {}, "the same in a manifest that was written again", False),
        ("possible_types", lambda _metadata: {}, "the same in a manifest that was written again", True),
        ("widened", lambda _type, _transform: None, "identity of a date", False),
        ("widened", lambda _type, _transform: None, "identity of a date, now with nanoseconds", False),
    ],
)  # fmt: skip
def test_each_guard_alone_keeps_a_file_whose_schema_was_removed(
    tmp_path: Path, guard: str, without: Any, name: str, summaries: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = written(tmp_path, name, summaries=summaries, is_listed=False)
    assert is_kept(tmp_path, where)
    monkeypatch.setattr(module, guard, without)
    assert not is_kept(tmp_path, where)


def test_the_length_of_a_summary_keeps_a_manifest_with_a_wrapped_int(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "possible_types", lambda _metadata: {})
    where = written(tmp_path, "truncate of an int that wrapped around", summaries=True, is_listed=False)
    assert is_kept(tmp_path, where)
    monkeypatch.setattr(summaries_module, "_may_be_wrapped", lambda *_: False)
    assert not is_kept(tmp_path, where)


@pytest.mark.parametrize("summaries", [False, True], ids=["tuples", "summaries"])
@pytest.mark.parametrize("now", ["timestamp", "timestamp_ns"])
def test_days_prove_their_midnight_where_the_header_tells_that_they_are_days(tmp_path: Path, now: str, summaries: bool) -> None:
    spec = {0: [SpecField(2, "identity", "p", 1000, "date")]}
    how = Layout(3, summaries=summaries, changes=schemas_of("date", now, is_listed=False))
    write_table(tmp_path, [], [Entry("f", 1, tuple={1000: DAY})], spec, how)
    assert is_kept(tmp_path, "x >= '2020-01-01' AND x <= '2020-01-01'")
    assert not is_kept(tmp_path, "x < '2019-12-31 23:59:59'")
    assert not is_kept(tmp_path, "x > '2020-01-01 00:00:01'")


@pytest.mark.parametrize(
    ("version", "is_listed", "expected"), [(3, True, False), (3, False, True), (2, False, False)]
)  # fmt: skip
def test_a_bucket_of_a_timestamp_proves_nothing_only_where_it_may_have_been_a_date(
    tmp_path: Path, version: int, is_listed: bool, expected: bool
) -> None:
    other = (Bucket(DataType(Kind.TIMESTAMP_NTZ), 16).apply(DAY * 86_400_000_000) + 1) % 16  # type: ignore[operator]  # not NULL
    spec = {0: [SpecField(2, "bucket[16]", "p", 1000, "int")]}
    how = Layout(version, changes=schemas_of("timestamp", "timestamp", is_listed=is_listed))
    write_table(tmp_path, [], [Entry("f", 1, tuple={1000: other})], spec, how)
    assert is_kept(tmp_path, NEW_YEAR) is expected


def test_an_engine_that_does_not_show_how_values_were_written_takes_none_for_a_timestamp() -> None:
    schema = {"schema-id": 1, "type": "struct", "fields": [column(2, "x", "timestamp")]}
    field = PartitionField("p", "identity", 2, field_id=1000)
    metadata = TableMetadata(3, schemas=(schema,), current_schema_id=1, partition_specs=(PartitionSpec(0, (field,)),))
    seen = module.specs_of(metadata, [0], schema)
    assert [spec[0].tells for spec in (seen[0], module.as_shown(seen)[0])] == [True, False]


def test_deletes_written_after_the_promotion_apply_to_files_written_before(tmp_path: Path) -> None:
    before, now = (SpecField(2, "identity", "p", 1000, kind) for kind in ("date", "timestamp"))
    delete = Entry("eq", 1, content=2, equality_ids=[2], tuple={1000: DAY * 86_400_000_000})
    entries = [Entry("f", 1, tuple={1000: DAY}, sequence=1), replace(delete, tuple={1000: DAY})]
    write_table(tmp_path, [column(2, "x", "timestamp")], entries, {0: [before]}, Layout(3, sequence=5, summaries=False))
    (tmp_path / "metadata" / "0-1-m0.avro").write_bytes(manifest([delete], [now]))
    report = lakeprune.explain(tmp_path, NEW_YEAR, timezone="UTC")
    assert [file.live_rows for file in report.files] == [None]


def test_a_type_that_is_neither_int_nor_long_tells_nothing() -> None:
    assert Widened("timestamp").values([7, None], None) == [Earlier(7), None]
    assert Widened("timestamp").values([7, None], "long") == [7, None]
    assert Widened("timestamptz").values([7, None], "int") == [Earlier(7), None]
    assert Widened("timestamp_ns").values([200_000], "int") == [Earlier(200_000)]  # beyond the last of them


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
    spec = {0: [SpecField(2, transform, "p", 1000, "float" if isinstance(value, float) else "long")]}
    for is_listed in (True, False):
        how = Layout(3, summaries=False, changes=schemas_of(*types, is_listed=is_listed))
        write_table(tmp_path, [], [Entry("f", 1, tuple={1000: value})], spec, how)
        assert is_kept(tmp_path, some)
        assert not is_kept(tmp_path, never)


def test_days_that_no_timestamp_reaches_are_no_bound(tmp_path: Path) -> None:
    """A bound of a date under a nanosecond timestamp, as a damaged manifest may have it."""
    far = encoded(2**31 - 1, "date")
    metrics = {"lower_bounds": {2: far}, "upper_bounds": {2: far}}
    write_table(tmp_path, [column(2, "x", "timestamp_ns")], [Entry("f", 1, metrics=metrics)], None, Layout(3))
    assert is_kept(tmp_path, "x < '2020-01-01'")


@pytest.mark.parametrize("summaries", [False, True], ids=["metrics", "summaries"])
@pytest.mark.parametrize("type_", ["timestamptz", "timestamptz_ns"])
def test_days_under_a_timestamp_with_a_zone_are_no_bound(tmp_path: Path, type_: str, summaries: bool) -> None:
    """No date is promoted to one: at which moment they begin is not known."""
    days = encoded(DAY, "date")
    entry = Entry("f", 1, tuple={1000: DAY}, metrics={"lower_bounds": {2: days}, "upper_bounds": {2: days}})
    spec = {0: [SpecField(2, "identity" if summaries else "void", "p", 1000, "date")]}
    write_table(tmp_path, [column(2, "x", type_)], [entry], spec, Layout(3))
    assert is_kept(tmp_path, "x = TIMESTAMP'2020-01-01 05:00:00Z'")


@pytest.mark.parametrize(
    ("type_", "before", "value", "never", "some"),
    [
        ("long", "int", 7, "x <> 7", "x = 7"),
        ("double", "float", 1.5, "x < 1.5", "x = 1.5"),
        ("timestamp", "date", DAY, "x > '2020-01-01 00:00:01'", NEW_YEAR),
        ("timestamp_ns", "date", DAY, "x > '2020-01-01 00:00:01'", "x = '2020-01-01'"),
        ("decimal(20, 2)", "decimal(4, 2)", Decimal("1.50"), "x <> 1.50", "x = 1.50"),
    ],
)  # fmt: skip
def test_bounds_of_the_earlier_type_are_those_of_the_same_value(
    tmp_path: Path, type_: str, before: str, value: Any, never: str, some: str
) -> None:
    bound = {2: encoded(value, before)}
    metrics: dict[str, dict[int, Any]] = {"lower_bounds": bound, "upper_bounds": bound, "nan_value_counts": {2: 0}}
    write_table(tmp_path, [column(2, "x", type_)], [Entry("f", 1, metrics=metrics)], None, Layout(3))
    assert is_kept(tmp_path, some)
    assert not is_kept(tmp_path, never)
