"""A file that polars 2.1 wrote in four row groups: text cut at 64 bytes with no flag that says so, and NaN that nobody counts.

Polars is not among the packages of this repository, so its file is: `write_parquet(row_group_size=10, statistics="full")`
of 40 rows, where `f` is NaN in row 3, `i` is NULL in every seventh row, and all other columns count the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.formats.row_groups.delta import groups

FILE = Path(__file__).with_name("polars.parquet")
CASES: list[tuple[str, Callable[[dict[str, Any]], bool], str]] = [
    ("id = 17", lambda row: row["id"] == 17, "DKDD"),
    ("i IS NULL AND id > 30", lambda row: row["i"] is None and row["id"] > 30, "DDDK"),
    ("s = 'name 025 " + "x" * 70 + "'", lambda row: row["s"] == "name 025 " + "x" * 70, "DDKD"),
    ("short >= 'n30'", lambda row: row["short"] >= "n30", "DDDF"),
    ("short = 'n19'", lambda row: row["short"] == "n19", "DKDD"),
    ("ts < TIMESTAMP_NTZ'2024-01-01 10:00:00'", lambda row: row["ts"] < datetime(2024, 1, 1, 10), "FDDD"),
    ("b", lambda row: row["b"], "DDFF"),
    ("u > 3000000000", lambda row: row["u"] > 3_000_000_000, "DDDK"),
    ("f > 100", lambda row: row["f"] != row["f"] or row["f"] > 100, "KKKK"),  # NaN is above every number
    ("f < 4", lambda row: row["f"] < 4, "KDDD"),
]


@pytest.mark.parametrize(("where", "matches", "verdicts"), CASES, ids=[where[:30] for where, *_ in CASES])
def test_row_groups_by_polars(where: str, matches: Callable[[dict[str, Any]], bool], verdicts: str) -> None:
    file = pq.ParquetFile(FILE)
    for number, verdict in enumerate(verdicts):
        rows = [matches(row) for row in file.read_row_group(number).to_pylist()]
        assert verdict == "K" or set(rows) == {verdict == "F"}
    assert groups(FILE, where, FILE.name) == verdicts
