"""Hints as a question: which files are kept, which are proven, what is said of each hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeprune.planning.planner import Planner
from tests.apps.sharing.hinting import (
    Asked,
    Hint,
    column,
    compared,
    days_table,
    is_null,
    joined,
    literal,
    negated,
    planner_of,
)


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return planner_of(days_table(tmp_path_factory.mktemp("days")))


def days(asked: Asked) -> list[int]:
    return [int(path[8:10]) - 28 for path in (each[2:] for each in asked.paths)]


ALL = [0, 1, 2]
SQL: list[tuple[list[str], list[int]]] = [
    ([], ALL),
    (["d = '2021-04-29'"], [1]),
    (["'2021-04-29' < d"], [2]),
    (["d = '2021-04-29'", "id < 25"], [1]),
    (["id < 25", "id >= 20"], [2]),
    (["d <> '2021-04-29'"], [0, 2]),
    (["d IS NULL"], []),
    (["s IS NOT NULL"], ALL),
    (["`ID` BETWEEN 8 AND 12"], [0, 1]),
    (["id IN (1, 2, 25)"], [0, 2]),
    (["NOT (id = 3 OR long > 15)"], [0, 1]),
    (["(CAST(partitionValues.d AS STRING) IS NOT NULL)"], ALL),
    (["(CAST(CAST(partitionValues.d AS STRING) AS DATE) = DATE '2021-04-29')"], [1]),
    (["(YEAR(CAST(partitionValues.d AS DATE)) = 2022)"], []),
    (["day >= DATE '2021-04-30'"], [2]),
    (["ts <= TIMESTAMP '2021-04-28 00:00:03Z'"], [0]),
    (["ts < '2021-04-26'"], []),
    (["NOT (ts <=> NULL)"], ALL),
    (["ts <=> NULL"], []),
    (['"string"'], ALL),  # what DuckDB's extension sends beside a JSON hint
    (['d = "2021-04-29"'], [1]),
]


@pytest.mark.parametrize(("hints", "kept"), SQL)
def test_sql_hints_keep_exactly_these_files(planner: Planner, hints: list[str], kept: list[int]) -> None:
    assert days(Asked(planner, hints)) == kept


JSON: list[tuple[Hint | str, list[int]]] = [
    (compared("equal", "d", "2021-04-29", "string"), [1]),
    (compared("greaterThan", "ID", "19", "int"), [2]),
    (compared("greaterThan", "ID", 19, "INT"), [2]),
    (compared("greaterThan", "long", "19", "long"), [2]),
    (compared("greaterThan", "long", "19", "int"), [2]),  # no value of the file leaves the smaller type
    (joined("lessThan", literal("19", "int"), column("id", "int")), [2]),
    (compared("lessThan", "x", "10", "double"), [0]),
    (compared("equal", "day", "2021-04-29", "date"), [1]),
    (compared("equal", "day", "2021-04-29", "string"), [1]),
    (compared("equal", "d", "2021-04-29", "date"), [1]),  # text of a partition, cast
    (compared("equal", "id", "4", "string"), [0]),
    (compared("lessThanOrEqual", "ts", "2021-04-28T00:00:03Z", "timestamp"), [0]),
    (negated(compared("equal", "id", "5", "int")), ALL),
    (negated(is_null("id", "int")), ALL),
    (joined("and", compared("equal", "d", "2021-04-29", "string"), compared("lessThan", "id", "25", "int")), [1]),
    (joined("or", compared("equal", "d", "2021-04-28", "string"), compared("greaterThan", "id", "19", "int")), [0, 2]),
    (joined("and", compared("equal", "nosuch", "1", "int"), compared("greaterThan", "id", "19", "int")), [2]),
    (joined("or", compared("equal", "nosuch", "1", "int"), compared("greaterThan", "id", "19", "int")), ALL),
    (compared("=", "id", "5", "integer"), [0]),
    (compared("!=", "d", "2021-04-29", "string"), [0, 2]),
    (literal("false", "bool"), []),
    (joined("isNull", literal("null", "int")), ALL),
    (compared("equal", "id", "null", "int"), []),
]


@pytest.mark.parametrize(("hint", "kept"), JSON)
def test_json_hints_keep_exactly_these_files(planner: Planner, hint: Hint, kept: list[int]) -> None:
    assert days(Asked(planner, hint=hint)) == kept


NOT_UNDERSTOOD: list[tuple[Hint | str, str]] = [
    ("{broken", "not JSON"),
    ("", "not JSON"),
    ("NaN", "not JSON"),
    ("[]", "list of predicates"),
    ('{"jsonPredicateHints": {}}', "an op"),
    ("3", "an op"),
    ("[" * 100_000, "64 operations deep"),
    ('{"op": "not", "children": [' * 65 + "1" + "]}" * 65, "64 deep"),
    (joined("or", *[compared("equal", "id", "1", "int")] * 1_800), "5,000 nodes"),
    (" " * 300_000, "256 KiB"),
    (joined("in", column("id", "int"), literal("1", "int")), "'in' is not an operation"),
    (joined("equal", column("id", "int")), "2 children"),
    (compared("equal", "nosuch", "1", "int"), "does not exist"),
    (compared("equal", "id", "1.5", "int"), "not a value"),
    (compared("equal", "id", "9" * 1_000_000, "int"), "256 KiB"),
    (compared("equal", "id", "9" * 10_000, "int"), "not a value"),
    (compared("equal", "s", "null", "string"), "NULL or a text"),
    (compared("equal", "s", "\ud800", "string"), "not a value"),
    (compared("equal", "ts", "2021-04-28 00:00:03", "timestamp"), "not a value"),
    (compared("lessThan", "id", "4", "string"), "of type integer"),
    (compared("equal", "d", "2021-04-29", "decimal"), "valueType"),
    (joined("equal", column("id", "string"), literal("3", "int")), "one valueType"),  # DuckDB's labels
]


@pytest.mark.parametrize(("hint", "reason"), NOT_UNDERSTOOD)
def test_what_is_not_understood_keeps_every_file_and_says_why(planner: Planner, hint: Hint | str, reason: str) -> None:
    asked = Asked(planner, hint=hint)
    assert days(asked) == ALL
    assert asked.full == []
    assert not asked.hinted.is_whole
    (outcome,) = asked.hinted.outcomes
    assert not outcome.is_applied
    assert reason in (outcome.reason or "")


SQL_NOT_UNDERSTOOD = [
    ("id + 1 = 3", "engines differ"),
    ("id = nosuch", "does not exist"),
    ("nosuch = 3", "does not exist"),
    ("s = 'a\\b'", "backslash"),
    ("s = 'it''s'", "quote beside a quote"),
    ('"id" = 5', "double quotes"),
    ("\"nosuch\" = 'a'", "double quotes"),
    ("d = 5", "text"),
    ("day < current_date()", "clock"),
    ("CAST(ts AS DATE) = DATE '2021-04-28'", "cast"),
    ("partitionValues.id = 3", "not a partition column"),
    ("id = ", "does not parse"),
    ("id = 3 ORDER BY id", "does not parse"),
    ("(" * 4000, "deep"),
    ("x" * 9000, "8 KiB"),
    ("s = '\ud800'", "Unicode"),
    ("", "parse"),
    ("id IN (SELECT 1)", "subquery"),
]


@pytest.mark.parametrize(("hint", "reason"), SQL_NOT_UNDERSTOOD)
def test_a_sql_hint_that_is_not_understood_is_ignored_alone(planner: Planner, hint: str, reason: str) -> None:
    asked = Asked(planner, [hint, "id > 19"])
    assert days(asked) == [2]
    assert asked.full == []
    assert not asked.hinted.is_whole
    assert [outcome.is_applied for outcome in asked.hinted.outcomes] == [False, True]
    assert reason in (asked.reasons[0] or "")


def test_only_proven_files_are_full(planner: Planner) -> None:
    assert [path[2:12] for path in Asked(planner, ["d = '2021-04-29'"]).full] == ["2021-04-29"]
    assert Asked(planner, ["id = 5"]).full == []
    assert len(Asked(planner).full) == 3
    # The literal may have lost up to a millisecond, so a bound inside it proves nothing.
    assert Asked(planner, ["ts >= TIMESTAMP '2021-04-28T00:00:00.000500Z'"]).full != []
    assert [path[2:12] for path in Asked(planner, ["ts >= TIMESTAMP '2021-04-28T00:00:00.000500Z'"]).full] == [
        "2021-04-29",
        "2021-04-30",
    ]


def test_a_timestamp_without_an_offset_is_read_in_every_zone(planner: Planner) -> None:
    assert days(Asked(planner, ["ts < TIMESTAMP '2021-04-28 17:00:00'"])) == [0, 1]
    assert days(Asked(planner, ["ts < TIMESTAMP '2021-04-28 17:00:00Z'"])) == [0]


def test_hints_of_both_kinds_are_anded_and_without_hints_everything_is_asked(planner: Planner) -> None:
    asked = Asked(planner, ["id > 5"], compared("lessThan", "id", "10", "int"))
    assert days(asked) == [0]
    assert [outcome.kind for outcome in asked.hinted.outcomes] == ["sql", "json"]
    assert asked.hinted.is_whole
    assert Asked(planner).hinted.outcomes == ()
    assert Asked(planner).hinted.is_whole


def test_entries_beyond_the_limit_are_ignored(planner: Planner) -> None:
    asked = Asked(planner, ["id > 19"] * 100 + ["id < 0"])
    assert days(asked) == [2]
    assert "at most 100" in (asked.reasons[-1] or "")


def test_sql_hints_that_are_long_together_are_ignored_from_there_on(planner: Planner) -> None:
    entries = [f"id > 19 AND s <> '{number}{'x' * 8000}'" for number in range(6)]
    asked = Asked(planner, entries)
    assert days(asked) == [2]
    assert [outcome.is_applied for outcome in asked.hinted.outcomes] == [True] * 4 + [False] * 2
    assert "32 KiB together" in (asked.reasons[-1] or "")
    assert not asked.hinted.is_whole


def test_outcomes_hold_nothing_that_ends_a_line(planner: Planner) -> None:
    asked = Asked(planner, ["id = 1\r\nx-evil: 1", "`a\nb` = " + "x" * 5000], '{"op": "a\\r\\nb"}')
    for outcome in asked.hinted.outcomes:
        assert outcome.text.isprintable()
        assert outcome.reason is None or outcome.reason.isprintable()
        assert len(outcome.text) < 400


def test_a_column_that_is_called_partition_values_is_itself(tmp_path: Path) -> None:
    import pyarrow as pa

    from tests.builders.delta import write_table

    rows = pa.table({"partitionValues": pa.array([{"d": 1}]), "d": ["x"]})
    table = planner_of(write_table(tmp_path / "t", [rows], partition_by=["d"]))
    assert Asked(table, ["partitionValues.d = 2"]).paths == []
    assert len(Asked(table, ["partitionValues.d = 1"]).paths) == 1
