"""Step 2 without Spark: which files are candidates, which of them are decided, and what the keys of a MERGE leave."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lakeprune.apps.statements.candidates import Decides, find_candidates, keys_of
from lakeprune.apps.statements.merge.keys import Key, KeyValues, key_tree, question_of
from lakeprune.apps.statements.model import Certainty
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column
from lakeprune.values.types import DataType
from tests.builders.reports import COLUMNS, USERS
from tests.builders.snapshot import File
from tests.builders.tables import ListedSnapshot, planner_over

UNCOUNTED = File("g", 100, None, 0, {"country": "DE"}, {"age": (50, 60, None)})
EMPTY = File("h", 100, 4, 4, {"country": "DE"}, {"age": (50, 60, 0)})
TABLE = ListedSnapshot(COLUMNS, (*USERS, UNCOUNTED, EMPTY), partition_by=["country"])


def candidates(where: str, decides: Decides) -> dict[str, Certainty]:
    planner = planner_over(TABLE)
    return {file.key: file.certainty for file in find_candidates(planner, planner.ask(where), decides)}


def test_a_fully_matched_file_is_decided_where_its_rows_are_counted() -> None:
    found = candidates("country = 'DE' AND age >= 40", Decides.COUNTED)
    assert found == {"e": Certainty.FULL, "g": Certainty.UNDECIDED}


def test_a_writer_that_takes_whole_files_takes_uncounted_and_empty_ones_too() -> None:
    found = candidates("country = 'DE'", Decides.WHOLE)
    assert found == dict.fromkeys("efgh", Certainty.FULL)


def test_a_merge_reads_every_candidate() -> None:
    assert candidates("country = 'DE'", Decides.NOTHING) == dict.fromkeys("efg", Certainty.UNDECIDED)


def test_keys_are_looked_up_path_by_path() -> None:
    assert keys_of(planner_over(TABLE), ["a", "b"]) == {"a": "a", "b": "b"}
    assert keys_of(planner_over(TABLE), []) == {}


def key(name: str, type_: DataType, values: Sequence[int | str], role: Role = Role.DATA, nulls: int = 0) -> KeyValues:
    column = Column((name,), (name,), type_, role)
    made = Key(f"t.{name} = s.{name}", column, f"s.{name}", is_null_safe=nulls > 0)
    items = tuple(sorted(values))
    return KeyValues(made, nulls, 0, 0, len(items), items[0], items[-1], items)


@pytest.mark.parametrize(
    ("keys", "on_target", "left"),
    [
        ([key("age", COLUMNS["age"], [19, 64])], [], "ad"),
        ([key("age", COLUMNS["age"], [70])], [], ""),
        ([key("country", COLUMNS["country"], ["IT", "FR"], Role.PARTITION)], [], "ab"),
        ([key("country", COLUMNS["country"], ["IT"], Role.PARTITION), key("age", COLUMNS["age"], [30])], [], "b"),
        ([key("age", COLUMNS["age"], [70], nulls=1)], [], "g"),
        ([], ["country = 'US'"], "cd"),
        ([key("age", COLUMNS["age"], [25])], ["country = 'US'", "my_function(country) = 1"], "d"),
        ([], ["no_such_column = 1", "country = 'US'"], "cd"),
        ([], ["no_such_column = 1"], "abcdefg"),
        ([], [], "abcdefg"),
    ],
)
def test_the_keys_and_conditions_of_a_merge_exclude_files(keys: list[KeyValues], on_target: list[str], left: str) -> None:
    planner = planner_over(TABLE)
    question = question_of(planner, "t.id = s.id", [key_tree(found) for found in keys], on_target)
    assert "".join(file.key for file in find_candidates(planner, question, Decides.NOTHING)) == left
    assert question.text == "t.id = s.id"
