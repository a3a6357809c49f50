"""WEAK_DATA_SKIPPING: clauses that could prune and do not, per clause, with numbers counted by hand."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.builders.delta import add, metadata, protocol, statistics, users, users_flat, write_log
from tests.builders.snapshot import File
from tests.programs.test_overlap import by_hand
from tests.report.diagnosis.asking import add_actions, one, told

CODE = "WEAK_DATA_SKIPPING"


def counted(table: Path, column: str) -> tuple[float, int, int]:
    """Depth, deepest and constant files of a column, from what deltalake reads."""
    files = [
        File(row["path"], rows=row["num_records"], stats={"x": (row[f"min.{column}"], row[f"max.{column}"], 0)})
        for row in add_actions(table)
    ]
    found = by_hand(files)
    return round(found.depth, 2), found.deepest, found.constant


def test_overlapping_files_are_told_with_their_depth(tmp_path: Path) -> None:
    table = users_flat(tmp_path / "flat")
    found = one(table, "age = 30", CODE)
    depth, deepest, constant = counted(table, "age")
    dropped = sum(not row["min.age"] <= 30 <= row["max.age"] for row in add_actions(table))
    assert found.column == "age"
    assert found.numbers == {
        "files": 6,
        "dropped_files": dropped,
        "files_with_bounds": 6,
        "overlap_depth": depth,
        "deepest": deepest,
        "constant_files": constant,
    }
    assert found.rewrite == f"OPTIMIZE delta.`{table}` ZORDER BY (age)"


def test_a_clause_is_told_also_when_another_prunes_well(tmp_path: Path) -> None:
    """`day` leaves two files of a hundred; `user` is hopeless all the same."""
    shuffle = random.Random(1)
    files = []
    for i in range(100):
        low = shuffle.randrange(100)
        files.append(add(f"{i}", stats=statistics(10, day=(i // 2, i // 2, 0), user=(low, 900 + shuffle.randrange(100), 0))))
    table = write_log(tmp_path / "t", [[protocol(), metadata({"day": "long", "user": "long"}), *files]])
    found = one(table, "day = 7 AND user = 500", CODE)
    assert found.clause == "user = 500"
    assert (found.numbers["overlap_depth"], found.numbers["deepest"], found.numbers["constant_files"]) == counted(table, "user")
    assert found.numbers["dropped_files"] == 0


@pytest.mark.parametrize("where", ["age > 40", "age BETWEEN 18 AND 30", "country = 'DE' AND age > 40"])
def test_ordered_files_are_not_weak(tmp_path: Path, where: str) -> None:
    files = [add(f"{i}", stats=statistics(10, age=(10 * i, 10 * i + 9, 0))) for i in range(10)]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"age": "long", "country": "string"}), *files]])
    assert told(table, where, CODE) == []


def test_asking_for_much_of_an_ordered_column_is_not_weak(tmp_path: Path) -> None:
    """Nulls keep the files from being called full, so ranges overlap with the clause; yet no order would drop more."""
    files = [add(f"{i}", stats=statistics(10, age=(10 * i, 10 * i + 9, 1))) for i in range(10)]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"age": "long"}), *files]])
    assert told(table, "age > 5", CODE) == []


def test_depth_is_that_of_the_files_partition_pruning_leaves(tmp_path: Path) -> None:
    """Each partition is ordered; only across partitions do ranges overlap."""
    files = [
        add(f"{p}{i}", partition={"p": f"{p}"}, stats=statistics(10, x=(10 * i, 10 * i + 9, 0)))
        for p in range(20)
        for i in range(3)
    ]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"x": "long", "p": "integer"}, ["p"]), *files]])
    assert told(table, "p = 3 AND x >= 5 AND x <= 25", CODE) == []
    assert one(table, "x >= 5 AND x <= 25", CODE).numbers["overlap_depth"] == 20


def test_a_partition_clause_is_never_weak(tmp_path: Path) -> None:
    assert told(users(tmp_path / "users"), "country IN ('DE', 'IT', 'US')", CODE) == []


def test_a_clustered_table_is_clustered_anew(tmp_path: Path) -> None:
    domain = {"domain": "delta.clustering", "configuration": '{"clusteringColumns":[["y"]]}', "removed": False}
    files = [add(f"{i}", stats=statistics(10, x=(0, 9, 0))) for i in range(3)]
    actions = [
        protocol(1, 7, writerFeatures=["clustering", "domainMetadata"]),
        metadata({"x": "long", "y": "long"}),
        {"domainMetadata": domain},
    ]
    table = write_log(tmp_path / "t", [[*actions, *files]])
    assert one(table, "x = 5", CODE).rewrite == f"ALTER TABLE delta.`{table}` CLUSTER BY (x)"
