"""Iceberg's scan report: its names and types, the numbers of the report, and a filter that means what the predicate means.

The judge of filters is PyIceberg: it reads the JSON, binds it to a schema and evaluates it on rows, whose truth DuckDB knows.
"""

from __future__ import annotations

import datetime as dt
import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pydantic import TypeAdapter
from pyiceberg.expressions import BooleanExpression
from pyiceberg.expressions.visitors import expression_evaluator
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    NestedField,
    StringType,
    TimestampType,
)
from pyiceberg.utils.datetime import date_to_days, datetime_to_micros

import lakeprune
from lakeprune.cli.main import main
from lakeprune.formats.iceberg.schema import iceberg_schema
from lakeprune.planning.session import profile_of
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.render.scan_report.document import NO_SNAPSHOT
from lakeprune.render.scan_report.expressions import filter_of
from tests.builders import delta
from tests.builders.iceberg import flights
from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, write_table

COUNTERS = (
    "result-data-files result-delete-files total-data-manifests total-delete-manifests scanned-data-manifests "
    "scanned-delete-manifests skipped-data-manifests skipped-delete-manifests total-file-size-in-bytes "
    "total-delete-file-size-in-bytes skipped-data-files skipped-delete-files indexed-delete-files equality-delete-files "
    "positional-delete-files dvs"
).split()  # of Iceberg's ScanMetrics
TYPES: dict[str, Any] = {
    "i": IntegerType(),
    "x": DoubleType(),
    "m": DecimalType(9, 2),
    "s": StringType(),
    "d": DateType(),
    "ts": TimestampType(),
    "b": BooleanType(),
    "y": BinaryType(),
}
ROWS: list[tuple[Any, ...]] = [
    (1, 0.5, Decimal("1.50"), "ab", dt.date(2024, 3, 1), dt.datetime(2024, 3, 1), True, b"\xab"),
    (5, -1.5, Decimal("-3.25"), "abc", dt.date(1969, 12, 31), dt.datetime(1969, 12, 31, 23, 59, 59), False, b""),
    (
        -7,
        1e300,
        Decimal("9999999.99"),
        "",
        dt.date(9999, 12, 31),
        dt.datetime(2024, 2, 29, 1, 2, 3, 456789),
        True,
        b"\xff",
    ),
    (None,) * 8,
]
WHOLE = [
    "i = 5", "5 < i", "i <> 5", "NOT i = 5", "NOT i > 1", "i BETWEEN 1 AND 5", "i NOT BETWEEN 1 AND 5", "i IN (1, 5)",
    "i NOT IN (1, 5)", "i IS NULL", "i IS NOT NULL", "NOT (i IS NULL OR s = 'ab')", "x > 0.5", "x = 1e300", "m = 1.5", "m < 2",
    "m IN (1.50, -3.25)", "s LIKE 'ab%'", "s NOT LIKE 'ab%'", "s = ''", "d >= '2024-03-01'", "d = '9999-12-31'",
    "ts < '1970-01-01'", "ts = '2024-02-29 01:02:03.456789'", "b", "NOT b", "b = true OR i = 5", "(i = 5) IS TRUE",
    "(i = 5) IS FALSE", "TRUE", "FALSE", "i = 5 AND TRUE",
    " OR ".join(f"i = {number}" for number in range(5, 1500)),
]  # fmt: skip
PARTLY = [
    "upper(s) = 'AB' AND i = 1",
    "s LIKE '%b' AND d > '2000-01-01'",
    "i = 1.5 AND b",
    "m = 1.555 AND i = 1",
    "length(s) = 2 AND b",
]
NOT_AT_ALL = ["upper(s) = 'AB'", "s LIKE 'a_'", "i > 0.5", "(i = 5) IS NOT TRUE", "i = 1 OR upper(s) = 'ABC'", "i > m"]
NAMES = iceberg_schema(
    {"fields": [{"id": n, "name": name, "type": str(type_)} for n, (name, type_) in enumerate(TYPES.items(), 1)]},
    frozenset(),
    "test",
    has_lineage=False,
)
SCHEMA = Schema(*(NestedField(number, name, type_) for number, (name, type_) in enumerate(TYPES.items(), 1)))


def filtered(where: str) -> tuple[Any, bool]:
    profile = profile_of()[0]
    return filter_of(bind(parse_predicate(where, profile), NAMES, profile, where))


def chosen_by_iceberg(found: Any) -> list[int]:
    expression = TypeAdapter(BooleanExpression).validate_json(json.dumps(found))
    is_chosen = expression_evaluator(SCHEMA, expression, case_sensitive=True)
    return [number for number, row in enumerate(ROWS) if is_chosen(Record(*map(internal, row)))]


def internal(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return datetime_to_micros(value)
    return date_to_days(value) if isinstance(value, dt.date) else value


def chosen_by_sql(where: str) -> list[int]:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t (n INT, i INT, x DOUBLE, m DECIMAL(9,2), s TEXT, d DATE, ts TIMESTAMP, b BOOLEAN, y BLOB)"
        )
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * 9)})", [(n, *row) for n, row in enumerate(ROWS)])
        return [number for (number,) in connection.execute(f"SELECT n FROM t WHERE {where} ORDER BY n").fetchall()]


@pytest.mark.parametrize("where", WHOLE, ids=lambda where: where[:40])
def test_a_filter_chooses_the_rows_that_the_predicate_chooses(where: str) -> None:
    found, is_whole = filtered(where)
    assert is_whole
    assert chosen_by_iceberg(found) == chosen_by_sql(where)


@pytest.mark.parametrize("where", PARTLY)
def test_a_part_of_a_predicate_chooses_no_fewer_rows(where: str) -> None:
    found, is_whole = filtered(where)
    assert not is_whole
    assert found is not True
    assert set(chosen_by_iceberg(found)) >= set(chosen_by_sql(where))


@pytest.mark.parametrize("where", NOT_AT_ALL)
def test_what_iceberg_cannot_say_is_true(where: str) -> None:
    assert filtered(where) == (True, False)


def test_values_are_written_as_icebergs_single_values() -> None:
    found, _ = filtered("d = '2024-03-01' AND ts = '2024-03-01' AND m = 1.5 AND y = X'AB'")
    leaves = [found["left"]["left"], found["left"]["right"], found["right"]["left"], found["right"]["right"]]
    assert [leaf["value"] for leaf in leaves] == ["2024-03-01", "2024-03-01T00:00:00.000000", "1.50", "AB"]


def test_a_report_has_the_names_and_types_of_icebergs_request(tmp_path: Path) -> None:
    table = str(flights(tmp_path / "flights"))
    report = lakeprune.explain(table, "mission_id = 'apollo-7' AND panel_voltage > 28.5 AND upper(mission_id) = 'APOLLO-7'")
    found = json.loads(report.to_scan_report())
    assert list(found) == (
        "report-type table-name snapshot-id filter schema-id projected-field-ids projected-field-names metrics metadata".split()
    )
    assert (found["report-type"], found["table-name"], found["snapshot-id"], found["schema-id"]) == ("scan-report", table, 7, 0)
    assert found["projected-field-ids"] == [1, 2, 3]
    assert found["projected-field-names"] == ["mission_id", "ts", "panel_voltage"]
    assert found["filter"] == {
        "type": "and",
        "left": {"type": "eq", "term": "mission_id", "value": "apollo-7"},
        "right": {"type": "gt", "term": "panel_voltage", "value": 28.5},
    }
    assert found["metadata"]["predicate"] == report.predicate
    assert found["metadata"]["filter-is-whole"] == "false"
    assert all(isinstance(value, str) for value in found["metadata"].values())
    timer = found["metrics"].pop("total-planning-duration")
    assert timer == {"count": 1, "time-unit": "nanoseconds", "total-duration": report.planning_ms * 1_000_000}
    for name, counter in found["metrics"].items():
        assert name in COUNTERS
        assert counter.keys() == {"unit", "value"}
        assert counter["unit"] == ("bytes" if name.endswith("-in-bytes") else "count")
        assert isinstance(counter["value"], int)


def test_the_counters_are_the_numbers_of_the_report(tmp_path: Path) -> None:
    report = lakeprune.explain(str(flights(tmp_path / "flights")), "mission_id = 'apollo-7' AND panel_voltage > 28.5")
    counters = {name: each.get("value") for name, each in json.loads(report.to_scan_report())["metrics"].items()}
    assert counters["result-data-files"] == report.numbers.kept.files
    assert counters["total-file-size-in-bytes"] == report.numbers.kept.bytes
    assert (counters["total-data-manifests"], counters["scanned-data-manifests"], counters["skipped-data-manifests"]) == (4, 1, 3)
    assert counters["skipped-data-files"] == 8 - counters["result-data-files"]


def test_files_of_skipped_manifests_are_not_counted_as_skipped(tmp_path: Path) -> None:
    days = [SpecField(2, "day", "ts_day", 1000, "int")]
    files = [Entry(f"{day}-{number}", 10, 100, tuple={1000: day}) for day in range(4) for number in range(5)]
    place = write_table(
        tmp_path / "t", [column(1, "a", "int"), column(2, "ts", "timestamp")], files, {0: days}, Layout(per_manifest=10)
    )
    report = lakeprune.explain(str(place), "ts < '1970-01-02'")
    found = {name: each.get("value") for name, each in json.loads(report.to_scan_report())["metrics"].items()}
    names = (
        "total-data-manifests",
        "scanned-data-manifests",
        "skipped-data-manifests",
        "result-data-files",
        "skipped-data-files",
    )
    assert [found[name] for name in names] == [2, 1, 1, 5, 5]
    assert "lakeprune_kept_manifests" in report.to_openmetrics()


def test_without_predicate_and_without_snapshot_there_is_still_a_report(tmp_path: Path) -> None:
    empty = write_table(tmp_path / "empty", [column(1, "a", "int")], [], {0: []})
    found = json.loads(lakeprune.explain(str(empty)).to_scan_report())
    assert found["filter"] is True
    assert found["snapshot-id"] in (NO_SNAPSHOT, 7)
    assert "predicate" not in found["metadata"]


def test_the_command_writes_both_files_beside_the_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, files = str(flights(tmp_path / "flights")), tmp_path / "files"
    files.mkdir()
    beside = ["--scan-report", str(files / "scan.json"), "--metrics-file", str(files / "out.prom")]
    assert main(["explain", table, "-w", "mission_id = 'apollo-7'", *beside]) == 0
    assert "32 -> 8 files" in capsys.readouterr().out
    assert json.loads((files / "scan.json").read_text())["metrics"]["result-data-files"] == {"unit": "count", "value": 8}
    assert sorted(os.listdir(files)) == ["out.prom", "scan.json"]


def test_a_table_of_another_format_is_refused_and_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    users = str(delta.users(tmp_path / "users"))
    target, metrics = tmp_path / "scan.json", tmp_path / "out.prom"
    beside = ["--scan-report", str(target), "--metrics-file", str(metrics)]
    assert main(["explain", users, "-w", "age > 40", *beside]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "error[LP249] a scan report is Iceberg's, and this is a Delta table" in shown.err
    assert "fix:   use --metrics-file" in shown.err
    assert not target.exists()
    assert not metrics.exists()


def test_a_query_has_no_scan_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--sql", "SELECT 1", "--engine", "spark", "--scan-report", "scan.json"]) == 2
    assert "error[LP244] --scan-report and --sql do not go together" in capsys.readouterr().err
