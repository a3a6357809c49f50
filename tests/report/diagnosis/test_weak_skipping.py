"""WEAK_DATA_SKIPPING: clauses that could prune and do not, per clause, with numbers counted by hand."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from demo.tables import orders
from tests.builders.delta import add, metadata, protocol, statistics, users, users_flat, write_log
from tests.builders.snapshot import File
from tests.programs.test_overlap import by_hand
from tests.report.diagnosis.asking import add_actions, found_diagnoses, one

CODE = "WEAK_DATA_SKIPPING"
LARGE = 1 << 30  # bytes: what OPTIMIZE makes of a file


def counted(table: Path, column: str) -> tuple[float, int, int]:
    """Depth, deepest and constant files of a column, from what deltalake reads."""
    files = [
        File(row["path"], rows=row["num_records"], stats={"x": (row[f"min.{column}"], row[f"max.{column}"], 0)})
        for row in add_actions(table)
    ]
    found = by_hand(files)
    return round(found.depth, 2), found.deepest, found.constant


def test_overlapping_files_are_told_with_their_depth(tmp_path: Path) -> None:
    ages = [(18, 29), (20, 35), (30, 55), (22, 50), (40, 65), (25, 45)]
    files = [add(f"{i}", size=LARGE, stats=statistics(10, age=(low, high, 0))) for i, (low, high) in enumerate(ages)]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"age": "long"}), *files]])
    found = one(table, "age = 30", CODE)
    depth, deepest, constant = counted(table, "age")
    assert found.column == "age"
    assert found.numbers == {
        "files": 6,
        "dropped_files": sum(not low <= 30 <= high for low, high in ages),
        "files_with_bounds": 6,
        "overlap_depth": depth,
        "deepest": deepest,
        "constant_files": constant,
        "partitions": 1,
        "bytes": 6 * LARGE,
    }
    assert found.rewrite == f"OPTIMIZE delta.`{table}` ZORDER BY (age)"


def test_ordering_is_not_proposed_where_a_partition_has_one_files_worth_of_data(tmp_path: Path) -> None:
    """Tried: OPTIMIZE ... ZORDER BY rewrote thirty files of thirty partitions, and the same thirty were read."""
    assert found_diagnoses(users_flat(tmp_path / "flat"), "age = 30", CODE) == []
    fields = {"x": "long", "p": "integer"}
    for per_partition, expected in ((1, 0), (6, 1)):
        files = [
            add(f"{p}-{i}", size=LARGE, partition={"p": f"{p}"}, stats=statistics(10, x=(i, 90 + i, 0)))
            for p in range(6)
            for i in range(per_partition)
        ]
        table = write_log(tmp_path / f"{per_partition}", [[protocol(), metadata(fields, ["p"]), *files]])
        assert len(found_diagnoses(table, "x = 50", CODE)) == expected


def test_ordering_is_not_proposed_by_a_column_of_two_values(tmp_path: Path) -> None:
    files = [add(f"{i}", size=LARGE, stats=statistics(10, status=("DONE", "VOID", 0))) for i in range(8)]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"status": "string"}), *files]])
    assert found_diagnoses(table, "status = 'OPEN'", CODE) == []


def test_the_partitions_that_need_it_are_named(tmp_path: Path) -> None:
    """The demo's orders: EU is sorted by date, US is not, and that is the story of its flagship predicate."""
    table = orders(tmp_path / "orders")
    found = one(table, "region IN ('EU', 'US') AND ordered_on >= '2024-05-20' AND ordered_on < '2024-07-15'", CODE)
    assert found.rewrite == f"OPTIMIZE delta.`{table}` WHERE region = 'US' ZORDER BY (ordered_on)"
    assert (found.numbers["partitions"], found.numbers["files_with_bounds"]) == (1, 60)


def test_a_clause_that_excludes_values_is_not_weak(tmp_path: Path) -> None:
    files = [add(f"{i}", size=LARGE, stats=statistics(10, x=(i, 90 + i, 0))) for i in range(6)]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"x": "long"}), *files]])
    assert found_diagnoses(table, "x != 50", CODE) == []
    assert len(found_diagnoses(table, "x = 50", CODE)) == 1


def test_a_clause_is_told_also_when_another_prunes_well(tmp_path: Path) -> None:
    """`day` leaves two files of a hundred; `user` is hopeless all the same."""
    shuffle = random.Random(1)
    files = []
    for i in range(100):
        low = shuffle.randrange(100)
        files.append(
            add(f"{i}", size=LARGE, stats=statistics(10, day=(i // 2, i // 2, 0), user=(low, 900 + shuffle.randrange(100), 0)))
        )
    table = write_log(tmp_path / "t", [[protocol(), metadata({"day": "long", "user": "long"}), *files]])
    found = one(table, "day = 7 AND user = 500", CODE)
    assert found.clause == "user = 500"
    assert (found.numbers["overlap_depth"], found.numbers["deepest"], found.numbers["constant_files"]) == counted(table, "user")
    assert found.numbers["dropped_files"] == 0


@pytest.mark.parametrize("where", ["age > 40", "age BETWEEN 18 AND 30", "country = 'DE' AND age > 40"])
def test_ordered_files_are_not_weak(tmp_path: Path, where: str) -> None:
    files = [add(f"{i}", size=LARGE, stats=statistics(10, age=(10 * i, 10 * i + 9, 0))) for i in range(10)]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"age": "long", "country": "string"}), *files]])
    assert found_diagnoses(table, where, CODE) == []


def test_asking_for_much_of_an_ordered_column_is_not_weak(tmp_path: Path) -> None:
    """Nulls keep the files from being called full, so ranges overlap with the clause; yet no order would drop more."""
    files = [add(f"{i}", size=LARGE, stats=statistics(10, age=(10 * i, 10 * i + 9, 1))) for i in range(10)]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"age": "long"}), *files]])
    assert found_diagnoses(table, "age > 5", CODE) == []


def test_depth_is_that_of_the_files_partition_pruning_leaves(tmp_path: Path) -> None:
    """Each partition is ordered; only across partitions do ranges overlap, which no order within them would change."""
    files = [
        add(f"{p}{i}", size=LARGE, partition={"p": f"{p}"}, stats=statistics(10, x=(10 * i, 10 * i + 9, 0)))
        for p in range(20)
        for i in range(3)
    ]
    table = write_log(tmp_path / "t", [[protocol(), metadata({"x": "long", "p": "integer"}, ["p"]), *files]])
    assert found_diagnoses(table, "p = 3 AND x >= 5 AND x <= 25", CODE) == []
    assert found_diagnoses(table, "x >= 5 AND x <= 25", CODE) == []


def test_a_partition_clause_is_never_weak(tmp_path: Path) -> None:
    assert found_diagnoses(users(tmp_path / "users"), "country IN ('DE', 'IT', 'US')", CODE) == []


def test_a_clustered_table_is_clustered_anew(tmp_path: Path) -> None:
    domain = {"domain": "delta.clustering", "configuration": '{"clusteringColumns":[["y"]]}', "removed": False}
    files = [add(f"{i}", size=LARGE, stats=statistics(10, x=(i, 9 + i, 0))) for i in range(6)]
    actions = [
        protocol(1, 7, writerFeatures=["clustering", "domainMetadata"]),
        metadata({"x": "long", "y": "long"}),
        {"domainMetadata": domain},
    ]
    table = write_log(tmp_path / "t", [[*actions, *files]])
    assert one(table, "x = 5", CODE).rewrite == f"ALTER TABLE delta.`{table}` CLUSTER BY (x)"
