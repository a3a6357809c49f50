"""The worked examples of the public page on filtering, and the request with a limit: by the exact list of files returned.

file         date         id        rows
jan.parquet  2021-01-15   0 .. 9    10
apr.parquet  2021-04-28   10 .. 19  10
may.parquet  2021-04-29   20 .. 29  10
june.parquet 2021-04-29   30 .. 39  10
nov.parquet  2021-11-02   40 .. 49  10
nulls.parquet 2022-02-01  NULL      10
blind.parquet 2022-02-02  (no statistics)
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from demo.delta_log import Action, add, metadata, protocol, statistics, write_commit
from tests.apps.sharing.server.served import DELTA, Served, serving

FILES = {
    "jan": ("2021-01-15", (0, 9, 0)),
    "apr": ("2021-04-28", (10, 19, 0)),
    "may": ("2021-04-29", (20, 29, 0)),
    "june": ("2021-04-29", (30, 39, 0)),
    "nov": ("2021-11-02", (40, 49, 0)),
    "nulls": ("2022-02-01", (None, None, 10)),
    "blind": ("2022-02-02", None),
}
EVERY = ["apr", "blind", "jan", "june", "may", "nov", "nulls"]


def leaf(op: str, column: str, value: str, kind: str) -> Action:
    children = [{"op": "column", "name": column, "valueType": kind}, {"op": "literal", "value": value, "valueType": kind}]
    return {"op": op, "children": children}


def both(op: str, *children: Action) -> Action:
    return {"op": op, "children": list(children)}


def quarter(first: str, last: str) -> Action:
    return both("and", leaf("greaterThanOrEqual", "date", first, "date"), leaf("lessThanOrEqual", "date", last, "date"))


ON_A_DATE = leaf("equal", "date", "2021-04-29", "date")
AND_ID = both("and", ON_A_DATE, leaf("lessThan", "id", "25", "int"))
NOT_NULL = both("not", both("isNull", {"op": "column", "name": "id", "valueType": "int"}))
Q1_OR_Q4 = both("or", quarter("2021-01-01", "2021-03-31"), quarter("2021-10-01", "2021-12-31"))


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root: Path = tmp_path_factory.mktemp("examples") / "sales"
    (root / "_delta_log").mkdir(parents=True)
    actions = [protocol(), metadata({"id": "integer", "date": "date"}, ["date"])]
    for name, (date, bounds) in FILES.items():
        stats = None if bounds is None else statistics(10, id=bounds)
        actions.append(add(f"date={date}/{name}.parquet", stats, partition={"date": date}))
    write_commit(root / "_delta_log", 0, actions)
    with serving({"sales": root}) as running:
        yield running


def names(served: Served, body: Action, **more: Any) -> list[str]:
    """The files of an answer, by what is inside of their URLs."""
    from base64 import urlsafe_b64decode

    answer = served.query("sales", body, **more)
    assert answer.status == 200
    found = []
    for file in answer.files:
        url = file["url"] if "url" in file else file["deltaSingleAction"]["add"]["path"]
        payload = url.partition("?")[0].rpartition("/")[2]
        path: str = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))[4]
        found.append(path.rpartition("/")[2].removesuffix(".parquet"))
    return sorted(found)


@pytest.mark.parametrize("headers", [{}, {"delta-sharing-capabilities": DELTA}], ids=["parquet", "delta"])
@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (ON_A_DATE, ["june", "may"]),
        (AND_ID, ["may"]),
        (NOT_NULL, ["apr", "blind", "jan", "june", "may", "nov"]),
        (Q1_OR_Q4, ["jan", "nov"]),
    ],
    ids=["a date", "a date and id < 25", "not isNull(id)", "Q1 or Q4"],
)
def test_a_worked_example(examples: Served, hint: Action, expected: list[str], headers: dict[str, str]) -> None:
    assert names(examples, {"jsonPredicateHints": json.dumps(hint)}, headers=headers) == expected


def test_a_limit_counts_rows_that_match_for_certain(examples: Served) -> None:
    hint = json.dumps(ON_A_DATE)
    assert names(examples, {"jsonPredicateHints": hint, "limitHint": 3}) == ["june"]
    assert names(examples, {"jsonPredicateHints": hint, "limitHint": 11}) == ["june", "may"]
    assert names(examples, {"limitHint": 3}) == ["jan"]
    assert names(examples, {"limitHint": 0}) == []
    assert names(examples, {"limitHint": 1000}) == EVERY


def test_a_limit_never_stops_at_files_that_only_may_match(examples: Served) -> None:
    # id = 25 lies somewhere in `may`, or in the file without statistics; its 10 rows may all be others.
    hint = json.dumps(leaf("equal", "id", "25", "int"))
    assert names(examples, {"jsonPredicateHints": hint, "limitHint": 1}) == ["blind", "may"]


def test_a_limit_is_not_applied_beside_a_hint_that_was_not_understood(examples: Served) -> None:
    assert names(examples, {"jsonPredicateHints": "{broken", "limitHint": 1}) == EVERY
    assert names(examples, {"predicateHints": ["what is this"], "limitHint": 1}) == EVERY
    assert names(examples, {"predicateHints": [7], "limitHint": 1}) == EVERY


@pytest.mark.parametrize("limit", [-1, 1.5, "3", 2**63, True, [], {}])
def test_a_limit_that_is_no_limit_is_ignored(examples: Served, limit: Any) -> None:
    assert names(examples, {"limitHint": limit}) == EVERY


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        (["date = '2021-04-29'"], ["june", "may"]),
        (["'2021-04-29' = date", "id < 25"], ["may"]),
        (["id <> 5"], ["apr", "blind", "jan", "june", "may", "nov"]),
        (["(CAST(partitionValues.date AS DATE) = DATE '2021-04-29')"], ["june", "may"]),
        (["(CAST(partitionValues.date AS STRING) IS NOT NULL)"], EVERY),
        (["id > 15", "nonsense ((", "id < 25"], ["apr", "blind", "may"]),
    ],
)
def test_sql_hints_are_anded_and_a_bad_one_is_skipped_alone(examples: Served, hints: list[str], expected: list[str]) -> None:
    assert names(examples, {"predicateHints": hints}) == expected


def test_the_header_says_what_became_of_the_hints(examples: Served) -> None:
    def header(body: Action) -> str:
        return examples.query("sales", body).headers["x-lakeprune-hints"]

    assert header({}) == "files=7/7"
    assert header({"jsonPredicateHints": json.dumps(AND_ID)}) == "json=applied;files=1/7"
    assert header({"jsonPredicateHints": "{", "predicateHints": ["id < 5"]}) == "json=ignored;sql=applied;files=2/7"
    limited = {"predicateHints": ["date = '2021-04-29'"], "limitHint": 3}
    assert header(limited) == "sql=applied;limit=3;files=1/7", "of may and june, one is enough"
    assert header({**limited, "limitHint": 11, "maxFiles": 1}) == "sql=applied;limit=11;files=2/7", "on all pages"
    assert header({**limited, "limitHint": 3, "maxFiles": 1}) == "sql=applied;limit=3;files=1/7"
    assert header({"limitHint": 3}) == "limit=3;files=1/7"
    assert header({"limitHint": 0}) == "limit=0;files=0/7"


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ({"predicateHints": "id < 5"}, "sql=ignored"),
        ({"predicateHints": [7]}, "sql=ignored"),
        ({"predicateHints": {"a": 1}}, "sql=ignored"),
        ({"jsonPredicateHints": {"op": "not"}}, "json=ignored"),
        ({"jsonPredicateHints": [1]}, "json=ignored"),
        ({"jsonPredicateHints": json.dumps(AND_ID), "predicateHints": [None]}, "json=applied;sql=ignored"),
        ({"jsonPredicateHints": 7, "predicateHints": ["date = '2021-04-29'"]}, "json=ignored;sql=applied"),
        ({"jsonPredicateHints": False, "predicateHints": 0}, "json=ignored;sql=ignored"),
        ({"predicateHints": ["date = '2021-04-29'", {}]}, "sql=partly"),
    ],
)
def test_hints_that_are_not_text_are_reported_under_their_own_name(examples: Served, body: Action, outcome: str) -> None:
    found = examples.query("sales", {**body, "limitHint": 1}).headers["x-lakeprune-hints"]
    assert found.rpartition(";files=")[0] == outcome, "and no limit is applied"


@pytest.mark.parametrize(("mode", "kept", "warns"), [("on", 2, False), ("warn", 2, True), ("off", 7, False)])
def test_sql_hints_can_be_warned_about_and_switched_off(examples: Served, mode: str, kept: int, *, warns: bool) -> None:
    location = Path(examples.service.setup.config.shares[0].tables[0].location)
    with serving({"sales": location}, sql_hints=mode) as other:
        answer = other.query("sales", {"predicateHints": ["date = '2021-04-29'"]})
        assert len(answer.files) == kept
        assert ("x-lakeprune-warning" in answer.headers) == warns
        # Switched off they are no hint that was understood, so a limit is not applied either.
        assert len(other.query("sales", {"predicateHints": ["date = '2021-04-29'"], "limitHint": 1}).files) == (
            7 if mode == "off" else 1
        )


@pytest.mark.parametrize(
    "body",
    [
        # The Spark connector: hints are always there, the refresh token is always asked for; x <> 5 as it arrives.
        b'{"predicateHints":[],"limitHint":3,"includeRefreshToken":true,"refreshToken":null}',
        b'{"predicateHints":[],"includeRefreshToken":true,"jsonPredicateHints":"{\\"op\\":\\"and\\",\\"children\\":[{\\"op\\":\\"not\\",\\"children\\":[{\\"op\\":\\"isNull\\",\\"children\\":[{\\"op\\":\\"column\\",\\"name\\":\\"id\\",\\"valueType\\":\\"int\\"}]}]},{\\"op\\":\\"not\\",\\"children\\":[{\\"op\\":\\"equal\\",\\"children\\":[{\\"op\\":\\"column\\",\\"name\\":\\"id\\",\\"valueType\\":\\"int\\"},{\\"op\\":\\"literal\\",\\"value\\":\\"5\\",\\"valueType\\":\\"int\\"}]}]}]}"}',
        # DuckDB: the word "string" as a SQL hint, a column labelled string beside a literal labelled int.
        b'{"predicateHints":["string"],"jsonPredicateHints":"{\\"op\\":\\"equal\\",\\"children\\":[{\\"op\\":\\"column\\",\\"name\\":\\"id\\",\\"valueType\\":\\"string\\"},{\\"op\\":\\"literal\\",\\"value\\":\\"25\\",\\"valueType\\":\\"int\\"}]}","responseFormat":"parquet"}',
    ],
    ids=["Spark with a limit", "Spark with x <> 5", "DuckDB"],
)
def test_requests_of_other_clients_are_answered(examples: Served, body: bytes) -> None:
    answer = examples.query("sales", body)
    assert answer.status == 200
    kept = {file["partitionValues"]["date"] for file in answer.files}
    if b"limitHint" in body:
        assert len(answer.files) == 1
    else:
        assert "2021-04-29" in kept  # where 25 is
    assert (answer.end is not None) == (b"includeRefreshToken" in body)


@pytest.mark.parametrize(
    "hint",
    [
        both("not", leaf("equal", "id", "5", "int")),
        both("not", leaf("greaterThan", "id", "5", "int")),
        {"op": "lessThan", "children": leaf("equal", "id", "0", "int")["children"][::-1]},
        both("isNull", {"op": "column", "name": "id", "valueType": "int"}),
        both("not", both("isNull", {"op": "column", "name": "other", "valueType": "int"})),
        leaf("equal", "id", "3", "string"),
        both("not", both("isNull", {"op": "column", "name": "DATE", "valueType": "date"})),
    ],
)
def test_what_the_reference_gets_wrong_loses_no_file(examples: Served, hint: Action) -> None:
    """`jan` holds 0 to 9 and may hold a match of every one of these, except for isNull(id), where `nulls` does."""
    kept = names(examples, {"jsonPredicateHints": json.dumps(hint)})
    is_null = hint["op"] == "isNull"
    assert ("nulls" if is_null else "jan") in kept
    assert "blind" in kept
