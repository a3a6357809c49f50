"""MISSING_STATS, STATS_BEYOND_INDEXED_COLUMNS, PARTIAL_STATS: who lacks what, counted again from the log itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.builders.delta import Action, add, adds, metadata, protocol, statistics, users, write_log
from tests.report.diagnosis.asking import add_actions, found_diagnoses, one

CODES = ("MISSING_STATS", "STATS_BEYOND_INDEXED_COLUMNS", "PARTIAL_STATS")


def at(action: Action, modified: int) -> Action:
    return {"add": {**action["add"], "modificationTime": modified}}


def test_no_file_with_the_statistic_is_missing_stats(tmp_path: Path) -> None:
    files = [add(f"{i}", size=100 + i, stats=statistics(10, y=(0, 9, 0))) for i in range(3)]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"x": "long", "y": "long"}), *files]])
    found = one(table, "x > 5 AND y > 3", "MISSING_STATS")
    assert (found.clause, found.column) == ("x > 5", "x")
    assert found.numbers == {
        "candidate_files": 3,
        "missing_files": 3,
        "missing_bytes": sum(action["size_bytes"] for action in add_actions(table)),
        "missing_bytes_pct": 100.0,
    }
    assert found_diagnoses(table, "y > 3", "MISSING_STATS") == []


def test_null_tests_need_null_counts(tmp_path: Path) -> None:
    files = [add("a", stats=statistics(10, x=(0, 9, None)))]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"x": "long"}), *files]])
    assert "null count" in one(table, "x IS NULL", "MISSING_STATS").message
    assert found_diagnoses(table, "x > 5", "MISSING_STATS") == []


def test_files_that_partition_pruning_drops_need_no_statistics(tmp_path: Path) -> None:
    files = [add("a", partition={"p": "1"}, stats=statistics(10, x=(0, 9, 0))), add("b", partition={"p": "2"})]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"x": "long", "p": "integer"}, ["p"]), *files]])
    for code in CODES:
        assert found_diagnoses(table, "p = 1 AND x > 3", code) == []
    assert one(table, "p = 2 AND x > 3", "MISSING_STATS").numbers["candidate_files"] == 1


def test_some_files_without_are_told_with_bytes_and_times(tmp_path: Path) -> None:
    """Two writers: one of them leaves the statistics out. Oldest and newest are those of the log, not of the commit."""
    told_stats = statistics(10, x=(0, 9, 0))
    actions: list[Any] = [
        at(add("with", size=1000, stats=told_stats), 1_700_000_000_000),
        at(add("middle", size=500), 1_690_000_000_000),
        at(add("newest", size=300), 1_710_000_000_000),
        at(add("oldest", size=200, stats={"numRecords": 7}), 1_600_000_000_000),
    ]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"x": "long"})], actions[:2], actions[2:]])
    found = one(table, "x > 5", "PARTIAL_STATS")
    lacking = [action["add"] for action in actions if action["add"]["path"] != "with"]
    assert found.numbers["missing_files"] == len(lacking)
    assert found.numbers["missing_bytes"] == sum(action["size"] for action in lacking)
    assert found.numbers["missing_bytes_pct"] == 50.0
    assert (found.numbers["oldest_file"], found.numbers["newest_file"]) == ("oldest", "newest")
    assert found.numbers["oldest_time"] == "2020-09-13 12:26:40"
    assert found.numbers["newest_time"] == "2024-03-09 16:00:00"
    assert found_diagnoses(table, "x IS NOT NULL AND x > 100", "MISSING_STATS") == []


def test_times_come_from_the_checkpoint_too(tmp_path: Path) -> None:
    table = users(tmp_path / "users")
    name = add_actions(table)[0]["path"]
    whole = next(file for version in range(6) for file in adds(table, version) if file["path"] == name)
    bare = {key: value for key, value in whole.items() if key != "stats"}
    log = table / "_delta_log"
    lines = [json.dumps({"remove": {"path": name, "dataChange": True}}), json.dumps({"add": {**bare, "path": "bare"}})]
    (log / f"{6:020d}.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for checkpointed in (False, True):
        if checkpointed:
            DeltaTable(table).create_checkpoint()
        found = one(table, "age > 1000", "PARTIAL_STATS")
        assert found.numbers["oldest_file"] == found.numbers["newest_file"] == "bare"
        assert found.numbers["missing_files"] == 1


def test_a_time_that_is_no_number_is_left_out_and_nothing_fails(tmp_path: Path) -> None:
    odd: Any = {"add": {**add("odd", size=10)["add"], "modificationTime": "yesterday"}}
    actions = [odd, add("with", stats=statistics(1, x=(1, 1, 0)))]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"x": "long"}), *actions]])
    assert "oldest_time" not in one(table, "x = 1", "PARTIAL_STATS").numbers


@pytest.mark.parametrize("where", ["age > 40", "country = 'DE'", "age IS NULL"])
def test_complete_statistics_are_not_complained_about(tmp_path: Path, where: str) -> None:
    table = users(tmp_path / "users")
    for code in CODES:
        assert found_diagnoses(table, where, code) == []


def wide(path: Path, configuration: dict[str, str] | None = None) -> Path:
    """Forty columns in two real files; the writer collects statistics as its configuration says."""
    for start in (0, 100):
        data = pa.table({f"c{k}": pa.array([start + k, start + k + 5]) for k in range(1, 41)})
        settings: Any = configuration if start == 0 else None
        write_deltalake(path, data, mode="append", configuration=settings)
    return path


def test_a_column_beyond_the_first_32_is_told_with_its_position(tmp_path: Path) -> None:
    table = wide(tmp_path / "wide")
    assert "min.c40" not in add_actions(table)[0]
    found = one(table, "c40 > 1000", "STATS_BEYOND_INDEXED_COLUMNS")
    assert found.numbers["setting"] == "delta.dataSkippingNumIndexedCols = 32"
    assert (found.numbers["column_position"], found.numbers["missing_files"]) == (40, 2)
    assert found.rewrite is not None
    assert found.rewrite.endswith("SET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '40')")
    assert found_diagnoses(table, "c40 > 1000", "MISSING_STATS") == []
    assert found_diagnoses(table, "c32 > 1000", "STATS_BEYOND_INDEXED_COLUMNS") == []


def test_a_shorter_setting_of_the_table_is_the_one_told(tmp_path: Path) -> None:
    table = wide(tmp_path / "wide", {"delta.dataSkippingNumIndexedCols": "3"})
    found = one(table, "c4 > 1000", "STATS_BEYOND_INDEXED_COLUMNS")
    assert found.numbers["setting"] == "delta.dataSkippingNumIndexedCols = 3"
    assert found_diagnoses(table, "c3 > 1000", "STATS_BEYOND_INDEXED_COLUMNS") == []


def test_a_list_of_columns_is_extended(tmp_path: Path) -> None:
    table = wide(tmp_path / "wide", {"delta.dataSkippingStatsColumns": "c40,`c 2`"})
    assert found_diagnoses(table, "c40 > 1000", "STATS_BEYOND_INDEXED_COLUMNS") == []
    found = one(table, "c1 > 1000", "STATS_BEYOND_INDEXED_COLUMNS")
    assert found.numbers["setting"] == "delta.dataSkippingStatsColumns = c40,`c 2`"
    assert found.rewrite is not None
    assert found.rewrite.endswith("('delta.dataSkippingStatsColumns' = 'c40,`c 2`,c1')")


def test_every_column_counts_with_minus_one(tmp_path: Path) -> None:
    columns = {f"c{k}": "long" for k in range(40)}
    settings = {"delta.dataSkippingNumIndexedCols": "-1"}
    table = write_log(tmp_path / "t", [[protocol(), metadata(columns, (), settings), add("a", stats={"numRecords": 1})]])
    assert found_diagnoses(table, "c39 > 1", "STATS_BEYOND_INDEXED_COLUMNS") == []
    assert len(found_diagnoses(table, "c39 > 1", "MISSING_STATS")) == 1


def test_partition_columns_do_not_count_and_nested_leaves_do(tmp_path: Path) -> None:
    inner: list[Any] = [{"name": n, "type": "long", "nullable": True, "metadata": {}} for n in ("u", "v")]
    columns = {"p": "integer", "s": {"type": "struct", "fields": inner}, "x": "long"}
    for limit, beyond in (("2", 1), ("3", 0)):
        settings = {"delta.dataSkippingNumIndexedCols": limit}
        files = [add("a", partition={"p": "1"}, stats={"numRecords": 1})]
        table = write_log(tmp_path / limit, [[protocol(), metadata(columns, ["p"], settings), *files]])
        assert len(found_diagnoses(table, "x > 1", "STATS_BEYOND_INDEXED_COLUMNS")) == beyond
        assert found_diagnoses(table, "s.v > 1", "STATS_BEYOND_INDEXED_COLUMNS") == []
