"""Against the peers: by default we keep the same files or fewer; where a random predicate says otherwise, the reason is named.

docs/peers.md explains every finding listed here.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import lakeprune
from tests.builders.delta import write_table
from tests.soundness.peers import DELTA_EXPLAIN, PREDICATES, kept_by_delta_explain, kept_by_deltalake, kept_by_us

NAN_MATCHES = ("r > 100", "r >= 50.0", "NOT (r < 100)", "r > 20 AND i < 200", "f > 40")  # TRUE for NaN, which no bound shows


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
        "f": pa.array([v + 0.5 for v in values], pa.float32()),
        "d": pa.array([Decimal(f"{v}.34") for v in values], pa.decimal128(10, 2)),
        "n": pa.array([None if number % 2 else v for v in values], pa.int32()),
        "t": [date(2024, 1, 1) + timedelta(days=number)] * 10,
        "u": pa.array([datetime(2024, 1, 1, number)] * 10, pa.timestamp("us")),
        "q": [bool(number % 2)] * 10,
        "p": [partition] * 10,
    })  # fmt: skip


@pytest.mark.parametrize("where", PREDICATES)
def test_we_keep_no_file_that_deltalake_drops(table: Path, where: str) -> None:
    theirs = kept_by_deltalake(table, where)
    assert theirs is not None
    assert kept_by_us(table, where) <= theirs


@pytest.mark.skipif(not DELTA_EXPLAIN.exists(), reason="delta-explain is not installed")
def test_we_keep_no_file_that_delta_explain_drops(table: Path) -> None:
    for where in PREDICATES:
        theirs = kept_by_delta_explain(table, where)
        assert theirs is not None, where
        assert kept_by_us(table, where) <= theirs, where


@pytest.mark.parametrize("where", NAN_MATCHES)
def test_strictly_we_keep_what_a_hidden_nan_would_match(table: Path, where: str) -> None:
    theirs = kept_by_deltalake(table, where)
    assert theirs is not None
    strict = kept_by_us(table, where, nan_policy="strict")
    assert theirs < strict
    assert kept_by_us(table, where, nan_policy="spark-writers") <= theirs
    assumed = {file.path for file in lakeprune.explain(table, where).files if file.assumes}
    assert strict - theirs <= assumed, "what the default drops and strict keeps is marked"


def test_a_row_that_is_nan_matches_and_only_strict_keeps_its_file(tmp_path: Path) -> None:
    """The finding proven: in Spark NaN is greater than 100, the writer's maximum is 2."""
    path = write_table(tmp_path / "table", [pa.table({"r": [1.0, 2.0, float("nan")]})])
    assert len(kept_by_us(path, "r > 100", nan_policy="strict")) == 1
    assert [file.assumes for file in lakeprune.explain(path, "r > 100").files] == [["r"]]
    assert kept_by_us(path, "r > 100") == kept_by_deltalake(path, "r > 100") == set()


def test_rows_that_peers_lose(tmp_path: Path) -> None:
    """Decimals that deltalake records as doubles, or saturated at 64 bits."""
    exact = Decimal("12345678.9012345685")
    huge = Decimal("9" * 38)
    columns = {"m": pa.array([exact], pa.decimal128(38, 10)), "w": pa.array([huge], pa.decimal128(38, 0))}
    path = write_table(tmp_path / "table", [pa.table(columns)])
    for where in (f"m = {exact}", f"w >= {huge}"):
        assert len(kept_by_us(path, where)) == 1
        assert kept_by_deltalake(path, where) == set()
        if DELTA_EXPLAIN.exists():
            assert kept_by_delta_explain(path, where) == set()


@pytest.mark.parametrize(
    ("values", "where"),
    [
        (pa.array([-2, -2], pa.int8()), "x > -2.5"),
        (pa.array([-1_000_000], pa.timestamp("us", "UTC")), "cast(x as bigint) >= -1"),
        (pa.array([Decimal("3.90"), Decimal("6.80")], pa.decimal128(8, 2)), "cast(x as int) = 3"),
        (pa.array([1.0, float("nan")]), "x = 'NaN'"),
    ],
)
def test_rows_that_deltalake_loses(tmp_path: Path, values: pa.Array, where: str) -> None:
    path = write_table(tmp_path / "table", [pa.table({"x": values})])
    assert len(kept_by_us(path, where)) == 1
    assert kept_by_deltalake(path, where) == set()


def test_what_lakeprune_proposes_where_deltalake_drops_more(tmp_path: Path) -> None:
    """Delta Spark reads every file for a cast to text, so lakeprune plans with it as written and says what to write instead."""
    path = write_table(tmp_path / "table", [pa.table({"x": [n, n + 1]}) for n in (5, 50)])
    where = "cast(x as string) = '5'"
    assert (len(kept_by_deltalake(path, where) or ()), len(kept_by_us(path, where))) == (1, 2)
    report = lakeprune.explain(path, where, explain_why=True)
    (rewrite,) = (diagnosis.rewrite for diagnosis in report.diagnoses or () if diagnosis.code == "OPAQUE_EXPRESSION")
    assert rewrite == "x = 5"
    assert len(kept_by_us(path, rewrite)) == 1
