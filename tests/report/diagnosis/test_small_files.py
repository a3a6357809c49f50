"""SMALL_FILES: merging is proposed where it leaves fewer files to read, and only there."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import lakeprune
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
        ({f"p{i}": [7 * KB] for i in range(9)}, "x >= 0"),  # one file per partition, and few of them
        ({f"p{i}": [7 * KB] for i in range(30)}, "p < 'p2'"),  # eleven of thirty are read: in one file they all would be
        ({f"p{i}": [100 * MB] for i in range(30)}, "x >= 0"),  # one file per partition, not small
        ({"a": [GB] * 10}, "x >= 0"),  # as large as they get
        ({"a": [100 * MB] * 10}, "x >= 0"),  # not small
        ({"a": [7 * KB] * 40}, "x = 5"),  # one of forty is read
        ({"a": [7 * KB] * 3 + [GB] * 9}, "x >= 0"),  # three small ones among large ones
    ],
)
def test_merging_is_not_proposed_where_it_does_not_help(tmp_path: Path, sizes: dict[str, list[int]], where: str) -> None:
    assert found_diagnoses(table(tmp_path / "t", sizes), where, CODE) == []


def test_tiny_partitions_are_to_be_coarser(tmp_path: Path) -> None:
    """Seven kilobytes in each of thirty partitions: OPTIMIZE has nothing to merge."""
    found = one(table(tmp_path / "t", {f"p{i}": [7 * KB] for i in range(30)}), "x >= 0", CODE)
    assert found.numbers == {
        "kept_files": 30,
        "small_files": 30,
        "small_bytes": 30 * 7 * KB,
        "partitions": 30,
        "files_after": 1,
        "partition_by": "",
    }
    assert found.rewrite is None
    assert found.suggestion == "do not partition the table when it is written anew: then at most 1 file is read"


@pytest.mark.parametrize(
    ("where", "partition_by", "after"),
    [("id >= 0", "region", 3), ("id >= 0 AND region != 'APAC'", "region", 2), ("id % 2 = 0 AND region = 'EU'", "region", 1)],
)
def test_the_coarser_table_has_the_promised_files(tmp_path: Path, where: str, partition_by: str, after: int) -> None:
    """The advice is followed: the table is written anew, partitioned as proposed."""
    sales = pa.table({
        "id": range(1500),
        "region": [("EU", "US", "APAC")[i % 3] for i in range(1500)],
        "day": [date(2025, 1, 1) + timedelta(days=i // 3 % 12) for i in range(1500)],
    })  # fmt: skip
    write_deltalake(tmp_path / "sales", sales, partition_by=["region", "day"])
    found = one(tmp_path / "sales", where, CODE)
    assert (found.numbers["partition_by"], found.numbers["files_after"]) == (partition_by, after)
    assert found.suggestion.startswith(f"partition by {partition_by} alone when")
    write_deltalake(tmp_path / "coarser", DeltaTable(tmp_path / "sales").to_pyarrow_table(), partition_by=[partition_by])
    assert lakeprune.explain(tmp_path / "coarser", where).kept_files <= after
    assert found_diagnoses(tmp_path / "coarser", where, CODE) == []


def test_the_demos_orders_are_not_small(tmp_path: Path) -> None:
    assert found_diagnoses(orders(tmp_path / "orders"), "customer = 500", CODE) == []
    assert one(users(tmp_path / "users"), "age > 0", CODE).numbers["files_after"] == 3
