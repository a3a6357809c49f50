"""What the guards keep: UNDEFINED_NAN, TRUNCATED_STRING_BOUNDS, TIMESTAMP_ZONE_UNKNOWN, WIDE_BOUNDS_DELETION_VECTORS."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from lakeprune.report.model import Severity
from tests.builders.delta import Action, add, metadata, protocol, statistics, write_log
from tests.report.diagnosis.asking import explained, found_diagnoses, kept, one

LONG_TEXT = "x" * 32


def table_of(path: Path, columns: dict[str, Any], *files: Action, partition_by: tuple[str, ...] = ()) -> Path:
    return write_log(path, [[protocol(3, 7, readerFeatures=["deletionVectors"], writerFeatures=["deletionVectors"]),
                             metadata(columns, partition_by), *files]])  # fmt: skip


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    maxima = [2.0, 50.0, 99.0, 150.0]
    return table_of(
        tmp_path / "prices", {"price": "double"}, *(add(f"{m}", stats=statistics(9, price=(1.0, m, 0))) for m in maxima)
    )


def test_files_kept_for_a_nan_alone_are_counted(prices: Path) -> None:
    found = one(prices, "price > 100", "UNDEFINED_NAN", nan_policy="strict")
    assert (found.column, found.severity) == ("price", Severity.WARNING)
    assert found.numbers == {"kept_files": 4, "guarded_files": 3, "files_with_rewrite": 1}
    assert found.rewrite is not None
    assert kept(prices, found.rewrite) == 1
    assert kept(prices, "price > 100", nan_policy="spark-writers") == 1


def test_files_dropped_on_the_assumption_that_no_nan_is_hidden_are_counted(prices: Path) -> None:
    found = one(prices, "price > 100", "UNDEFINED_NAN")
    assert (found.column, found.severity) == ("price", Severity.INFO)
    assert found.numbers == {"kept_files": 1, "assumed_files": 3, "files_with_rewrite": 1}
    proven = explained(prices, found.rewrite or "")
    assert (proven.numbers.kept.files, proven.assumptions) == (1, []), "without NaN nothing is left to assume"


@pytest.mark.parametrize("where", ["price < 0", "price BETWEEN 100 AND 200", "price > 100 AND price < CAST('NaN' AS DOUBLE)"])
def test_a_clause_that_nan_cannot_satisfy_is_not_guarded(prices: Path, where: str) -> None:
    assert found_diagnoses(prices, where, "UNDEFINED_NAN") == []


def test_the_rewrite_loses_nothing_but_nan(tmp_path: Path) -> None:
    """Infinity is a number above 100; a 32-bit column is compared alike."""
    files = [add("inf", stats=statistics(9, f=(1.0, None, 0))), add("low", stats=statistics(9, f=(1.0, 2.0, 0)))]
    table = table_of(tmp_path / "t", {"f": "float"}, *files)
    found = one(table, "f > 100", "UNDEFINED_NAN")
    assert found.rewrite is not None
    assert found.numbers["files_with_rewrite"] == kept(table, found.rewrite) == 1
    truth = duckdb.execute(f"SELECT f FROM (VALUES (1.0::FLOAT), ('inf'), ('nan'), (101)) AS t(f) WHERE {found.rewrite}")
    assert sorted(truth.fetchall()) == [(101.0,), (float("inf"),)]


NUMBERS = "(VALUES (1.0::DOUBLE, NULL), (NULL, 5), (NULL, 6), ('nan', 5), ('nan', 6), (101, 5), (7, NULL)) AS t(x, n)"


@pytest.mark.parametrize("others", ["", "n > 1 AND "])
@pytest.mark.parametrize("clause", ["x > 100 OR n = 5", "x > 100 OR x IS NULL AND n = 5", "NOT (x <= 100)"])
def test_rows_without_a_value_are_not_taken_for_nan(tmp_path: Path, clause: str, others: str) -> None:
    files = [add(f"{i}", stats=statistics(9, x=(1.0, 2.0, 1), n=(10 * i, 10 * i + 9, 1))) for i in range(4)]
    table = table_of(tmp_path / "t", {"x": "double", "n": "long"}, *files)
    where = f"{others}({clause})"
    pasted = f"{others}{one(table, where, 'UNDEFINED_NAN').rewrite}"
    lost = duckdb.execute(f"SELECT isnan(x) FROM {NUMBERS} WHERE {where} AND ({pasted}) IS NOT TRUE").fetchall()
    won = duckdb.execute(f"SELECT x, n FROM {NUMBERS} WHERE ({where}) IS NOT TRUE AND ({pasted})").fetchall()
    assert set(lost) == {(True,)}
    assert won == []


def test_of_very_many_clauses_only_the_first_are_planned_without_nan(tmp_path: Path) -> None:
    table = table_of(tmp_path / "t", {"x": "double", "n": "long"}, add("f", stats=statistics(9, x=(1.0, 2.0, 1), n=(1, 9, 1))))
    clauses = [f"(x > {100 + i} OR n = {20 + i})" for i in range(30)]
    assert len(found_diagnoses(table, " AND ".join(clauses[:14]), "UNDEFINED_NAN")) == 14
    assert 0 < len(found_diagnoses(table, " AND ".join(clauses), "UNDEFINED_NAN")) * len(clauses) <= 200


@pytest.mark.parametrize(("policy", "kept_files"), [("strict", 4), ("assume", 1)])
def test_what_does_not_help_against_nan_is_not_proposed(prices: Path, policy: str, kept_files: int) -> None:
    found = one(prices, "(price > 100) IS TRUE", "UNDEFINED_NAN", nan_policy=policy)
    assert found.numbers["files_with_rewrite"] == found.numbers["kept_files"] == kept_files
    assert found.rewrite is None
    assert not (found.suggestion or "").endswith("write")


def test_trusted_writers_lift_the_guard(prices: Path) -> None:
    assert found_diagnoses(prices, "price > 100", "UNDEFINED_NAN", nan_policy="spark-writers") == []


def test_files_kept_for_a_cut_maximum_alone_are_counted(tmp_path: Path) -> None:
    maxima = [LONG_TEXT, LONG_TEXT + "a", "xa", "z"]
    files = [add(f"{i}", stats=statistics(9, s=("a", m, 0))) for i, m in enumerate(maxima)]
    table = table_of(tmp_path / "t", {"s": "string"}, *files)
    where = f"s > '{LONG_TEXT}b'"
    # By hand: "z" matches; the first may go on with "b", the second only after its "a"; "xa" is whole and below.
    assert kept(table, where) == 2
    found = one(table, where, "TRUNCATED_STRING_BOUNDS")
    assert found.column == "s"
    assert found.numbers == {"kept_files": 2, "guarded_files": 1}


def test_short_maxima_are_whole(tmp_path: Path) -> None:
    files = [add(f"{i}", stats=statistics(9, s=("a", m, 0))) for i, m in enumerate(["b", "c"])]
    table = table_of(tmp_path / "t", {"s": "string"}, *files)
    assert kept(table, "s > 'bb'") == 1
    assert found_diagnoses(table, "s > 'bb'", "TRUNCATED_STRING_BOUNDS") == []


def test_long_lists_are_counted_too(tmp_path: Path) -> None:
    """More than eight intervals are searched by another expression, which must assume the same."""
    files = [add(f"{i}", stats=statistics(9, s=(LONG_TEXT, LONG_TEXT, 0))) for i in range(3)]
    table = table_of(tmp_path / "t", {"s": "string"}, *files)
    texts = ", ".join(f"'{LONG_TEXT}{letter}'" for letter in "abcdefghijkl")
    assert one(table, f"s IN ({texts})", "TRUNCATED_STRING_BOUNDS").numbers == {"kept_files": 3, "guarded_files": 3}


def hours(path: Path, suffix: str) -> Path:
    values = [f"2024-05-01 {hour:02d}:00:00{suffix}" for hour in range(24)]
    files = [add(v, partition={"h": v}, stats=statistics(9, x=(1, 2, 0))) for v in values]
    return table_of(path, {"h": "timestamp", "x": "long"}, *files, partition_by=("h",))


def test_files_kept_for_an_unknown_zone_are_counted(tmp_path: Path) -> None:
    table = hours(tmp_path / "t", "")
    where = "h >= '2024-05-01 20:00:00'"
    found = one(table, where, "TIMESTAMP_ZONE_UNKNOWN")
    # Within 18 hours of 20:00 lie the partitions from 02:00 on; four of them are there in UTC.
    assert found.numbers == {"kept_files": 22, "guarded_files": 18, "files_with_zone": 4, "zone": "UTC"}
    assert found.rewrite == "--timezone UTC"
    assert kept(table, where, timezone="UTC") == 4
    assert found_diagnoses(table, where, "TIMESTAMP_ZONE_UNKNOWN", timezone="UTC") == []


def test_values_with_an_offset_need_no_zone(tmp_path: Path) -> None:
    assert found_diagnoses(hours(tmp_path / "t", "Z"), "h >= '2024-05-01 20:00:00'", "TIMESTAMP_ZONE_UNKNOWN") == []


def deleted(path: str, cardinality: int, stats: dict[str, Any]) -> Action:
    vector = {"storageType": "u", "pathOrInlineDv": f"dv{path:>18}", "offset": 1, "sizeInBytes": 36, "cardinality": cardinality}
    return {"add": {**add(path, stats=stats)["add"], "deletionVector": vector}}


def test_files_with_deletion_vectors_are_counted_with_what_they_hide(tmp_path: Path) -> None:
    files = [
        deleted("overlaps", 3, statistics(10, x=(0, 9, 0))),
        deleted("also", 4, statistics(20, x=(5, 30, 0))),
        deleted("full", 1, statistics(10, x=(7, 8, 0))),  # every row matches: tight bounds would not drop it
        deleted("out", 2, statistics(10, x=(50, 60, 0))),
        add("none", stats=statistics(10, x=(0, 9, 0))),
    ]
    table = table_of(tmp_path / "t", {"x": "long"}, *files)
    found = one(table, "x BETWEEN 6 AND 8", "WIDE_BOUNDS_DELETION_VECTORS")
    assert found.numbers == {"kept_files": 4, "guarded_files": 2, "deleted_rows": 7, "physical_rows": 30}
    assert found_diagnoses(table, "x > 45 AND x < 70", "WIDE_BOUNDS_DELETION_VECTORS") == []


def test_without_deletion_vectors_bounds_are_tight(tmp_path: Path) -> None:
    table = table_of(tmp_path / "t", {"x": "long"}, add("a", stats=statistics(10, x=(0, 9, 0))))
    assert found_diagnoses(table, "x = 5", "WIDE_BOUNDS_DELETION_VECTORS") == []
