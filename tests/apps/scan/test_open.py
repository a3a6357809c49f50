"""An opened table: its log is read once, whatever it is asked."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakeprune
from lakeprune.engines.duckdb.engine import DuckDBEngine
from tests.builders.delta import users
from tests.builders.iceberg import flights


def test_nothing_of_the_log_is_read_after_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []

    def counted(name: str) -> Any:
        made = getattr(DuckDBEngine, name)

        def source(self: DuckDBEngine, paths: Any, *args: Any, **options: Any) -> str:
            reads.append(name)
            return str(made(self, paths, *args, **options))

        return source

    for name in ("json_source", "parquet_source"):
        monkeypatch.setattr(DuckDBEngine, name, counted(name))
    users(tmp_path / "users")
    with lakeprune.open(tmp_path / "users") as table:
        assert reads == ["json_source"]
        fresh = lakeprune.plan(tmp_path / "users", "age > 30")
        reads.clear()
        shutil.rmtree(tmp_path / "users" / "_delta_log")  # not even looked at
        assert lakeprune.explain(table, "age > 30").numbers.total.files == 6
        assert len(lakeprune.explain_many(table, ["age > 30", "country = 'DE'"])) == 2
        plan = lakeprune.plan(table, "age > 30", groups=2, limit=5)
        assert plan.files.num_rows == plan.totals.files_scanned
        assert lakeprune.plan(table, "age > 30").totals == fresh.totals
        assert lakeprune.explain(table, "age > 30").to_text(verbose=True)
        assert reads == []


def test_an_opened_table_has_one_version_and_an_end(tmp_path: Path) -> None:
    users(tmp_path / "users")
    with lakeprune.open(tmp_path / "users", version=2) as table:
        assert (table.version, lakeprune.plan(table).table.version) == (2, 2)
        for options in ({"version": 3}, {"storage_options": {"a": "b"}}, {"ref": "main"}):
            with pytest.raises(lakeprune.UsageError) as error:
                lakeprune.plan(table, **options)
            assert error.value.code == "LP276"
    with pytest.raises(lakeprune.UsageError) as error:
        lakeprune.explain(table)
    assert error.value.code == "LP276"


@pytest.mark.parametrize("format_", ["delta", "iceberg", "parquet"])
def test_what_came_of_a_table_says_that_it_was_closed(tmp_path: Path, format_: str) -> None:
    where = _written(tmp_path / "users", format_)
    with lakeprune.open(tmp_path / "users") as table:
        plan, report = lakeprune.plan(table, where), lakeprune.explain(table, where)
        read = lakeprune.plan(table, where)
        assert read.files.num_rows == report.kept_files
    for ask in (lambda: plan.files, lambda: plan.statistics, plan.to_json, plan.to_arrow, lambda: report.kept, report.to_html):
        with pytest.raises(lakeprune.UsageError, match="the table was closed") as error:
            ask()
        assert error.value.code == "LP276"
    assert read.files.num_rows == report.kept_files  # what was read before is still there


def _written(path: Path, format_: str) -> str:
    if format_ == "delta":
        users(path)
        return "age > 30"
    if format_ == "iceberg":
        flights(path)
        return "panel_voltage > 28.5"
    path.mkdir()
    pq.write_table(pa.table({"x": [1, 2]}), path / "a.parquet")
    return "x > 1"
