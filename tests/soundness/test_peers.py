"""Against the peers on tables of the official writer: we keep the same files or fewer; where we keep more, the reason is named.

docs/peers.md explains every finding listed here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

import lakeprune
from tests.builders.delta import write_table

DELTA_EXPLAIN = Path(sys.executable).with_name("delta-explain")
NAN = "NaN may lie outside the bounds of a float column (trap T1)"


@dataclass(frozen=True)
class Finding:
    """A predicate on which lakeprune keeps files that a peer drops, and why that is right."""

    where: str
    because: str


FINDINGS = (
    Finding("r > 100", NAN),
    Finding("r >= 50.0", NAN),
    Finding("NOT (r < 100)", NAN),
    Finding("r > 20 AND i < 200", NAN),
)
SAME = (
    "i = 25", "i > 35", "i >= 30 AND i < 40", "i < 0", "i IN (5, 45)", "i NOT IN (1)", "i BETWEEN 12 AND 18",
    "NOT (i > 15)", "i != 3", "s = 'k25'", "s < 'k2'", "s >= 'k4'", "s IN ('k11', 'zz')", "r < 10", "r = 25.5",
    "r BETWEEN 20 AND 30", "d = 12.34", "d > 40", "p = 'a'", "p != 'a'", "p IN ('a', 'b')", "p = 'a' AND i > 15",
    "p = 'b' OR i < 5", "n IS NULL", "n IS NOT NULL", "n > 100", "i > 5 AND i < 3", "t < '2024-01-03'",
    "t >= '2024-01-04'", "q = true", "NOT q", "(i < 10 OR i > 40) AND p = 'a'",
)  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten files: five ranges of ten rows in each of the partitions a and b."""
    return write_table(
        tmp_path_factory.mktemp("peers") / "table", [_rows(n, p) for n in range(5) for p in "ab"], partition_by=["p"]
    )


def _rows(number: int, partition: str) -> pa.Table:
    values = range(10 * number, 10 * number + 10)
    return pa.table({
        "i": pa.array(values, pa.int64()),
        "s": [f"k{v}" for v in values],
        "r": [v + 0.5 for v in values],
        "d": pa.array([Decimal(f"{v}.34") for v in values], pa.decimal128(10, 2)),
        "n": pa.array([None if number % 2 else v for v in values], pa.int32()),
        "t": [date(2024, 1, 1) + timedelta(days=number)] * 10,
        "u": pa.array([datetime(2024, 1, 1, number)] * 10, pa.timestamp("us")),
        "q": [bool(number % 2)] * 10,
        "p": [partition] * 10,
    })  # fmt: skip


def ours(table: Path, where: str) -> set[str]:
    return {file.path for file in lakeprune.explain(table, where).files if file.verdict.value != "DROP"}


def deltalake_keeps(table: Path, where: str) -> set[str]:
    root = DeltaTable(table)
    return {uri.removeprefix(str(table)).lstrip("/") for uri in root.file_uris(file_pruning_predicate=where)}


def delta_explain_keeps(table: Path, where: str) -> set[str]:
    command = [str(DELTA_EXPLAIN), str(table), "--where", where, "--format", "json", "--verbose"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {file["path"] for file in json.loads(done.stdout)["files"] if file["kept"]}


@pytest.mark.parametrize("where", SAME)
def test_we_keep_no_file_that_deltalake_drops(table: Path, where: str) -> None:
    assert ours(table, where) <= deltalake_keeps(table, where)


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.where)
def test_where_we_keep_more_than_deltalake_the_reason_is_known(table: Path, finding: Finding) -> None:
    mine, theirs = ours(table, finding.where), deltalake_keeps(table, finding.where)
    assert theirs < mine, f"no longer a finding: {finding.because}"
    trusting = lakeprune.explain(table, finding.where, nan_policy="spark-writers")
    assert {file.path for file in trusting.files if file.verdict.value != "DROP"} <= theirs


@pytest.mark.skipif(not DELTA_EXPLAIN.exists(), reason="delta-explain is not installed")
def test_we_keep_no_file_that_delta_explain_drops(table: Path) -> None:
    for where in SAME:
        extra = ours(table, where) - delta_explain_keeps(table, where)
        assert not extra, where


@pytest.mark.skipif(not DELTA_EXPLAIN.exists(), reason="delta-explain is not installed")
def test_where_we_keep_more_than_delta_explain_the_reason_is_known(table: Path) -> None:
    for finding in FINDINGS:
        assert delta_explain_keeps(table, finding.where) < ours(table, finding.where), finding


def test_a_row_that_is_nan_matches_and_only_we_keep_its_file(tmp_path: Path) -> None:
    """The finding proven: in Spark NaN is greater than 100, the writer's maximum is 2."""
    path = write_table(tmp_path / "table", [pa.table({"r": [1.0, 2.0, float("nan")]})])
    assert len(ours(path, "r > 100")) == 1
    assert deltalake_keeps(path, "r > 100") == set()
