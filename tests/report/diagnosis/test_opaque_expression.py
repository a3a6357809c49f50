"""OPAQUE_EXPRESSION: the proposed rewrite gives the same rows on random data, and keeps the files it promises."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from lakeprune.report.model import Severity
from tests.builders.delta import add, metadata, protocol, statistics, write_log
from tests.report.diagnosis.asking import explained, found_diagnoses, kept, one
from tests.report.diagnosis.random_rows import random_rows, rows_of

CODE = "OPAQUE_EXPRESSION"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_rows(tmp_path_factory.mktemp("opaque") / "t")


TEXTS = "('k-c00', 'k-c03', 'k-c04', 'k-c06', 'k-c11', 'c02')"
# As Spark writes it, as DuckDB writes it.
CASES = [
    ("date_format(ts, 'yyyy-MM') = '2024-05'", "strftime(ts, '%Y-%m') = '2024-05'"),
    ("date_format(d, 'yyyyMM') IN ('202405', '202407')", "strftime(d, '%Y%m') IN ('202405', '202407')"),
    ("date_format(ts, 'yyyy-MM-dd HH') >= '2024-12-20 10'", "strftime(ts, '%Y-%m-%d %H') >= '2024-12-20 10'"),
    ("date_format(ts, 'yyyy-MM-dd') < '2024-02-01'", "strftime(ts, '%Y-%m-%d') < '2024-02-01'"),
    ("date_format(ts, 'yyyyMMdd') BETWEEN '20240401' AND '20240410'", "strftime(ts, '%Y%m%d') BETWEEN '20240401' AND '20240410'"),
    ("NOT (date_format(d, 'yyyy') = '2024')", "NOT (strftime(d, '%Y') = '2024')"),
    ("d LIKE '2024-05%'", "CAST(d AS VARCHAR) LIKE '2024-05%'"),
    ("CAST(d AS STRING) = '2024-05-01'", "CAST(d AS VARCHAR) = '2024-05-01'"),
    ("substring(CAST(d AS STRING), 1, 7) = '2024-05'", "substring(CAST(d AS VARCHAR), 1, 7) = '2024-05'"),
    ("CAST(n AS STRING) IN ('1500', '1650', '01700', 'x')", "CAST(n AS VARCHAR) IN ('1500', '1650', '01700', 'x')"),
    (f"concat('k-', s) IN {TEXTS}", f"concat('k-', s) IN {TEXTS}"),
    ("rtrim(s) IN ('c05', 'c06', 'c07', 'c08', 'c09')", "rtrim(s, ' ') IN ('c05', 'c06', 'c07', 'c08', 'c09')"),
    ("s RLIKE '^c0[0-5]'", "regexp_matches(s, '^c0[0-5]')"),
    ("other = 3 AND (s RLIKE '^d' OR n < 100)", "other = 3 AND (regexp_matches(s, '^d') OR n < 100)"),
]  # fmt: skip


@pytest.mark.parametrize(("where", "in_duckdb"), CASES, ids=[where for where, _ in CASES])
def test_the_rewrite_gives_the_same_rows_and_keeps_the_files_it_promises(table: Path, where: str, in_duckdb: str) -> None:
    report = explained(table, where)
    found = [d for d in report.diagnoses or () if d.code == CODE]
    truth = rows_of(table, in_duckdb)
    rewritten, readable = _applied(report.clauses, found)
    assert found
    assert truth
    assert rows_of(table, readable.replace(where, in_duckdb)) == truth
    # One rewrite at a time is what the numbers promise.
    for diagnosis in found:
        alone, _ = _applied(report.clauses, [diagnosis])
        assert diagnosis.numbers["files_with_rewrite"] == kept(table, alone) < report.numbers.kept.files
    assert 0 < kept(table, rewritten) < report.numbers.total.files


def _applied(clauses: Any, diagnoses: Any) -> tuple[str, str]:
    """The predicate with each diagnosed clause replaced, for Spark and for DuckDB."""
    rewrites = {diagnosis.clause: diagnosis.rewrite for diagnosis in diagnoses}
    texts = [rewrites.get(clause.clause.text) or clause.clause.text for clause in clauses]
    whole = " AND ".join(f"({text})" for text in texts)
    return whole, _for_duckdb(whole)


def _for_duckdb(text: str) -> str:
    """Originals that stand beside what they imply, as DuckDB writes them."""
    text = re.sub(r"(\w+) RLIKE ('[^']*')", r"regexp_matches(\1, \2)", text)
    text = re.sub(r"rtrim\((\w+)\)", r"rtrim(\1, ' ')", text)
    formats = {"yyyy-MM-dd": "%Y-%m-%d", "yyyyMMdd": "%Y%m%d"}
    for spark, other in formats.items():
        text = re.sub(rf"date_format\((\w+), '{spark}'\)", rf"strftime(\1, '{other}')", text)
    return text


def test_a_rewrite_can_be_pasted_where_the_clause_stood(table: Path) -> None:
    clause = "date_format(d, 'yyyyMM') IN ('202405', '202407')"
    pasted = f"other = 3 AND {one(table, f'other = 3 AND {clause}', CODE).rewrite}"
    truth = rows_of(table, "other = 3 AND strftime(d, '%Y%m') IN ('202405', '202407')")
    assert truth
    assert rows_of(table, pasted) == truth


UNPROVEN = [
    "lower(s) = 'c05'",
    "s LIKE '%5'",
    "length(s) = 3",
    "date_format(ts, 'MM') = '05'",
    "date_format(ts, 'yyyyM-M') = '20245-5'",
    "date_format(ts, 'yyyy-M-M') = '2024-5-5'",
]


@pytest.mark.parametrize("where", UNPROVEN)
def test_without_a_proof_nothing_is_proposed(table: Path, where: str) -> None:
    found = one(table, where, CODE)
    assert found.rewrite is None
    assert "files_with_rewrite" not in found.numbers
    assert found.numbers["dropped_files"] == 0
    assert found.severity is Severity.WARNING


@pytest.mark.parametrize("where", ["ts >= '2024-05-01'", "year(ts) = 2024", "s LIKE 'c%'", "substring(s, 1, 1) = 'c'"])
def test_what_metadata_decides_is_not_opaque(table: Path, where: str) -> None:
    assert found_diagnoses(table, where, CODE) == []


def test_a_rewrite_that_keeps_as_many_files_is_told_and_not_proposed(table: Path) -> None:
    found = one(table, "d = '2024-05-01' AND date_format(d, 'yyyy-MM') = '2024-05'", CODE)
    assert found.rewrite is None
    assert found.numbers["files_with_rewrite"] == found.numbers["kept_files"]


def test_a_partly_used_pattern_is_worth_knowing_only(table: Path) -> None:
    found = one(table, "s LIKE 'c%5'", CODE)
    assert found.severity is Severity.INFO
    assert found.numbers["dropped_files"] == explained(table, "s LIKE 'c%'").clauses[0].credit.drops_any.files


def test_the_zone_of_the_session_is_in_the_range(table: Path) -> None:
    found = one(table, "date_format(ts, 'yyyy-MM-dd') = '2024-05-01'", CODE, timezone="America/New_York")
    assert found.rewrite == "ts >= '2024-05-01' AND ts < '2024-05-02'"
    in_utc = kept(table, "ts >= '2024-05-01 04:00:00' AND ts < '2024-05-02 04:00:00'")
    assert found.numbers["files_with_rewrite"] == in_utc == kept(table, found.rewrite, timezone="America/New_York")


def test_a_rewrite_that_does_not_help_is_not_called_a_fix(tmp_path: Path) -> None:
    files = [add(f"{i}", stats=statistics(9, s=("a", "z", 0))) for i in range(3)]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"s": "string"}), *files]])
    found = one(table, "rtrim(s) = 'k'", CODE)
    assert found.rewrite is None
    assert found.suggestion == "none in the predicate: as (s >= 'k' AND s < 'k!') AND (rtrim(s) = 'k') it keeps 3 files, too"
