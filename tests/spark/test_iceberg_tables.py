"""Tables that Iceberg's own Spark runtime writes, against their rows: read from the data files, without a pushed-down filter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import lakeprune
from tests.scope import only_whole
from tools.repository import ROOT

pytestmark = [pytest.mark.spark, only_whole]

_LITERALS = {
    "i": ("-11", "-10", "0", "5", "2147483647"),
    "s": ("'a'", "'ab'", "'abc'", "'zzzzzzzzzzzzzzzzzzzzzzzzz'", "'b'"),
    "d": ("DATE'1969-12-31'", "DATE'1970-01-01'", "DATE'2024-02-29'", "DATE'2024-12-31'"),
    "ts": ("TIMESTAMP'1969-12-31 23:59:59.999999'", "TIMESTAMP'1970-01-01 00:00:00'", "TIMESTAMP'2024-02-29 12:30:00.123456'"),
    "m": ("-10.65", "0", "10.65", "99.99"),
    "x": ("0.0", "1.5", "100"),
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("warehouse")
    command = [sys.executable, "-m", "tests.spark.iceberg_worker", str(folder)]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if "unresolved dependency" in done.stdout + done.stderr or "JAVA_GATEWAY_EXITED" in done.stderr:
        pytest.skip("no Java, or Iceberg's Spark runtime cannot be fetched")
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.partition("TABLES ")[2])
    return found


def _live(table: dict[str, Any]) -> dict[str, int]:
    """The live rows of each file, by its path below the table."""
    return {file.removeprefix("file:").removeprefix(table["folder"] + "/"): rows for file, rows in table["live"].items()}


def _conditions(column: str) -> list[str]:
    operators = ("=", "<", "<=", ">", ">=", "<>")
    found = [f"{column} {operator} {literal}" for literal in _LITERALS[column] for operator in operators]
    return [*found, f"{column} IS NULL", f"{column} IS NOT NULL", f"{column} IN ({_LITERALS[column][0]}, {_LITERALS[column][1]})"]


def test_every_file_with_a_matching_row_is_kept_by_every_transform(tables: dict[str, Any]) -> None:
    dropped = 0
    for name, table in tables.items():
        if not name.startswith("t_"):
            continue
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'; PRAGMA disable_optimizer")
            files = list(_live(table))
            selects = [
                f"SELECT '{f}' AS file, * FROM read_parquet('{table['folder']}/{f}', hive_partitioning=false)" for f in files
            ]
            connection.execute(f"CREATE TABLE rows AS {' UNION ALL '.join(selects)}")
            wheres = _conditions(name.split("_")[1])
            for where, report in zip(wheres, lakeprune.explain_many(table["folder"], wheres, nan_policy="strict"), strict=True):
                kept = {file.path for file in report.files if file.kept}
                matching = {file for (file,) in connection.execute(f"SELECT DISTINCT file FROM rows WHERE {where}").fetchall()}
                assert matching <= kept, (name, where)
                dropped += len(files) - len(kept)
    assert dropped > 500


def test_live_rows_are_those_of_spark_or_not_known(tables: dict[str, Any]) -> None:
    """Position delete files of version 2, deletion vectors of version 3, and files of three specs."""
    for name, is_exact in {"history": False, "vectors": True, "nothing": True}.items():
        live, report = _live(tables[name]), lakeprune.explain(tables[name]["folder"])
        ours = {file.path: file.live_rows for file in report.files if file.live_rows != 0}
        assert ours.keys() == live.keys()
        known = {path: rows for path, rows in ours.items() if rows is not None}
        assert known == {path: live[path] for path in known}
        assert (known == live) is is_exact


def test_a_history_of_specs_names_and_types(tables: dict[str, Any]) -> None:
    """Columns by field id: `s` was text and is now a new integer, `was_s` is the old text; `i` became a long; `m` is gone."""
    folder = tables["history"]["folder"]
    for where, low, high in (
        ("was_s = 'abc'", 1, 4),
        ("s = 7", 1, 10),
        ("i = 2147483647", 1, 4),
        ("i > 3000000000", 0, 0),
        ("n = 99", 0, 0),
    ):
        kept = [file for file in lakeprune.explain(folder, where).files if file.kept]
        assert low <= len(kept) <= high, where
    with pytest.raises(lakeprune.PredicateError, match="does not exist"):
        lakeprune.explain(folder, "m = 1")


def test_an_empty_table(tables: dict[str, Any]) -> None:
    assert list(lakeprune.explain(Path(tables["nothing"]["folder"]), "i = 1").files) == []
