"""Bloom filters: what they exclude is dropped, whoever wrote them, and only where they are certain to hash the same bytes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import BloomFilterProperties, ColumnProperties, WriterProperties, write_deltalake

import lakeprune
from demo.delta_log import add
from lakeprune.programs import bloom
from tests.formats.row_groups.delta import delta_of, groups
from tests.scope import IS_WHOLE

COLUMNS = {"i": "integer", "l": "long", "s": "string", "d": "date"}
DAY = dt.date(2024, 1, 1)


def rows() -> pa.Table:
    """Every row group of ten rows spans all values, so that its bounds say nothing: filters do."""
    numbers = [(37 * number) % 200 * 2 for number in range(100)]
    return pa.table(
        {
            "i": pa.array(numbers, pa.int32()),
            "l": pa.array(numbers, pa.int64()),
            "s": [f"s{number}" for number in numbers],
            "d": [DAY + dt.timedelta(days=number) for number in numbers],
        }
    )


def by_deltalake(root: Path) -> Path:
    filters = ColumnProperties(bloom_filter_properties=BloomFilterProperties(set_bloom_filter_enabled=True))
    write_deltalake(root, rows(), writer_properties=WriterProperties(max_row_group_size=10, default_column_properties=filters))
    return root


def by_pyarrow(root: Path) -> Path:
    root.mkdir()
    table = rows()
    pq.write_table(table, root / "f.parquet", row_group_size=10, bloom_filter_options=dict.fromkeys(table.column_names, True))
    return delta_of(root, COLUMNS, [add("f.parquet")])


def by_duckdb(root: Path) -> Path:
    root.mkdir()
    with duckdb.connect() as connection:
        connection.register("rows", rows())
        many = "SELECT rows.* FROM rows, range(100) AS t(copy) ORDER BY i, copy"
        connection.execute(f"COPY ({many}) TO '{root / 'f.parquet'}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    return delta_of(root, COLUMNS, [add("f.parquet")])


WRITERS = {"deltalake": by_deltalake, "pyarrow": by_pyarrow, "duckdb": by_duckdb}


PAIRS = [(writer, column) for column in COLUMNS for writer in WRITERS]


def literal(value: Any) -> str:
    return f"DATE'{value}'" if isinstance(value, dt.date) else f"'{value}'" if isinstance(value, str) else str(value)


@pytest.mark.parametrize(("writer", "column"), PAIRS if IS_WHOLE else PAIRS[2::4])
def test_no_row_group_with_the_value_is_excluded_and_most_others_are(tmp_path: Path, writer: str, column: str) -> None:
    table = WRITERS[writer](tmp_path / "t")
    (data,) = table.glob("*.parquet")
    file = pq.ParquetFile(data)
    values = [set(file.read_row_group(number, columns=[column])[column].to_pylist()) for number in range(file.num_row_groups)]
    some = sorted(set().union(*values))[::17]
    reports = lakeprune.explain_many(
        table, [f"{column} = {literal(value)}" for value in some], row_groups=True, bloom=True, nan_policy="strict"
    )
    dropped = by_filter = 0
    for value, report in zip(some, reports, strict=True):
        (listed,) = report.files
        assert isinstance(listed.row_groups, list)
        for group in listed.row_groups:
            assert group.kept or value not in values[group.id]
            dropped += not group.kept
            by_filter += group.credit == "bloom"
    assert dropped > 0.5 * len(some) * (file.num_row_groups - 1)
    assert by_filter or writer == "duckdb"  # DuckDB's row groups are sorted here: bounds decide


def test_lists_lose_a_row_group_only_when_every_value_is_excluded(tmp_path: Path) -> None:
    table = by_deltalake(tmp_path / "t")
    (data,) = table.glob("*.parquet")
    first = pq.ParquetFile(data).read_row_group(0)["i"][0].as_py()
    report = lakeprune.explain(table, "i IN (1, 3, 5)", row_groups=True, bloom=True)
    assert report.numbers.credits["row_group"].files == 1
    found = report.row_groups
    assert found is not None
    assert found.credits["bloom"].row_groups + found.credits["row_group"].row_groups == found.total.row_groups == 10
    assert groups(table, f"i IN (1, 3, {first})", data.name, bloom=True)[0] == "K"
    assert groups(table, "i IN (1, 3, 5) AND l > 0", data.name, bloom=True) == "D" * 10


def test_without_the_flag_a_note_says_that_filters_exist(tmp_path: Path) -> None:
    table = by_deltalake(tmp_path / "t")
    report = lakeprune.explain(table, "i = 1", row_groups=True)
    (note,) = report.facts.notes
    assert note.code == "bloom_filters_not_consulted"
    assert "--bloom does for = and IN" in note.message
    assert lakeprune.explain(table, "i = 1", row_groups=True, bloom=True).facts.notes == ()
    plain = tmp_path / "plain"
    plain.mkdir()
    pq.write_table(rows(), plain / "f.parquet")
    assert lakeprune.explain(plain, "i = 1", row_groups=True).facts.notes == ()


@pytest.mark.parametrize(
    ("kind", "value", "where"),
    [
        (pa.float64(), -0.0, "x = 0.0"),
        (pa.float64(), float("nan"), "x = CAST('NaN' AS DOUBLE)"),
        (pa.decimal128(9, 2), Decimal("5.00"), "x = 5"),
        (pa.decimal128(19, 2), Decimal("5.00"), "x = 5"),
        (pa.timestamp("us"), dt.datetime(2024, 1, 1), "x = TIMESTAMP_NTZ'2024-01-01 00:00:00'"),
        (pa.int8(), -1, "x = -1"),
        (pa.bool_(), True, "x = TRUE"),
    ],
)  # fmt: skip
def test_types_whose_bytes_are_in_doubt_are_not_looked_up(
    tmp_path: Path, kind: pa.DataType, value: Any, where: str
) -> None:  # T60
    root = tmp_path / "t"
    root.mkdir()
    options = {} if pa.types.is_boolean(kind) else {"bloom_filter_options": {"x": True}}
    pq.write_table(pa.table({"x": pa.array([value], kind)}), root / "f.parquet", **options)
    assert groups(root / "f.parquet", where, bloom=True) != "D"


def test_a_filter_is_asked_about_every_value_of_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: looking for the last value alone loses the rows of the others."""
    table = by_deltalake(tmp_path / "t")
    (data,) = table.glob("*.parquet")
    first = pq.ParquetFile(data).read_row_group(0)["i"][0].as_py()
    where = f"i IN ({first}, 401)"
    assert groups(table, where, data.name, bloom=True)[0] == "K"
    whole = bloom._values
    monkeypatch.setattr(bloom, "_values", lambda member, dialect: whole(member, dialect)[-1:])
    assert groups(table, where, data.name, bloom=True)[0] == "D"


def test_ranges_negations_and_long_lists_are_not_looked_up(tmp_path: Path) -> None:
    table = by_deltalake(tmp_path / "t")
    for where in ("i != 1", "i BETWEEN 1 AND 3", "i = 1 OR l = 1", f"i IN ({', '.join(str(2 * n + 1) for n in range(30))})"):
        found = lakeprune.explain(table, where, row_groups=True, bloom=True).row_groups
        assert found is not None
        assert found.credits["bloom"].row_groups == 0, where
