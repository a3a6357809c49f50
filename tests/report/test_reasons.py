"""Every kept file has its reason, and the reason is the true one: by hand-made logs through `explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lakeprune
from tests.builders.delta import add, metadata, protocol, statistics, write_log

COLUMNS = {"p": "integer", "x": "integer", "email": "string"}


def table(root: Path, *values: str | None, **stats: Any) -> Path:
    """One file per partition value, as the log records it."""
    recorded = statistics(10, **stats) if stats else None
    files = [add(f"{n}.parquet", partition={"p": value}, stats=recorded) for n, value in enumerate(values)]
    return write_log(root / "table", [[protocol(), metadata(COLUMNS, ["p"]), *files]])


def reasons(root: Path, where: str) -> dict[str, str | None]:
    whole = lakeprune.explain(root, where).to_dict(verbose=True)
    return {file["path"][0]: file["reason"] for file in whole["files"]}


@pytest.mark.parametrize("where", ["p = 7", "p % 2 = 0", "p IN (7, 9)", "p IS NULL", "p = 7 OR p = 9"])
def test_a_partition_value_that_cannot_be_read_is_the_reason(tmp_path: Path, where: str) -> None:
    root = table(tmp_path, "007", "5")
    assert reasons(root, where) == {"0": "PARTITION_TEXT_UNREADABLE", "1": None}


def test_text_names_the_unreadable_partition_value(tmp_path: Path) -> None:
    text = lakeprune.explain(table(tmp_path, "007"), "p = 7").to_text(verbose=True)
    assert "kept: the recorded partition value cannot be read for p = 7" in text


def test_an_expression_that_fails_on_a_partition_value_is_the_reason(tmp_path: Path) -> None:
    root = table(tmp_path, "2", "5", "1")
    assert reasons(root, "10 % (p - 2) = 2") == {"0": "EVALUATION_FAILED", "1": None, "2": None}


def test_a_readable_value_in_a_mixed_clause_keeps_its_own_reason(tmp_path: Path) -> None:
    root = table(tmp_path, "007", "5", x=(1, 9, 0))
    assert reasons(root, "p = 7 OR x > 20") == {"0": "PARTITION_TEXT_UNREADABLE", "1": None}
    assert reasons(root, "p = 5 OR x > 5") == {"0": "RANGES_OVERLAP", "1": "ALL_ROWS_MATCH"}


@pytest.mark.parametrize(("nulls", "where"), [(3, "x IS NULL"), (3, "x IS NOT NULL")])
def test_a_null_test_is_kept_for_the_null_count(tmp_path: Path, nulls: int, where: str) -> None:
    assert reasons(table(tmp_path, "1", x=(1, 9, nulls)), where) == {"0": "NULL_COUNT"}


@pytest.mark.parametrize("where", ["email = NULL", "1 = 0", "1 = 0 AND x > 5", "p = 1 AND email = NULL"])
def test_a_constant_condition_has_a_credit_of_its_own(tmp_path: Path, where: str) -> None:
    whole = lakeprune.explain(table(tmp_path, "1", "2", x=(1, 9, 0)), where).to_dict(verbose=True)
    assert {name: amount["files"] for name, amount in whole["credits"].items() if amount["files"]} == {"constant": 2}
    assert {file["credit"] for file in whole["files"]} == {"constant"}
    text = lakeprune.explain(tmp_path / "table", where).to_text()
    assert "keeps, of 0 files left by the condition itself" in text.replace("Keeps", "keeps")  # a title where one clause is all
    first = whole["phases"][0]
    assert (first["name"], first["input_files"], first["output_files"]) == ("Constant condition", 2, 0)
    assert [phase["input_files"] for phase in whole["phases"][1:]] == [0] * (len(whole["phases"]) - 1)


def test_partition_values_keep_their_credit_beside_a_condition_that_is_true(tmp_path: Path) -> None:
    whole = lakeprune.explain(table(tmp_path, "1", "2"), "p = 1 AND 1 = 1").to_dict()
    assert {name: amount["files"] for name, amount in whole["credits"].items() if amount["files"]} == {"partition": 1}
