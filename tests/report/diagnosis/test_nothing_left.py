"""NOTHING_LEFT: no file is left of a table that has some, and the answer names what the table does hold."""

from __future__ import annotations

from pathlib import Path

import pytest

import lakeprune
from lakeprune.cli.main import main
from tests.builders.delta import add, metadata, protocol, statistics, users, write_log
from tests.report.diagnosis.asking import found_diagnoses, kept, one

CODE = "NOTHING_LEFT"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return users(tmp_path_factory.mktemp("nothing") / "users")


@pytest.mark.parametrize(
    ("where", "nearest", "rewrite"),
    [
        ("country = 'de'", "DE", "country = 'DE'"),
        ("country = 'ITA'", "IT", "country = 'IT'"),
        ("country = 'us' AND age > 20", "US", "country = 'US'"),
        ("lower(country) = 'DE'", "DE", "country = 'DE'"),
        ("country IN ('de', 'xx')", "DE", "country = 'DE'"),
    ],
)
def test_the_nearest_partition_value_is_proposed(table: Path, where: str, nearest: str, rewrite: str) -> None:
    found = one(table, where, CODE)
    assert "known values of country: 'DE', 'IT', 'US'" in found.message
    assert found.suggestion == f"did you mean {nearest!r}?"
    assert (found.numbers["nearest"], found.rewrite) == (nearest, rewrite)
    assert kept(table, rewrite) > 0


def test_where_no_value_is_near_the_known_ones_are_listed(table: Path) -> None:
    found = one(table, "country = 'Brazil'", CODE)
    assert "known values of country: 'DE', 'IT', 'US'" in found.message
    assert found.rewrite is None


@pytest.mark.parametrize(
    ("where", "nearest"),
    [("p = 7", "40"), ("p > 500", "120"), ("p IN (71, 72)", "80"), ("p BETWEEN 71 AND 75", "80")],
)
def test_the_nearest_numbers_come_first(tmp_path: Path, where: str, nearest: str) -> None:
    files = [add(f"{p}", partition={"p": f"{p}"}) for p in range(40, 121, 10) if p != 70]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"p": "integer"}, ["p"]), *files]])
    found = one(table, where, CODE)
    assert (found.numbers["nearest"], found.suggestion) == (nearest, f"the nearest value is '{nearest}'")
    assert f"known values of p: '{nearest}'" in found.message
    assert found.rewrite is None


def test_a_constant_beside_a_function_is_near_to_nothing(tmp_path: Path) -> None:
    table = write_log(tmp_path / "t", [[protocol(), metadata({"d": "date"}, ["d"]), add("a", partition={"d": "2024-01-01"})]])
    assert "nearest" not in one(table, "weekday(d) = 9", CODE).numbers


def test_clauses_that_contradict_each_other_are_not_a_typo(table: Path) -> None:
    found = one(table, "country = 'DE' AND country = 'US'", CODE)
    assert (found.suggestion, found.rewrite) == ("check the constants and the direction of the comparisons", None)


@pytest.mark.parametrize("where", ["\"country\" = 'DE'", "'COUNTRY' = 'DE'"])
def test_a_column_in_quotes_is_a_column_without_them(table: Path, where: str) -> None:
    for code in (CODE, "CONTRADICTION"):
        found = one(table, where, code)
        assert found.suggestion == "quotes make text, not a column; take them away"
        assert kept(table, found.rewrite or "") == 2


@pytest.mark.parametrize("where", ["age > 1000", "age < 0", "age = 17"])
def test_the_bounds_of_a_data_column_are_given(table: Path, where: str) -> None:
    found = one(table, where, CODE)
    assert (found.column, found.numbers["least"], found.numbers["greatest"]) == ("age", "18", "65")
    assert "age lies between 18 and 65" in found.message


def test_a_dead_table_shows_its_newest_value(tmp_path: Path) -> None:
    files = [add("a", stats=statistics(5, ts=("2024-01-01T00:00:00.000Z", "2024-03-05T07:08:09.000Z", 0)))]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"ts": "timestamp"}), *files]])
    found = one(table, "ts > now() - interval 7 days", CODE)
    assert str(found.numbers["greatest"]).startswith("2024-03-05 07:08:09")


@pytest.mark.parametrize(
    ("where", "rewrite"), [("age = NULL", "age IS NULL"), ("NULL != age", "age IS NOT NULL"), ("1 = 0", None)]
)
def test_a_comparison_with_null_becomes_a_null_test(table: Path, where: str, rewrite: str | None) -> None:
    assert one(table, where, CODE).rewrite == rewrite
    assert one(table, where, "CONTRADICTION").rewrite == rewrite


def test_clauses_that_leave_nothing_only_together_are_listed(table: Path) -> None:
    found = one(table, "country = 'DE' AND age > 61", CODE)
    assert found.clause is None
    assert "country = 'DE' drops 4, age > 61 drops 5" in found.message


@pytest.mark.parametrize("where", ["country = 'DE'", "age > 60"])
def test_a_predicate_that_leaves_a_file_is_not_told(table: Path, where: str) -> None:
    assert found_diagnoses(table, where, CODE) == []


def test_a_table_without_files_is_not_told(tmp_path: Path) -> None:
    table = write_log(tmp_path / "t", [[protocol(), metadata({"x": "long"})]])
    assert found_diagnoses(table, "x = 1", CODE) == []


def test_a_gate_that_passes_because_nothing_is_left_says_so(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["explain", str(table), "-w", "country = 'de'", "--min-pruning", "90"]
    assert main(command) == 0
    shown = capsys.readouterr()
    assert "note: min_pruning passed because nothing is left to read: country = 'de' leaves none of the 6 files" in shown.err
    assert "did you mean 'DE'?" in shown.err
    assert "Why:" not in shown.out
    assert main([*command, "--min-files", "1"]) == 1
    assert main([*command, "--fail-on", CODE]) == 1
    assert lakeprune.explain(table, "country = 'DE'", min_pruning=50).remarks == ()
