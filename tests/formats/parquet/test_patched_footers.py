"""Footers that no writer at hand produces, patched by hand: each is kept, and would be dropped without its guard.

What is patched is the footer only. The rows are those that were written, so that a wrong drop is a lost row.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeprune.formats.parquet import bounds, snapshot
from tests.formats.parquet.files import verdicts, write
from tests.formats.parquet.thrift import (
    BYTES,
    I64,
    MAX,
    MAX_IS_EXACT,
    MIN,
    MIN_IS_EXACT,
    NULLS,
    Fields,
    deprecated,
    patch,
    patch_statistics,
    setting,
    without,
    without_column_orders,
)

Change = Callable[[Path], None]
Guard = tuple[str, list[Any], pa.DataType, Change, str, tuple[str, str]]
NAN = struct.pack("<d", float("nan"))


def each(change: Callable[[Fields], None]) -> Change:
    """A change of the statistics of every chunk."""
    return lambda place: patch_statistics(place, change)


def whole(change: Callable[[Fields], None]) -> Change:
    return lambda place: patch(place, change)


def both(*changes: Change) -> Change:
    def change(place: Path) -> None:
        for one in changes:
            one(place)

    return change


def one_row_more(footer: Fields) -> None:
    """The number of rows of the file, which its row groups do not add up to."""
    footer[3] = (I64, footer[3][1] + 1)


def signed_bytes(statistics: Fields) -> None:
    """As old parquet-mr ordered bytes: those above 0x7F are negative, so the minimum is 'é' and the maximum 'a' (T17)."""
    statistics[MIN], statistics[MAX] = (BYTES, "é".encode()), (BYTES, b"a")


def swapped(statistics: Fields) -> None:
    statistics[MIN], statistics[MAX] = statistics[MAX], statistics[MIN]


# what the footer lacks | values | type | change | predicates of which some row is TRUE, or a file that is not FULL
UNPROVEN: list[tuple[str, list[Any], pa.DataType, Change, list[str]]] = [
    ("null counts", [1, None], pa.int32(), each(without(NULLS)), ["x IS NULL", "NOT (x <=> 1)", "coalesce(x, 9) = 9"]),
    ("a null count that can be", [1, None], pa.int32(), each(setting(NULLS, I64, 7)), ["x IS NULL", "x = 1"]),
    ("a null count that is not negative", [1, None], pa.int32(), each(setting(NULLS, I64, -1)), ["x IS NULL", "x = 1"]),
    ("a null count beside its bounds", [1, 2], pa.int32(), each(setting(NULLS, I64, 2)), ["x = 1", "x IS NOT NULL"]),
    ("anything but deprecated bounds", ["a", "é"], pa.string(), each(deprecated), ["x = 'é'", "x = 'b' OR x = 'a'"]),
    (
        "the order of bytes",
        ["a", "é"],
        pa.string(),
        both(each(signed_bytes), each(deprecated)),
        ["x = 'a'", "x = 'é'", "x > 'b'"],
    ),
    ("column orders", ["a", "é"], pa.string(), both(each(signed_bytes), whole(without_column_orders)), ["x = 'a'", "x > 'b'"]),
    ("the order of its bounds", [1, 5], pa.int32(), each(swapped), ["x = 1", "x = 3 OR x = 5", "x >= 5"]),
    ("a minimum that is a number", [1.0, 9.0], pa.float64(), each(setting(MIN, BYTES, NAN)), ["x = 1", "x < 5"]),
    ("a maximum that is a number", [1.0, 9.0], pa.float64(), each(setting(MAX, BYTES, NAN)), ["x = 9", "x > 5"]),
    ("row groups that are all of it", [1, 2], pa.int32(), whole(one_row_more), ["x = 3", "x IS NULL"]),
    (
        "a maximum of whole bytes",
        [b"a", b"mmzz"],
        pa.binary(),
        each(lambda s: s.update({MAX: (BYTES, b"mm"), MAX_IS_EXACT: (2, None), MIN_IS_EXACT: (2, None)})),
        ["x = X'6D6D7A7A'", "x > X'6D6D'"],
    ),
    (
        "a flag that its maximum is whole",
        ["a", "mmzz"],
        pa.string(),
        each(lambda s: (s.update({MAX: (BYTES, b"mm")}), without(MAX_IS_EXACT, MIN_IS_EXACT)(s))[0]),
        ["x = 'mmzz'", "x > 'mm'"],
    ),
]


@pytest.mark.parametrize(("lacks", "values", "kind", "change", "wheres"), UNPROVEN, ids=[case[0] for case in UNPROVEN])
def test_a_file_whose_footer_lacks_something_is_kept(
    tmp_path: Path, lacks: str, values: list[Any], kind: pa.DataType, change: Change, wheres: list[str]
) -> None:
    place = write(tmp_path / "f.parquet", {"x": pa.array(values, kind)})
    change(place)
    for where in wheres:
        assert verdicts(place, where) == {"f.parquet": "KEEP"}, f"{where}, without {lacks}"


# the guard | values | type | change | a predicate that some row satisfies | the guard in SQL, and what stands there without it
GUARDS: list[Guard] = [
    (
        "only bounds of a defined order count",
        ["a", "é"],
        pa.string(),
        both(each(lambda s: s.update({MIN: (BYTES, b"a"), MAX: (BYTES, b"a")})), whole(without_column_orders)),
        "x = 'é'",
        ("CASE WHEN has_type_order THEN", "CASE WHEN TRUE THEN"),
    ),
    (
        "bounds in the wrong order are discarded",
        [1, 5],
        pa.int32(),
        each(swapped),
        "x = 5",
        ("coalesce(lo0 <= hi0, TRUE)", "TRUE"),
    ),
    (
        "all NULL and yet with bounds is not all NULL",
        [1, 2],
        pa.int32(),
        each(setting(NULLS, I64, 2)),
        "x = 1",
        ("AND min_text IS NULL AND max_text IS NULL AS empty", "AS empty"),
    ),
    (
        "a NaN among the bounds discards both",
        [1.0, 9.0],
        pa.float64(),
        each(lambda s: s.update({MIN: (BYTES, NAN), MAX: (BYTES, struct.pack("<d", 1.0))})),
        "x BETWEEN 8 AND 9",
        ("min_text IS NOT NULL AND max_text IS NOT NULL", "TRUE"),
    ),
    (
        "a maximum of bytes must be whole",
        [b"a", b"mmzz"],
        pa.binary(),
        each(lambda s: s.update({MAX: (BYTES, b"mm"), MAX_IS_EXACT: (2, None)})),
        "x = X'6D6D7A7A'",
        ("CASE WHEN is_max_exact THEN", "CASE WHEN TRUE THEN"),
    ),
]


@pytest.mark.parametrize("case", GUARDS, ids=[case[0] for case in GUARDS])
def test_without_its_guard_the_row_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Guard) -> None:
    guard, values, kind, change, where, switch = case
    place = write(tmp_path / "f.parquet", {"x": pa.array(values, kind)})
    change(place)
    assert verdicts(place, where) == {"f.parquet": "KEEP"}, guard
    whole_sql = bounds.files_sql

    def unguarded(*arguments: Any) -> str:
        text = whole_sql(*arguments)
        assert switch[0] in text
        return text.replace(*switch)

    monkeypatch.setattr(snapshot, "files_sql", unguarded)
    assert verdicts(place, where) == {"f.parquet": "DROP"}, guard


def test_a_footer_that_is_not_patched_stays_as_it_is(tmp_path: Path) -> None:
    place = tmp_path / "f.parquet"
    rows = pa.table({"x": [1, 2, None] * 9, "s": ["a" * 50, "b", None] * 9, "st": [{"a": [1, 2], "b": True}] * 27})
    pq.write_table(rows, place, row_group_size=2, write_page_index=True)
    before = place.read_bytes()
    patch(place, lambda _footer: None)
    assert place.read_bytes() == before
