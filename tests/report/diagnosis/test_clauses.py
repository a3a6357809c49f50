"""What a predicate says: CONTRADICTION, ALWAYS_TRUE, NO_PARTITION_FILTER, UNSPLITTABLE_OR."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb
import pytest
from deltalake import DeltaTable

from lakeprune.report.model import Severity
from tests.builders.delta import add, metadata, protocol, statistics, users, write_log
from tests.report.diagnosis.asking import add_actions, explained, found_diagnoses, kept, one


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return users(tmp_path_factory.mktemp("clauses") / "users")


def test_a_clause_that_no_row_satisfies_is_a_contradiction(table: Path) -> None:
    found = one(table, "age > 5 AND age < 3 AND country = 'DE'", "CONTRADICTION")
    assert found.clause == "age > 5 AND age < 3"
    assert found.column == "age"
    assert found.numbers == {"files": len(add_actions(table)), "kept_files": 0}


@pytest.mark.parametrize("where", ["age > 3 AND age < 5", "age > 1000", "country = 'XX'"])
def test_a_clause_that_could_match_is_no_contradiction(table: Path, where: str) -> None:
    assert found_diagnoses(table, where, "CONTRADICTION") == []


def test_a_comparison_with_null_is_a_contradiction(table: Path) -> None:
    assert one(table, "age = NULL", "CONTRADICTION").severity is Severity.WARNING


def test_a_constant_true_clause_is_told(table: Path) -> None:
    found = one(table, "1 = 1 AND age > 50", "ALWAYS_TRUE")
    assert found.clause == "1 = 1"
    assert found.numbers == {"files": 6, "kept_files": kept(table, "age > 50")}


def test_a_clause_that_every_file_satisfies_is_told(table: Path) -> None:
    files = add_actions(table)
    assert all(file["min.age"] >= 18 and file["null_count.age"] == 0 for file in files)
    assert one(table, "age >= 18 AND country = 'DE'", "ALWAYS_TRUE").column == "age"
    assert found_diagnoses(table, "age >= 19 AND country = 'DE'", "ALWAYS_TRUE") == []


def test_nulls_make_a_clause_not_always_true(tmp_path: Path) -> None:
    for nulls, expected in ((0, 1), (1, 0)):
        actions = [protocol(), metadata({"x": "long"}), add("a", stats=statistics(10, x=(5, 9, nulls)))]
        log = write_log(tmp_path / str(nulls), [actions])
        assert len(found_diagnoses(log, "x > 1", "ALWAYS_TRUE")) == expected


def test_an_unfiltered_partition_column_is_told_with_what_one_value_keeps(table: Path) -> None:
    where = "age > 36"
    surviving = [file for file in add_actions(table) if file["max.age"] > 36]
    spread = Counter(file["partition.country"] for file in surviving)
    found = one(table, where, "NO_PARTITION_FILTER")
    assert (found.column, found.clause, found.severity) == ("country", None, Severity.INFO)
    assert found.numbers["kept_files"] == len(surviving)
    assert found.numbers["values"] == len(spread)
    assert found.numbers["most_files"] == max(spread.values())
    assert found.numbers["fewest_files"] == min(spread.values())
    assert found.numbers["mean_files"] == round(len(surviving) / len(spread), 2)
    assert found.rewrite is not None
    assert found.numbers["example_files"] == kept(table, f"{where} AND {found.rewrite}") == max(spread.values())


@pytest.mark.parametrize("where", ["country = 'DE'", "lower(country) = 'de'", "age > 36 AND country != 'XX'"])
def test_a_filtered_partition_column_is_not_named(table: Path, where: str) -> None:
    assert found_diagnoses(table, where, "NO_PARTITION_FILTER") == []


def test_a_partition_column_that_tells_no_kept_file_apart_is_not_named(table: Path) -> None:
    assert kept(table, "age > 60") == 1
    assert found_diagnoses(table, "age > 60", "NO_PARTITION_FILTER") == []


def by_day(path: Path, second: tuple[int, int]) -> Path:
    """Two files per day of ten days, with hours of their day; every second file has this range of hours, from midnight."""
    files = [
        add(f"{day}-{i}", partition={"day": f"{day}"}, stats=statistics(9, hour=(24 * day + low, 24 * day + high, 0)))
        for day in range(10)
        for i, (low, high) in enumerate([(0, 23), second])
    ]
    return write_log(path, [[protocol(), metadata({"day": "integer", "hour": "long"}, ["day"]), *files]])


def test_a_partition_column_whose_values_another_clause_tells_apart_is_not_named(tmp_path: Path) -> None:
    ordered, mixed = by_day(tmp_path / "ordered", (0, 23)), by_day(tmp_path / "mixed", (0, 99))
    assert kept(ordered, "hour >= 96") == 12, "six days of ten, whole"
    assert found_diagnoses(ordered, "hour >= 96", "NO_PARTITION_FILTER") == []
    assert found_diagnoses(ordered, "hour >= 96 AND hour % 2 = 0", "NO_PARTITION_FILTER") == []
    assert one(mixed, "hour >= 96", "NO_PARTITION_FILTER").column == "day", "of some days half of the files"
    assert one(ordered, "hour >= 0", "NO_PARTITION_FILTER").column == "day"


def test_the_example_names_null_partitions_too(tmp_path: Path) -> None:
    files = [add(f"{i}", partition={"p": None if i else "1"}, stats=statistics(1, x=(1, 1, 0))) for i in range(3)]
    log = write_log(tmp_path / "t", [[protocol(), metadata({"p": "integer", "x": "long"}, ["p"]), *files]])
    found = one(log, "x = 1", "NO_PARTITION_FILTER")
    assert found.rewrite == "p IS NULL"
    assert found.numbers["example_files"] == 2


def test_without_an_example_none_is_announced(tmp_path: Path) -> None:
    files = [add(f"{i}", partition={"p": f"2024-05-0{i + 1} 00:00:00"}, stats=statistics(1, x=(1, 1, 0))) for i in range(3)]
    log = write_log(tmp_path / "t", [[protocol(), metadata({"p": "timestamp", "x": "long"}, ["p"]), *files]])
    found = one(log, "x = 1", "NO_PARTITION_FILTER")
    assert found.rewrite is None
    assert (found.suggestion or "").endswith("add a condition on it")


def test_each_branch_of_a_mixed_or_is_counted(table: Path) -> None:
    where = "country = 'DE' OR age > 60"
    files = add_actions(table)
    found = one(table, where, "UNSPLITTABLE_OR")
    assert found.clause == where
    assert found.numbers["branch_1"] == "country = 'DE'"
    assert found.numbers["branch_1_files"] == sum(file["partition.country"] == "DE" for file in files)
    assert found.numbers["branch_2_files"] == sum(file["max.age"] > 60 for file in files)
    assert found.severity is Severity.INFO
    assert one(table, "country = 'DE' OR age > 0", "UNSPLITTABLE_OR").severity is Severity.WARNING


@pytest.mark.parametrize("where", ["country = 'DE' AND age > 60", "age < 20 OR age > 60", "country = 'DE' OR country = 'IT'"])
def test_an_or_of_one_kind_is_splittable(table: Path, where: str) -> None:
    assert found_diagnoses(table, where, "UNSPLITTABLE_OR") == []


@pytest.mark.parametrize(
    "where",
    [
        "country = 'DE' OR age > 40",
        "(country = 'IT' OR age < 25 OR name = 'user-44') AND age != 22",
        "(country = 'DE' OR age > 60) AND (age = 31 OR (age < 50) IS NOT TRUE)",
    ],
)
def test_the_branches_apart_give_every_row_once(table: Path, where: str) -> None:
    rewrite = one(table, where, "UNSPLITTABLE_OR").rewrite
    assert rewrite is not None
    people = DeltaTable(table).to_pyarrow_table()  # read by the statements below
    source = f"delta.`{table}`"
    assert source in rewrite
    apart = duckdb.execute(rewrite.replace(source, "people")).fetchall()
    together = duckdb.execute(f"SELECT * FROM people WHERE {where}").fetchall()
    assert sorted(apart) == sorted(together)
    assert 0 < len(together) < people.num_rows


def test_nothing_to_say_is_said_in_one_line(table: Path) -> None:
    report = explained(table, "country = 'DE' AND age > 40")
    assert report.diagnoses == ()
    assert "Why: no findings" in report.to_text()
    assert report.to_dict()["explain"] == []
