"""SMALL_FILES: merging is proposed where it leaves fewer files to read, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.tables import orders
from tests.builders.delta import add, metadata, protocol, statistics, users, write_log
from tests.report.diagnosis.asking import found_diagnoses, one

CODE = "SMALL_FILES"
KB, MB, GB = 1000, 1_000_000, 1 << 30


def table(path: Path, sizes: dict[str, list[int]]) -> Path:
    """Files of these sizes in the partitions p; x rises from file to file."""
    files = [
        add(f"{p}-{i}", size=size, partition={"p": p}, stats=statistics(10, x=(10 * i, 10 * i + 9, 0)))
        for p, several in sizes.items()
        for i, size in enumerate(several)
    ]
    return write_log(path, [[protocol(), metadata({"x": "long", "p": "string"}, ["p"]), *files]])


def test_small_files_are_counted_with_what_merging_leaves(tmp_path: Path) -> None:
    log = table(tmp_path / "t", {"a": [7 * KB] * 10, "b": [7 * KB] * 6})
    found = one(log, "x >= 0", CODE)
    assert found.numbers == {
        "kept_files": 16,
        "small_files": 16,
        "small_bytes": 16 * 7 * KB,
        "partitions": 2,
        "files_after": 2,
    }
    assert found.rewrite == f"OPTIMIZE delta.`{log}`"


def test_what_the_predicate_says_of_partitions_limits_the_statement(tmp_path: Path) -> None:
    log = table(tmp_path / "t", {"a": [7 * KB] * 10, "b": [7 * KB] * 6})
    assert one(log, "p = 'b' AND x >= 0", CODE).rewrite == f"OPTIMIZE delta.`{log}` WHERE p = 'b'"


def test_only_partitions_that_are_read_nearly_whole_are_named(tmp_path: Path) -> None:
    """Of b two files of forty are read: merged, all of b would be."""
    log = table(tmp_path / "t", {"a": [7 * KB] * 10, "b": [7 * KB] * 40})
    found = one(log, "x >= 0 AND x < 20 OR p = 'a'", CODE)
    assert found.rewrite == f"OPTIMIZE delta.`{log}` WHERE p = 'a'"
    assert (found.numbers["kept_files"], found.numbers["small_files"], found.numbers["files_after"]) == (12, 10, 3)


@pytest.mark.parametrize(
    ("sizes", "where"),
    [
        ({f"p{i}": [7 * KB] for i in range(30)}, "x >= 0"),  # one file per partition: nothing to merge
        ({"a": [GB] * 10}, "x >= 0"),  # as large as they get
        ({"a": [100 * MB] * 10}, "x >= 0"),  # not small
        ({"a": [7 * KB] * 40}, "x = 5"),  # one of forty is read
        ({"a": [7 * KB] * 3 + [GB] * 9}, "x >= 0"),  # three small ones among large ones
    ],
)
def test_merging_is_not_proposed_where_it_does_not_help(tmp_path: Path, sizes: dict[str, list[int]], where: str) -> None:
    assert found_diagnoses(table(tmp_path / "t", sizes), where, CODE) == []


def test_the_demos_orders_are_not_small(tmp_path: Path) -> None:
    assert found_diagnoses(orders(tmp_path / "orders"), "customer = 500", CODE) == []
    assert one(users(tmp_path / "users"), "age > 0", CODE).numbers["files_after"] == 3
