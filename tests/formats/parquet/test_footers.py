"""What a footer proves, type by type and writer by writer: a value inside, one outside, and what is not certain."""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.json import decode

import lakeprune
from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.engines.engine import Element
from lakeprune.formats.parquet.bounds import bound
from lakeprune.formats.parquet.schema import fields_of
from tests.formats.parquet.files import verdict, verdicts, write

NOON = datetime(2024, 1, 15, 12, 0, 0, 123456)

# values | type | a predicate that no row satisfies | one that some row satisfies
PROVEN: list[tuple[list[Any], pa.DataType, str, str]] = [
    ([True, None], pa.bool_(), "x = false", "x = true"),
    ([-128, 5], pa.int8(), "x > 5", "x = 5"),
    ([-32768, 5], pa.int16(), "x > 5", "x = 5"),
    ([-(2**31), 5], pa.int32(), "x > 5", "x = 5"),
    ([-(2**63), 2**63 - 1], pa.int64(), "x IS NULL", "x = 9223372036854775807"),
    ([200, 255], pa.uint8(), "x < 200", "x = 255"),
    ([40000, 65535], pa.uint16(), "x < 40000", "x = 65535"),
    ([1, 2**32 - 1], pa.uint32(), "x < 1", "x = 4294967295"),
    ([2**63, 2**64 - 1], pa.uint64(), "x < 9223372036854775808", "x = 18446744073709551615"),
    ([0.1, 2.5], pa.float32(), "x < 0.1f", "x = 2.5"),
    ([0.1, 1e300], pa.float64(), "x < 0.1", "x <= 0.1"),
    ([0.0], pa.float64(), "x < 0", "x = -0.0"),
    ([-0.0], pa.float64(), "x < 0", "x = 0.0"),
    ([Decimal("-1.23"), Decimal("9.99")], pa.decimal128(10, 2), "x < -1.23", "x = 9.99"),
    ([Decimal("9" * 38)], pa.decimal128(38, 0), "x < " + "9" * 38, "x = " + "9" * 38),
    (["a", "Größe", "\U0001f600"], pa.string(), "x < 'Größe'", "x = '\U0001f600'"),
    (["", "it's"], pa.large_string(), "x > 'j'", "x = 'it''s'"),
    ([b"\x00", b"\\\xff"], pa.binary(), "x > X'5CFF'", "x = X'5CFF'"),
    ([b"ab", b"cd"], pa.binary(2), "x < X'6162'", "x = X'6364'"),
    ([date(1, 1, 1), date(1969, 12, 31)], pa.date32(), "x > '1969-12-31'", "x = '0001-01-01'"),
    ([NOON], pa.timestamp("us"), "x > '2024-01-15 12:00:00.123456'", "x = '2024-01-15 12:00:00.123456'"),
    (
        [NOON.replace(tzinfo=UTC)],
        pa.timestamp("us", "UTC"),
        "x < '2024-01-15 12:00:00.123456Z'",
        "x >= '2024-01-15 12:00:00.123456Z'",
    ),
    ([datetime(1969, 12, 31, 23, 59, 59, 999000)], pa.timestamp("ms"), "x >= '1970-01-01'", "x = '1969-12-31 23:59:59.999'"),
    ([None, None], pa.int32(), "x = 1", "x IS NULL"),
    ([{"a": {"b": 1}}, {"a": {"b": 5}}], pa.struct([("a", pa.struct([("b", pa.int32())]))]), "x.a.b > 5", "x.a.b = 5"),
]


@pytest.mark.parametrize(("values", "kind", "never", "some"), PROVEN, ids=lambda value: str(value)[:30])
def test_bounds_by_type(tmp_path: Path, values: list[Any], kind: pa.DataType, never: str, some: str) -> None:
    assert verdict(tmp_path, values, kind, never) == "DROP"
    assert verdict(tmp_path, values, kind, some) != "DROP"
    assert verdict(tmp_path, values, kind, never, store_decimal_as_integer=True, row_group_size=1) == "DROP"
    assert verdict(tmp_path, values, kind, some, store_decimal_as_integer=True, row_group_size=1) != "DROP"
    assert verdict(tmp_path, values, kind, never, write_statistics=False) == "KEEP"


# values | type | a predicate that some reader may find satisfied, so that the file stays
UNCERTAIN: list[tuple[list[Any], pa.DataType, str, dict[str, Any]]] = [
    ([1.0, float("nan")], pa.float64(), "x > 5", {}),
    ([float("nan")], pa.float32(), "x != 1", {}),
    ([NOON], pa.timestamp("us"), "x > '2030-01-01'", {"use_deprecated_int96_timestamps": True}),
    ([1], pa.timestamp("ns"), "x > '2030-01-01'", {"version": "2.6"}),
    ([datetime(9999, 12, 31)], pa.timestamp("us"), "x IS NULL OR x = '2024-01-01'", {"write_statistics": False}),
    ([time(1)], pa.time64("us"), "x = '02:00:00'", {}),
    ([Decimal("1." + "0" * 40)], pa.decimal256(50, 40), "x = 2", {}),
    (["a\\xFF"], pa.string(), "x = 'b'", {}),
    ([[1], [2]], pa.list_(pa.int32()), "x = array(5)", {}),
]


@pytest.mark.parametrize(("values", "kind", "where", "options"), UNCERTAIN, ids=lambda value: str(value)[:30])
def test_what_is_not_certain_is_kept(
    tmp_path: Path, values: list[Any], kind: pa.DataType, where: str, options: dict[str, Any]
) -> None:
    assert verdict(tmp_path, values, kind, where, **options) == "KEEP"


def test_row_groups_are_one_file(tmp_path: Path) -> None:
    values = [1, 2, None, None, 8, 9]
    for where, expected in [("x < 1", "DROP"), ("x = 5", "KEEP"), ("x > 9", "DROP"), ("x IS NULL", "KEEP"), ("x >= 1", "KEEP")]:
        assert verdict(tmp_path, values, pa.int32(), where, row_group_size=2) == expected


def test_nan_count_of_zero_proves_that_there_is_none(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1.0::DOUBLE AS x) TO '{tmp_path}/f.parquet'")
        connection.execute(f"COPY (SELECT 'nan'::DOUBLE AS x) TO '{tmp_path}/g.parquet'")
    assert verdicts(tmp_path, "x > 5") == {"f.parquet": "DROP", "g.parquet": "KEEP"}


def test_a_truncated_maximum_is_a_prefix(tmp_path: Path) -> None:
    """So is one that is not marked exact."""
    place = write(tmp_path / "f.parquet", {"x": ["aaaa", "mmmm"]})
    stated = place.read_bytes()
    assert verdicts(place, "x = 'mmmmz'") == {"f.parquet": "DROP"}
    place.write_bytes(_without_exact_flags(stated))
    assert verdicts(place, "x = 'mmmmz'") == {"f.parquet": "KEEP"}
    assert verdicts(place, "x = 'n'") == {"f.parquet": "DROP"}


def _without_exact_flags(content: bytes) -> bytes:
    """The file with is_max_value_exact and is_min_value_exact of its footer false: 0x11 in Thrift."""
    (length,) = struct.unpack("<I", content[-8:-4])
    data, footer = content[: -8 - length], content[-8 - length : -8]
    assert b"mmmm\x18\x04aaaa\x11\x11" in footer
    return data + footer.replace(b"aaaa\x11\x11", b"aaaa\x12\x12") + content[-8:]


def test_files_whose_schemas_differ(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", {"x": [1], "y": ["a"], "Z": [1]})
    write(tmp_path / "b.parquet", {"x": [9], "y": [5], "z": [2]})
    write(tmp_path / "c.parquet", {"x": [5], "w": [7]})
    assert verdicts(tmp_path, "x = 9") == {"a.parquet": "DROP", "b.parquet": "FULL", "c.parquet": "DROP"}
    assert set(verdicts(tmp_path, "y = 'zz'").values()) == {"KEEP"}
    assert set(verdicts(tmp_path, "z = 99").values()) == {"KEEP"}
    assert verdicts(tmp_path, "w = 8") == {"a.parquet": "KEEP", "b.parquet": "KEEP", "c.parquet": "DROP"}
    (clause,) = lakeprune.explain(tmp_path, "y = 'zz'").clauses
    assert "differs between the files" in str(clause)


def test_a_name_that_looks_like_a_path(tmp_path: Path) -> None:
    write(tmp_path / "f.parquet", {"a, b": [1], "a": pa.array([{"b": 9}])})
    assert verdicts(tmp_path, "a.b = 5") == {"f.parquet": "KEEP"}
    assert verdicts(tmp_path, "`a, b` = 5") == {"f.parquet": "KEEP"}


def test_files_without_rows(tmp_path: Path) -> None:
    assert verdict(tmp_path, [], pa.int32(), "x = 1") == "DROP"


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64(), pa.decimal128(38, 19), pa.int64(), pa.timestamp("us"), pa.date32()])
def test_the_text_of_a_statistic_is_exact(tmp_path: Path, kind: pa.DataType) -> None:
    """The bounds of single values are those values, for values of every magnitude."""
    rng = Random(7)
    values = [_random_value(kind, rng) for _ in range(300)]
    place = write(tmp_path / "f.parquet", {"x": pa.array(values, kind)}, row_group_size=1)
    engine = DuckDBEngine()
    footers = engine.footers([str(place)])
    ((elements,),) = engine.query(f"SELECT elements FROM {footers.schemas}")
    data_type = fields_of([decode(elements, type=list[Element])])[0].type
    low = bound(engine.dialect, "min_text", data_type)
    with engine.awake():
        found = {row[0] for row in engine.query(f"SELECT {low} FROM {footers.chunks}")}
    column = pq.read_table(place)["x"]
    plain = column.cast(pa.int64()) if kind == pa.timestamp("us") else column.cast(pa.int32()) if kind == pa.date32() else column
    assert found == set(plain.to_pylist())


def _random_value(kind: pa.DataType, rng: Random) -> Any:
    if pa.types.is_float32(kind):
        return float(struct.unpack("<f", struct.pack("<f", rng.uniform(-1, 1) * 10.0 ** rng.randint(-37, 37)))[0])
    if pa.types.is_float64(kind):
        return rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300)
    if pa.types.is_decimal(kind):
        return Decimal(f"{rng.randrange(-(10**19) + 1, 10**19)}.{rng.randrange(10**19):019}")
    if pa.types.is_timestamp(kind):
        return rng.randrange(-62135596800000000, 253402300799000000)
    return rng.randrange(-700_000, 2_900_000) if pa.types.is_date(kind) else rng.randrange(-(2**63), 2**63)
