"""Traps of Iceberg's metrics: a file with a matching row whose metadata tempts to drop it; and each guard switched off."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lakeprune
from lakeprune.formats.iceberg import files
from lakeprune.formats.iceberg.metrics_sql import MetricsSql
from lakeprune.formats.iceberg.snapshot import IcebergSnapshot
from lakeprune.values.types import DataType
from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, encoded, manifest, write_table

_NOON = 1_704_110_400_000_000  # 2024-01-01 12:00, microseconds
Guard = tuple[Any, str, Any]  # where it is, its name, and what is there without it


def _unguarded_bounds(sql: MetricsSql) -> tuple[str, str]:
    return sql.raw.lo, sql.raw.hi


def _by_type_only(values: list[bytes | None], _type: DataType) -> list[Any]:
    """Whatever the length: four bytes are a number of the column's unit."""
    return [None if value is None else struct.unpack("<i" if len(value) == 4 else "<q", value)[0] for value in values]


_BOUNDS: Guard = (MetricsSql, "_bounds", _unguarded_bounds)
_CUT: Guard = (IcebergSnapshot, "_cut", lambda _self, _column: 10**9)
_NESTED: Guard = (MetricsSql, "_counts_every_row", lambda _self: "TRUE")
_LENGTH: Guard = (files, "decoded", _by_type_only)


def _metrics(
    low: bytes | None, high: bytes | None, *, nulls: int | None = 0, values: int | None = 10, nans: int | None = None
) -> Any:
    counts = {
        "value_counts": values,
        "null_value_counts": nulls,
        "nan_value_counts": nans,
        "lower_bounds": low,
        "upper_bounds": high,
    }
    return {kind: {2: value} for kind, value in counts.items() if value is not None}


# type, metrics, a predicate that a row of the file satisfies, the guard
_TRAPS: dict[str, tuple[Any, Any, str, Guard]] = {
    "T5: a maximum in whole milliseconds": (
        "timestamp",
        _metrics(encoded(_NOON, "timestamp"), encoded(_NOON, "timestamp")),
        "x > '2024-01-01 12:00:00.0004'",
        _BOUNDS,
    ),
    "T5: a minimum before 1970 cut toward zero": (
        "timestamp",
        _metrics(encoded(-5_000_000, "timestamp"), encoded(0, "timestamp")),
        "x < '1969-12-31 23:59:55'",
        _BOUNDS,
    ),
    "T16: a maximum that is only cut": (
        "string",
        _metrics(b"a", b"b" * 16),
        f"x = '{'b' * 16}z'",
        _CUT,
    ),
    "T16: a maximum of bytes that is only cut": (
        "binary",
        _metrics(b"a", b"b" * 16),
        f"x = X'{'62' * 16}7A'",
        _BOUNDS,
    ),
    "T24: the minimum above the maximum": (
        "long",
        _metrics(encoded(9, "long"), encoded(1, "long")),
        "x = 5",
        _BOUNDS,
    ),
    "T2: NaN as both bounds": (
        "double",
        _metrics(encoded(math.nan, "double"), encoded(math.nan, "double"), nans=1),
        "x < 3",
        _BOUNDS,
    ),
    "T57: days under a timestamp": (
        "timestamp",
        _metrics(encoded(18262, "date"), encoded(18262, "date")),
        "x = '2020-01-01 00:00:00'",
        _LENGTH,
    ),
    "T34: rows under a NULL struct are not counted": (
        {"type": "struct", "fields": [column(2, "m", "float")]},
        _metrics(encoded(3.0, "float"), encoded(4.0, "float"), values=4, nans=0),
        "x.m IS NULL",
        _NESTED,
    ),
}


@pytest.fixture
def is_kept(tmp_path: Path) -> Callable[[Any, Any, str], bool]:
    def judge(type_: Any, metrics: Any, where: str) -> bool:
        number = 1 if isinstance(type_, dict) else 2
        write_table(tmp_path, [column(number, "x", type_)], [Entry("f", 10, metrics=metrics)])
        return any(file.kept for file in lakeprune.explain(tmp_path, where, nan_policy="strict").files)

    return judge


@pytest.mark.parametrize("name", _TRAPS)
def test_a_file_with_a_matching_row_is_kept(is_kept: Callable[[Any, Any, str], bool], name: str) -> None:
    type_, metrics, where, _ = _TRAPS[name]
    assert is_kept(type_, metrics, where)


@pytest.mark.parametrize("name", _TRAPS)
def test_without_its_guard_the_file_is_lost(
    is_kept: Callable[[Any, Any, str], bool], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_, metrics, where, guard = _TRAPS[name]
    monkeypatch.setattr(*guard)
    assert not is_kept(type_, metrics, where)


_NEW_YEAR = 1_704_067_200_000_000_500  # of 2024, and half a microsecond: nanoseconds


@pytest.mark.parametrize(
    ("type_", "metrics", "where", "expected"),
    [
        ("long", _metrics(encoded(1, "long"), encoded(9, "long"), nulls=None), "x IS NULL", True),  # T29
        ("long", _metrics(encoded(1, "long"), encoded(9, "long")), "x IS NULL", False),
        ("long", _metrics(None, None, nulls=10), "x IS NOT NULL", False),
        ("long", {}, "x = 3", True),  # T30
        ("long", _metrics(b"\1\2\3", b"\1\2\3"), "x = 3", True),  # not a number: unknown
        ("long", _metrics(encoded(1, "int"), encoded(9, "int")), "x = 10", False),  # T57: an int that became a long
        ("double", _metrics(encoded(1.0, "float"), encoded(9.0, "float"), nans=0), "x > 9", False),
        ("double", _metrics(encoded(1.0, "double"), encoded(2.0, "double"), nans=1), "x > 100", True),  # T1: NaN is the greatest
        ("double", _metrics(encoded(1.0, "double"), encoded(2.0, "double")), "x > 100", True),
        ("double", _metrics(encoded(1.0, "double"), encoded(2.0, "double"), nans=0), "x > 100", False),
        ("double", _metrics(encoded(-0.0, "double"), encoded(-0.0, "double"), nans=0), "x = 0.0", True),  # T3
        ("double", _metrics(encoded(-0.0, "double"), encoded(-0.0, "double"), nans=0), "x >= 0", True),
        ("string", _metrics(b"\xff\xfe", b"\xff\xff"), "x = 'a'", True),  # not UTF-8
        ("uuid", _metrics(b"\x7f" * 16, b"\x80" * 16), "x = '90000000-0000-0000-0000-000000000000'", True),  # T23
        ("decimal(9, 2)", _metrics(b"\x01\x00", b"\x02\x00"), "x > 5.12", False),
        ("decimal(9, 2)", _metrics(b"\xff", b"\x02\x00"), "x = -0.01", True),
        ("boolean", _metrics(b"\x01", b"\x01"), "NOT x", False),
        ("date", _metrics(encoded(-1, "date"), encoded(-1, "date")), "x = '1969-12-31'", True),
        ("timestamp_ns", _metrics(encoded(5, "long"), encoded(5, "long")), "x > '2024-01-01'", False),
        ("timestamp_ns", _metrics(encoded(_NEW_YEAR, "long"), encoded(_NEW_YEAR, "long")), "x > '2024-01-01'", True),  # T90
        ("fixed[2]", _metrics(b"ab", b"cd"), "x = X'7A7A'", False),
        ("variant", {}, "x IS NULL", True),
        ("geometry", {}, "x IS NULL", True),
    ],
)  # fmt: skip
def test_metrics_prove_what_they_prove(
    is_kept: Callable[[Any, Any, str], bool], type_: str, metrics: Any, where: str, expected: bool
) -> None:
    assert is_kept(type_, metrics, where) is expected


def test_a_tuple_that_a_manifest_does_not_have_is_not_null(tmp_path: Path) -> None:
    """T30: the spec has the field and the manifest's own schema does not."""
    spec = {0: (SpecField(2, "identity", "x", 1000, "long"),)}
    write_table(tmp_path, [column(2, "x", "long")], [Entry("f", 10, tuple={1000: 5})], spec, Layout(summaries=False))
    (tmp_path / "metadata/0-0-m0.avro").write_bytes(manifest([Entry("f", 10)], ()))
    for where in ("x = 5", "x IS NOT NULL", "x IS NULL", "x % 2 = 1"):
        assert any(file.kept for file in lakeprune.explain(tmp_path, where, nan_policy="strict").files), where


@pytest.mark.parametrize("type_", ["timestamp_ns", "timestamptz_ns"])
@pytest.mark.parametrize(("transform", "value", "kind"), [("identity", 1_704_067_200 * 10**9, "long"), ("day", 19_723, "int")])
def test_partitions_of_nanoseconds_are_not_read_as_microseconds(
    tmp_path: Path, type_: str, transform: str, value: int, kind: str
) -> None:
    """T90: of 2024-01-01, whose nanoseconds are the microseconds of a time some 54,000 years later."""
    spec = {0: (SpecField(2, transform, "p", 1000, kind),)}
    write_table(tmp_path, [column(2, "x", type_)], [Entry("f", 10, tuple={1000: value})], spec, Layout(3))
    for where in (
        "x = '2024-01-01'",
        "x < '2024-01-02'",
        "year(x) = 2024",
        "date_trunc('day', x) = '2024-01-01'",
        "x IS NOT NULL",
    ):
        assert any(file.kept for file in lakeprune.explain(tmp_path, where, nan_policy="strict").files), where


def test_missing_metrics_do_not_make_a_column_with_a_default_null(tmp_path: Path) -> None:
    """T55, T89: the file was written before the column was added, so its rows have the default."""
    country = column(5, "country", "string", **{"initial-default": "US", "write-default": "US"})
    write_table(tmp_path, [column(2, "x", "long"), country], [Entry("f", 10, metrics=_metrics(None, None))])
    for where in ("country = 'US'", "country IS NOT NULL", "country IS NULL"):
        assert any(file.kept for file in lakeprune.explain(tmp_path, where, nan_policy="strict").files), where
