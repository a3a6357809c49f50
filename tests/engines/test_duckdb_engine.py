"""The embedded engine: what it reads, what it refuses, and that it stays in memory."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.engines.engine import EngineError


@pytest.fixture(scope="module")
def engine() -> DuckDBEngine:
    return DuckDBEngine()


def test_engine_errors_carry_the_engine_s_words(engine: DuckDBEngine) -> None:
    with pytest.raises(EngineError, match="nowhere"):
        engine.query("SELECT * FROM nowhere")
    with pytest.raises(EngineError):
        list(engine.stream("SELECT error('x')"))


def test_nothing_is_installed_or_loaded_on_demand(engine: DuckDBEngine) -> None:
    with pytest.raises(EngineError, match="httpfs"):
        engine.query("SELECT * FROM read_text('http://localhost:1/x')")
    assert engine.query("SELECT current_setting('temp_directory')") == [("",)]


def test_time_zone_is_utc_in_every_connection(engine: DuckDBEngine) -> None:
    sql = "SELECT current_setting('TimeZone'), epoch_us(CAST(TIMESTAMPTZ '2024-01-01 00:00:00+01' AS TIMESTAMP))"
    assert engine.query(sql) == list(engine.stream(sql)) == [("UTC", 1_704_063_600_000_000)]


def test_stream_stays_open_while_other_queries_run(engine: DuckDBEngine) -> None:
    rows = engine.stream("SELECT i FROM range(10000) t(i) ORDER BY i")
    assert next(rows) == (0,)
    assert engine.query("SELECT 7") == [(7,)]
    assert sum(1 for _ in rows) == 9999


def test_query_that_needs_more_memory_gets_it() -> None:
    engine = DuckDBEngine()
    sql = "SELECT count(*) FROM (SELECT i, repeat('x', 200) || i AS t FROM range(2000000) r(i) ORDER BY t LIMIT 1900000)"
    before = engine.query("SELECT current_setting('memory_limit')")
    assert engine.query(sql) == [(1_900_000,)]
    assert engine.query("SELECT current_setting('memory_limit')") != before


def test_lookup_is_a_relation_of_its_rows(engine: DuckDBEngine) -> None:
    rows = [("it's\n", 1, True), (None, None, None), ("\0", -5, False)]
    source = engine.lookup(["a", "b b", "c"], ["VARCHAR", "BIGINT", "BOOLEAN"], rows)
    assert sorted(engine.query(f"SELECT * FROM {source}"), key=repr) == sorted(rows, key=repr)
    assert engine.query(f"SELECT * FROM {engine.lookup(['a'], ['VARCHAR'], [])}") == []
    assert len(list(engine.stream(f"SELECT * FROM {source}"))) == 3


def test_fields_of_several_parquet_files_are_merged(engine: DuckDBEngine, tmp_path: Path) -> None:
    inner = pa.struct([("a", pa.int32())])
    wider = pa.struct([("a", pa.int64()), ("b", pa.string())])
    pq.write_table(pa.table({"s": pa.array([{"a": 1}], inner)}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"s": pa.array([{"a": 2, "b": "x"}], wider), "t": ["y"]}), tmp_path / "2.parquet")
    files = [str(tmp_path / "1.parquet"), str(tmp_path / "2.parquet")]
    assert engine.parquet_fields(files) == {"s": {"a": "BIGINT", "b": "STRING"}, "t": "STRING"}
    assert engine.query(f"SELECT s.a, s.b, t FROM {engine.parquet_source(files)} ORDER BY 1") == [(1, None, None), (2, "x", "y")]


@pytest.mark.parametrize("pad", [0, 2_000_000])
def test_json_source_gives_exactly_the_asked_fields(engine: DuckDBEngine, tmp_path: Path, pad: int) -> None:
    path = tmp_path / "a [1]*.json"
    path.write_text('{"add":{"path":"x","extra":1,"tags":{"k":null}}}\r\n\n{"other":"' + "z" * pad + '"}\n{"add":{"path":null}}')
    shape = {"add": {"path": "VARCHAR", "tags": "MAP(VARCHAR, VARCHAR)"}}
    source = engine.json_source([str(path)], shape, largest_file=path.stat().st_size)
    rows = engine.query(f'SELECT "add".path, "add".tags, filename FROM {source} WHERE "add".path IS NOT NULL')
    assert rows == [("x", {"k": None}, str(path))]


def test_columns_of_one_value_and_equal_columns_are_what_they_were(engine: DuckDBEngine) -> None:
    columns: dict[str, tuple[str, list[object]]] = {
        "number": ("BIGINT", [1, 2, 3]),
        "again": ("BIGINT", [1, 2, 3]),
        "same": ("BIGINT", [7, 7, 7]),
        "nothing": ("STRING", [None, None, None]),
        "text": ("STRING", ["1", "2", "3"]),
        "flag": ("BOOLEAN", [True, True, True]),
        "zero": ("DOUBLE", [0.0, -0.0, 0.0]),
        "minus": ("DOUBLE", [-0.0, 0.0, -0.0]),
        "money": ("DECIMAL(5,2)", ["1.50", "1.50", "1.50"]),
        "raw": ("BINARY", [b"a", b"a", b"a"]),
    }
    types, values = zip(*columns.values(), strict=True)
    table = engine.columns(list(columns), types, values)
    found = engine.query(
        f"SELECT * REPLACE (CAST(zero AS VARCHAR) AS zero, CAST(minus AS VARCHAR) AS minus) FROM {table} ORDER BY 1"
    )
    shown = [*values[:6], ["0.0", "-0.0", "0.0"], ["-0.0", "0.0", "-0.0"], [Decimal("1.50")] * 3, values[9]]
    assert [list(column) for column in zip(*found, strict=True)] == shown
    described = {name: kind for name, kind, *_ in engine.query(f"DESCRIBE {table}")}
    assert described == {
        **dict.fromkeys(("number", "again", "same"), "BIGINT"),
        **dict.fromkeys(("nothing", "text"), "VARCHAR"),
        **dict.fromkeys(("zero", "minus"), "DOUBLE"),
        "flag": "BOOLEAN",
        "money": "DECIMAL(5,2)",
        "raw": "BLOB",
    }


@pytest.mark.parametrize("values", [[[], []], [[4], [5]], [[4, 4], [5, 5]]])
def test_columns_have_as_many_rows_as_their_lists(engine: DuckDBEngine, values: list[list[int]]) -> None:
    table = engine.columns(["a", "b"], ["BIGINT", "BIGINT"], values)
    assert engine.query(f"SELECT * FROM {table}") == list(zip(*values, strict=True))
