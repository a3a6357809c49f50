"""ENGINE_DIFFERS: the model of Delta Spark against what Delta Spark 4.4 planned on a table of 20 files, and its rewrites.

The table is the one those runs used, as a log: file i holds ids 100i..100i+99, `i` is constant per file, `p` is i modulo 4, `ts`
lies 37 days apart, `z` has no statistics. PLANNED are the files that Delta Spark itself planned.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

import lakeprune
from lakeprune.report.model import Diagnosis, Report
from tests.builders.delta import add, metadata, protocol, statistics, write_log
from tests.report.diagnosis.random_rows import random_rows, rows_of

START = datetime(2023, 3, 1)
COLUMNS = {
    "id": "long", "i": "integer", "p": "integer", "ts": "timestamp", "d": "date", "s": "string", "n": "long", "bb": "boolean",
    "a": "long", **{f"filler{k}": "integer" for k in range(24)}, "z": "long",
}  # fmt: skip


def t20(path: Path) -> Path:
    return write_log(path, [[protocol(), metadata(COLUMNS, ["p"]), *(_file(i) for i in range(20))]])


def _file(i: int) -> Any:
    first, last = START + timedelta(days=37 * i), START + timedelta(days=37 * i, hours=1)
    letter = chr(ord("a") + i)
    stats = statistics(
        100,
        id=(100 * i, 100 * i + 99, 0),
        i=(i, i, 0),
        ts=(first.strftime("%Y-%m-%dT%H:%M:%S.000Z"), last.strftime("%Y-%m-%dT%H:%M:%S.000Z"), 0),
        d=(first.date().isoformat(), first.date().isoformat(), 0),
        s=(f"{letter}00", f"{letter}99", 0),
        n=(None, None, 100) if i % 5 == 0 else (100 * i, 100 * i + 99, 0),
        a=(100 * i, 100 * i + 99, 0),
    )
    return add(f"p={i % 4}/part-{i:02d}.parquet", partition={"p": str(i % 4)}, stats=stats)


# predicate, planned by Delta Spark, needed
PLANNED = [
    ("id IN (5, 1995)", 20, 2),
    ("id = 5 OR id = 1995", 2, 2),
    ("p = 1 OR id = 5", 20, 6),
    ("(p = 1 AND id < 300) OR (p = 2 AND id > 1700)", 6, 2),
    ("(p = 1 OR p = 2) AND id < 300", 2, 2),
    ("p IN (1, 3)", 10, 10),
    ("p % 2 = 0", 10, 10),
    ("year(ts) = 2024", 20, 10),
    ("year(d) = 2024", 20, 10),
    ("date(ts) = '2023-03-01'", 1, 1),
    ("to_date(ts) = '2023-03-01'", 1, 1),
    ("CAST(ts AS date) BETWEEN '2023-03-01' AND '2023-03-05'", 1, 1),
    ("abs(id) < 50", 20, 1),
    ("id + 1 = 506", 20, 1),
    ("CAST(id AS int) = 505", 20, 1),
    ("id = '505'", 1, 1),
    ("id = 505.0", 1, 1),
    ("NOT (id < 1900)", 1, 1),
    ("NOT (id BETWEEN 100 AND 1899)", 2, 2),
    ("i != 3", 19, 19),
    ("NOT (i IN (3, 4))", 20, 18),
    ("NOT (i = 3 OR i = 4)", 18, 18),
    ("NOT (s LIKE 'b%')", 20, 19),
    ("id <=> 505", 1, 1),
    ("n <=> 601", 1, 1),
    ("n IS NOT NULL", 16, 16),
    ("n IS NULL AND id < 300", 1, 1),
    ("s LIKE 'b%'", 1, 1),
    ("s LIKE 'b05'", 1, 1),
    ("startswith(s, 'b0')", 1, 1),
    ("s LIKE 'b_5'", 20, 1),
    ("substr(s, 1, 1) = 'b'", 20, 1),
    ("z = 505", 20, 20),
    ("z = 505 AND id < 600", 6, 6),
    ("bb", 20, 20),
    ("id > a", 20, 20),
]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return t20(tmp_path_factory.mktemp("spark") / "t20")


@pytest.fixture(scope="module")
def reports(table: Path) -> dict[str, Report]:
    """Every predicate of PLANNED and CLOSED, from one read of the table."""
    wheres = [case[0] for case in (*PLANNED, *CLOSED)]
    return dict(zip(wheres, lakeprune.explain_many(table, wheres, explain_why=True), strict=True))


def found_diagnoses(table: Path, where: str) -> tuple[Diagnosis | None, int]:
    return judged(lakeprune.explain(table, where, explain_why=True))


def judged(report: Report) -> tuple[Diagnosis | None, int]:
    assert report.diagnoses is not None
    found = [d for d in report.diagnoses if d.code == "ENGINE_DIFFERS"]
    assert len(found) <= 1
    return (found[0] if found else None), report.numbers.kept.files


@pytest.mark.parametrize(("where", "planned", "needed"), PLANNED, ids=[where for where, _, _ in PLANNED])
def test_both_counts_are_those_that_were_seen(reports: dict[str, Report], where: str, planned: int, needed: int) -> None:
    diagnosis, kept = judged(reports[where])
    assert kept == needed
    if planned == needed:
        assert diagnosis is None
    else:
        assert diagnosis is not None
        assert (diagnosis.numbers["kept_files"], diagnosis.numbers["delta_spark_files"]) == (needed, planned)


# predicate, the rewrite that Delta Spark can use, files it then plans
CLOSED = [
    ("id IN (5, 1995)", "id = 5 OR id = 1995", 2),
    ("i NOT IN (3, 4)", "i <= 2 OR i >= 5", 18),
    ("s NOT LIKE 'b%'", "s < 'b' OR s >= 'c'", 19),
    ("year(ts) = 2024", "ts >= '2024-01-01' AND ts < '2025-01-01'", 10),
    ("substr(s, 1, 1) = 'b'", "s LIKE 'b%'", 1),
    ("id + 1 = 506", None, 1),
    ("(p = 1 AND id < 300) OR (p = 2 AND id > 1700)", None, 4),
    ("p = 1 AND id IN (105, 1705)", "p = 1 AND (id = 105 OR id = 1705)", 2),
]


def test_no_rewrite_makes_delta_trust_rounded_bounds(tmp_path: Path) -> None:
    """T93: deltalake cuts these bounds at 64 bits. Delta Spark reads both files as the query is written, and must go on to."""
    kind = pa.decimal128(38, 0)
    for value in (5, 10**30):
        write_deltalake(tmp_path / "t", pa.table({"d": pa.array([Decimal(value)], kind), "i": [value % 1000]}), mode="append")
    diagnosis, _ = found_diagnoses(tmp_path / "t", "d IN (1, 5)")
    assert diagnosis is None or diagnosis.rewrite is None
    whole, _ = found_diagnoses(tmp_path / "t", "i + 1 = 6 AND d + 1 = 6")
    assert whole is not None
    assert whole.rewrite == "(i = 5 OR i >= 9223372036854775807) AND i + 1 = 6 AND d + 1 = 6"


@pytest.mark.parametrize(("where", "rewrite", "files"), CLOSED, ids=[where for where, _, _ in CLOSED])
def test_the_rewrite_closes_the_gap_and_keeps_the_meaning(
    table: Path, reports: dict[str, Report], where: str, rewrite: str | None, files: int
) -> None:
    diagnosis, kept = judged(reports[where])
    assert diagnosis is not None
    assert diagnosis.rewrite is not None
    assert diagnosis.numbers["delta_spark_files_with_rewrite"] == files
    if rewrite is not None:
        assert diagnosis.rewrite == rewrite
    again, kept_again = found_diagnoses(table, diagnosis.rewrite)
    assert kept_again == kept
    # What is promised of the rewrite is what the model says of the rewrite itself.
    assert (again.numbers["delta_spark_files"] if again is not None else kept_again) == files


def test_a_mixed_or_of_single_conditions_has_no_rewrite_that_helps(table: Path) -> None:
    diagnosis, _ = found_diagnoses(table, "p = 1 OR id = 5")
    assert diagnosis is not None
    assert diagnosis.rewrite is None


def test_one_missing_statistic_keeps_a_file_that_another_column_would_drop(tmp_path: Path) -> None:
    """As in delta-io/delta#6755: five files lack z, and z = 1505 AND id > 1000 reads them too."""
    files = [add(f"{i}", stats=statistics(100, id=(100 * i, 100 * i + 99, 0), **_z(i))) for i in range(20)]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"id": "long", "z": "long"}), *files]])
    diagnosis, kept = found_diagnoses(table, "z = 1505 AND id > 1000")
    assert kept == 1
    assert diagnosis is not None
    assert diagnosis.numbers["delta_spark_files"] == 6
    assert "missing statistic" in diagnosis.message
    assert diagnosis.rewrite is None


def _z(i: int) -> dict[str, tuple[Any, Any, int | None]]:
    return {} if i < 5 else {"z": (100 * i, 100 * i + 99, 0)}


def test_a_decimal_beside_text_is_not_used(tmp_path: Path) -> None:
    """Spark compares both as doubles, and Delta does not look below the cast (tests/spark/test_delta_spark_model.py)."""
    files = [add(f"{i}", stats=statistics(100, d=(10 * i, 10 * i + 9, 0))) for i in range(4)]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"d": "decimal(10,2)"}), *files]])
    for where, planned in (("d > '25'", 4), ("d IN ('25', '26')", 4), ("d > 25", 2), ("d > 25.00", 2)):
        (engine,) = lakeprune.explain(table, where).engines
        assert engine.files == planned, where


def test_a_list_with_null_excludes_everything_for_delta_too(tmp_path: Path) -> None:
    table = write_log(tmp_path / "t", [[protocol(), metadata({"x": "long"}), add("0", stats=statistics(100, x=(0, 9, 0)))]])
    report = lakeprune.explain(table, "x NOT IN (3, NULL)", explain_why=True)
    assert (report.kept_files, report.engines[0].files) == (0, 0)
    assert judged(report) == (None, 0)


def test_statistics_beyond_the_indexed_columns_are_not_used(tmp_path: Path) -> None:
    files = [add(f"{i}", stats=statistics(100, x=(i, i, 0), y=(i, i, 0))) for i in range(4)]
    settings = {"delta.dataSkippingNumIndexedCols": "1"}
    table = write_log(tmp_path / "t", [[protocol(), metadata({"x": "long", "y": "long"}, (), settings), *files]])
    diagnosis, kept = found_diagnoses(table, "y = 2")
    assert kept == 1
    assert diagnosis is not None
    assert diagnosis.numbers["delta_spark_files"] == 4
    assert found_diagnoses(table, "x = 2")[0] is None


# As Spark writes it, as DuckDB writes it where that differs.
REWRITTEN = [
    ("n IN (50, 1500, 7000)", None),
    ("n IN (50, 7000) AND other != 3", None),
    ("s NOT LIKE 'c%'", None),
    ("year(ts) = 2024 AND month(ts) = 5", None),
    ("year(d) != 2024", None),
    ("substr(s, 1, 2) IN ('b0', 'c1')", None),
    ("date_trunc('MONTH', ts) = '2024-05-01'", "date_trunc('month', ts) = TIMESTAMP '2024-05-01'"),
    ("n + 50 = 1550 OR n - 50 < 0", None),
    ("coalesce(d, DATE '2024-01-05') = DATE '2024-01-05'", None),
    ("s LIKE 'c%5' OR n IN (50, 7000)", None),
]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_rows(tmp_path_factory.mktemp("rows") / "t")


@pytest.mark.parametrize(("where", "in_duckdb"), REWRITTEN, ids=[where for where, _ in REWRITTEN])
def test_the_rewrite_gives_the_same_rows(rows: Path, where: str, in_duckdb: str | None) -> None:
    diagnosis, kept = found_diagnoses(rows, where)
    assert diagnosis is not None
    assert diagnosis.rewrite is not None
    truth = rows_of(rows, in_duckdb or where)
    assert truth
    assert rows_of(rows, diagnosis.rewrite) == truth
    again, kept_again = found_diagnoses(rows, diagnosis.rewrite)
    assert kept_again == kept
    assert diagnosis.numbers["delta_spark_files_with_rewrite"] == (kept if again is None else again.numbers["delta_spark_files"])
