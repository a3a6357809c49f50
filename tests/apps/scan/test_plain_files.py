"""Rows of plain Parquet files outside Spark: nested columns, columns that some files lack, moments in INT96."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakeprune
from lakeprune.apps.sql.sql import pruned_plans
from lakeprune.errors import UsageError
from tests.apps.scan.rows import WAYS, rows_of

INSIDE = pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))])
NESTED = {"a": pa.int64(), "s": INSIDE, "l": pa.list_(pa.struct([("z", pa.float64())])), "m": pa.map_(pa.string(), pa.int32())}
ROWS: list[list[dict[str, Any]]] = [
    [
        {"a": 1, "s": {"x": 1, "y": ["p", None]}, "l": [{"z": 0.5}, None], "m": [("k", 1)]},
        {"a": 2, "s": {"x": 2, "y": None}, "l": [], "m": []},
        {"a": 3, "s": None, "l": None, "m": None},
    ],
    [{"a": 9, "s": {"x": 7, "y": []}, "l": [{"z": None}], "m": [("k", None), ("q", 2)]}],
]


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Plain files, of which the last has neither a map nor all fields of the struct."""
    root = tmp_path_factory.mktemp("nested")
    for number, rows in enumerate(ROWS):
        pq.write_table(pa.Table.from_pylist(rows, pa.schema(list(NESTED.items()))), root / f"{number}.parquet")
    last = pa.schema([("a", NESTED["a"]), ("s", pa.struct([("x", pa.int32())])), ("l", NESTED["l"])])
    pq.write_table(pa.Table.from_pylist([{"a": 20, "s": {"x": 20}, "l": [{"z": 20.5}]}], last), root / "2.parquet")
    return root


@pytest.mark.parametrize("way", WAYS)
def test_nested_columns_of_plain_files_are_read(nested: Path, way: Any) -> None:
    last = {"a": 20, "s": {"x": 20, "y": None}, "l": [{"z": 20.5}], "m": None}
    every = [*ROWS[0], *ROWS[1], last]
    asked = {
        None: every,
        "s.x > 2": [*ROWS[1], last],
        "s IS NULL": [ROWS[0][2]],
        "a < 3": ROWS[0][:2],
        "m IS NULL AND a > 3": [last],
    }
    for where, expected in asked.items():
        found = way(lakeprune.plan(nested, where))
        schema = lakeprune.plan(nested).to_arrow().schema
        assert rows_of(found, schema) == rows_of(pa.Table.from_pylist(expected, schema)), where
    assert rows_of(way(lakeprune.plan(nested, "s.x = 7", columns=["m"]))).total() == 1


def test_a_query_over_plain_files_opens_those_that_matter(nested: Path) -> None:
    query = "SELECT s.x AS x FROM t WHERE a >= 9 ORDER BY x"
    (plan,) = pruned_plans({"t": str(nested)}, query, dialect="duckdb", options={}).values()
    assert (plan.totals.files_scanned, plan.totals.files_total) == (2, 3)
    assert lakeprune.sql({"t": nested}, query).read_all().to_pylist() == [{"x": 7}, {"x": 20}]


def test_a_nested_column_with_a_part_that_has_no_form_is_refused_by_name(tmp_path: Path) -> None:
    times = pa.array([{"x": 1}, {"x": 2}], pa.struct([("x", pa.time64("us"))]))
    pq.write_table(pa.table({"a": [1, 2], "s": times}), tmp_path / "f.parquet")
    for columns, where in ((None, "a > 1"), (["a"], "s.x IS NULL OR a > 1")):
        with pytest.raises(UsageError, match="`s` cannot be handed over") as error:
            lakeprune.plan(tmp_path, where, columns=columns).to_arrow()
        assert (error.value.code, "of the predicate" in (error.value.fix or "")) == ("LP281", True)
    rows = lakeprune.sql({"t": lakeprune.plan(tmp_path, columns=["a"])}, "SELECT a FROM t WHERE a > 1").read_all()
    assert rows.to_pylist() == [{"a": 2}]


def test_moments_in_the_oldest_form_are_read(tmp_path: Path) -> None:
    """INT96, which Spark writes by default: nothing can be pruned by it, but its rows are there."""
    moments = pa.array([0, 1_700_000_000_123_456], pa.timestamp("us"))
    pq.write_table(pa.table({"a": [1, 2], "ts": moments}), tmp_path / "f.parquet", use_deprecated_int96_timestamps=True)
    rows = lakeprune.plan(tmp_path, "a = 2").to_arrow().read_all()
    assert str(rows.schema.field("ts").type) == "timestamp[us, tz=UTC]"
    assert rows.column("ts").cast(pa.int64()).to_pylist() == [1_700_000_000_123_456]
