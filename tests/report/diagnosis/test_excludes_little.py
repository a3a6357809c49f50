"""EXCLUDES_LITTLE: a clause that says what is not wanted, and the values that remain."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeprune.report.model import Severity
from tests.builders.delta import add, metadata, protocol, users, write_log
from tests.report.diagnosis.asking import found_diagnoses, kept, one

CODE = "EXCLUDES_LITTLE"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return users(tmp_path_factory.mktemp("excludes") / "users")


@pytest.mark.parametrize(
    "where", ["country != 'DE'", "NOT country = 'DE'", "country NOT IN ('DE')", "NOT (country IN ('DE', 'XX'))"]
)
def test_the_remaining_partition_values_are_listed(table: Path, where: str) -> None:
    found = one(table, where, CODE)
    assert (found.rewrite, found.severity, found.column) == ("country IN ('IT', 'US')", Severity.INFO, "country")
    assert found.numbers == {"files": 6, "kept_files": 4, "dropped_files": 2, "remaining_values": 2}
    assert kept(table, found.rewrite or "") == 4


def test_a_data_column_has_no_list(table: Path) -> None:
    found = one(table, "age != 30", CODE)
    assert (found.rewrite, found.numbers["dropped_files"]) == (None, 0)


@pytest.mark.parametrize(
    "where", ["country = 'DE'", "country NOT IN ('DE', 'IT')", "age > 30", "age BETWEEN 20 AND 60", "country IS NOT NULL"]
)
def test_a_clause_that_asks_for_something_or_excludes_much_is_not_told(table: Path, where: str) -> None:
    assert found_diagnoses(table, where, CODE) == []


def test_many_remaining_values_are_not_listed(tmp_path: Path) -> None:
    files = [add(f"{i}", partition={"p": f"{i}"}) for i in range(40)]
    log = write_log(tmp_path / "t", [[protocol(), metadata({"p": "integer", "x": "long"}, ["p"]), *files]])
    assert one(log, "p != 3", CODE).rewrite is None
