"""The reader of footers on executors sees what DuckDB sees: column types, bounds, counts, flags and bytes, footer by footer."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.json import decode

from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.engines.engine import Element
from lakeprune.engines.spark.footer_reader import _NAMES, footer_rows, read_batches
from lakeprune.formats.parquet.schema import type_of
from lakeprune.formats.row_groups.leaves import leaves_of
from lakeprune.values.types import Kind
from tests.formats.parquet.random_files import know_less, texts_of
from tests.formats.parquet.thrift import NULLS, deprecated, patch, patch_statistics, without, without_column_orders
from tests.soundness.delta_log import arrow_rows
from tests.soundness.tables import random_table

FILTERS = ("has_bloom", "bloom_start", "bloom_end")
COUNTS = ("row_group", "leaf", "rows", "num_values", "is_max_exact", "nulls", "nans", "has_type_order", "start_byte", "end_byte")
UTC = dt.UTC
VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "i8": (pa.int8(), [-5, 7]), "i16": (pa.int16(), [-300, 7]), "i32": (pa.int32(), [-(2**31), 7]),
    "i64": (pa.int64(), [-(2**63), 7]),
    "u8": (pa.uint8(), [0, 200]), "u16": (pa.uint16(), [0, 60_000]), "u32": (pa.uint32(), [1, 3_000_000_000]),
    "u64": (pa.uint64(), [1, 2**64 - 1]), "f": (pa.float32(), [-0.1, 3.5]), "d": (pa.float64(), [-0.1, 1e300]),
    "inf": (pa.float64(), [1.0, float("inf")]), "nan": (pa.float64(), [1.0, float("nan")]), "b": (pa.bool_(), [True, False]),
    "s": (pa.string(), ["", "é🌼"]), "slash": (pa.string(), ["a\\x41", "b"]), "y": (pa.binary(), [b"", b"\x00\xff'"]),
    "fixed": (pa.binary(3), [b"abc", b"\xff\x00\x01"]), "day": (pa.date32(), [dt.date(1066, 10, 14), dt.date(2024, 2, 29)]),
    "us": (pa.timestamp("us"), [dt.datetime(1969, 12, 31, 23, 59, 59, 1), dt.datetime(2024, 1, 1)]),
    "ms": (pa.timestamp("ms"), [dt.datetime(1969, 12, 31, 23, 59, 59, 1000), dt.datetime(2024, 1, 1)]),
    "tz": (pa.timestamp("us", "UTC"), [dt.datetime(1969, 12, 31, 23, 59, 59, 1, UTC), dt.datetime(2024, 1, 1, tzinfo=UTC)]),
    "ns": (pa.timestamp("ns"), [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2)]),
    "time": (pa.time64("us"), [dt.time(1), dt.time(2)]),
    "dec9": (pa.decimal128(9, 2), [Decimal("-1.05"), Decimal("0.01")]),
    "dec18": (pa.decimal128(18, 0), [Decimal(-5), Decimal(7)]),
    "dec38": (pa.decimal128(38, 10), [Decimal("-1.5"), Decimal("12345678901234567890.5")]),
    "nulls": (pa.int64(), [None, None]),
    "st": (pa.struct([("a", pa.int32()), ("l", pa.list_(pa.int64()))]), [{"a": 1, "l": [1]}] * 2),
    "m": (pa.map_(pa.string(), pa.int64()), [[("a", 1)]] * 2), "l": (pa.list_(pa.string()), [["a"], []]),
}  # fmt: skip


def of_every_type() -> pa.Table:
    return pa.table({name: pa.array(values, kind) for name, (kind, values) in VALUES.items()})


def both(place: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of a footer by this reader and by DuckDB, the one of the file first."""
    content = place.read_bytes()
    (length,) = struct.unpack("<I", content[-8:-4])
    own = [dict(zip(_NAMES, row, strict=True)) for row in footer_rows(str(place), content[-8 - length : -8])]
    engine = DuckDBEngine()
    with engine.awake():
        read = engine.read_footers([str(place)])
        about = "rows, created_by, elements, is_julian"
        ((rows, created_by, elements, is_julian),) = engine.query(f"SELECT {about} FROM {read.files}")
        assert bool(engine.query(f"SELECT * FROM {engine.footers([str(place)]).julian}")) == is_julian
        names = [name for name in _NAMES if name not in ("problem", "file_rows", "created_by", "elements", "is_julian")]
        chunks = engine.query(f"SELECT {', '.join(names)} FROM {read.chunks} ORDER BY row_group, leaf")
    theirs = [{"file_rows": rows, "created_by": created_by, "elements": elements, "is_julian": is_julian}]
    return own, theirs + [dict(zip(names, row, strict=True)) for row in chunks]


def check(place: Path) -> int:
    (head, *own), (their_head, *theirs) = both(place)
    for name in ("file_rows", "created_by", "is_julian"):
        assert head[name] == their_head[name], name
    schemas = [decode(each["elements"], type=list[Element]) for each in (head, their_head)]
    ours, other = (
        [(leaf.path, leaf.ids, leaf.is_single, type_of(leaf.element)) for leaf in leaves_of(schema)] for schema in schemas
    )
    assert ours == other
    leaves = [kind for *_, kind in ours]
    assert [[row[name] for name in (*COUNTS, *FILTERS, "column_path")] for row in own] == [
        [row[name] for name in (*COUNTS, *FILTERS, "column_path")] for row in theirs
    ]
    texts = 0
    for mine, shown in zip(own, theirs, strict=True):
        kind = leaves[mine["leaf"]].kind
        for name in ("min_text", "max_text", "old_min_text", "old_max_text"):
            if kind is not Kind.OTHER and not (kind is Kind.BINARY and name.startswith("old")):
                assert _value(mine[name], kind, is_own=True) == _value(shown[name], kind, is_own=False), (mine, shown, name)
                texts += mine[name] is not None
    return texts


def _value(text: str | None, kind: Kind, *, is_own: bool) -> Any:
    if text is None:
        return None
    if kind in (Kind.FLOAT, Kind.DOUBLE):
        return struct.unpack("<f", struct.pack("<f", float(text))) if kind is Kind.FLOAT else float(text)
    if kind is Kind.BINARY:
        with duckdb.connect() as connection:
            return bytes.fromhex(text) if is_own else connection.execute("SELECT CAST(? AS BLOB)", [text]).fetchall()[0][0]
    return text


@pytest.mark.parametrize("as_integer", [False, True])
def test_every_type_that_pyarrow_writes(tmp_path: Path, as_integer: bool) -> None:
    place = tmp_path / "f.parquet"
    pq.write_table(
        of_every_type(), place, row_group_size=1, store_decimal_as_integer=as_integer, bloom_filter_options={"i64": True}
    )
    assert check(place) > 80


def test_every_type_that_duckdb_writes(tmp_path: Path) -> None:
    place = tmp_path / "f.parquet"
    with duckdb.connect() as connection:
        connection.register("rows", of_every_type().drop_columns(["nulls", "fixed"]))
        connection.execute(f"COPY rows TO '{place}' (FORMAT parquet)")
    assert check(place) > 20


@pytest.mark.parametrize("seed", range(12))
def test_random_footers_and_patched_ones(tmp_path: Path, seed: int) -> None:
    rng = Random(seed)
    table = random_table(rng)
    for file in table.files:
        place = tmp_path / file.name
        pq.write_table(arrow_rows(table, file), place, row_group_size=rng.randint(1, 3))
        check(place)
        know_less(place, texts_of(table), rng)
        check(place)


def test_old_footers(tmp_path: Path) -> None:
    place = tmp_path / "f.parquet"
    pq.write_table(of_every_type(), place, version="1.0", use_deprecated_int96_timestamps=True, coerce_timestamps="ms",
                   allow_truncated_timestamps=True)  # fmt: skip
    check(place)
    patch_statistics(place, deprecated)
    patch_statistics(place, without(NULLS))
    patch(place, without_column_orders)
    check(place)


@pytest.mark.parametrize(
    ("marks", "is_julian"),
    [
        ({"org.apache.spark.version": "2.4.8"}, True),
        ({"org.apache.spark.version": "3.0.0"}, False),
        ({"org.apache.spark.version": "4.1.4", "é\x00": b"\xff\x00"}, False),
        ({"org.apache.spark.version": "3.5.0", "org.apache.spark.legacyDateTime": ""}, True),
        ({"org.apache.spark.legacyINT96": ""}, True),
        ({}, False),
    ],
)
def test_days_of_the_julian_calendar_are_marked(tmp_path: Path, marks: dict[str, Any], is_julian: bool) -> None:
    place = tmp_path / "f.parquet"
    pq.write_table(pa.table({"x": [1]}).replace_schema_metadata(marks), place)
    check(place)
    assert [rows[0]["is_julian"] for rows in both(place)] == [is_julian, is_julian]


def test_what_is_not_a_footer_is_a_problem_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"PAR1 no footer PARE")
    (tmp_path / "b").write_bytes(b"PAR1" + b"\x99" * 20 + struct.pack("<I", 20) + b"PAR1")
    (tmp_path / "c").write_bytes(b"PAR1" + struct.pack("<I", 10**6) + b"PAR1")
    names = [str(tmp_path / name) for name in "abcd"]
    batch = pa.RecordBatch.from_arrays([pa.array(names), pa.array([f"file://{name}" for name in names])], names=["file", "url"])
    problems = [row for found in read_batches([batch]) for row in found.to_pylist()]
    assert [row["file"] for row in problems] == names
    assert all(row["problem"] for row in problems)
    assert "FileNotFoundError" in problems[3]["problem"]
