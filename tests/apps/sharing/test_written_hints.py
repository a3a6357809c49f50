"""A predicate as hints: what is written, what is named, and that every row of the predicate is a row of the hint."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from lakeprune.apps.sharing.hints.written import Hints, hints_of, schema_of
from lakeprune.errors import PredicateError, UsageError
from lakeprune.planning.session import profile_of
from tests.apps.sharing.hinting import Asked, Hint, column, compared, joined, negated, planner_of
from tests.soundness.sharing.hints import random_sql
from tests.soundness.sharing.tables import TYPES, random_table

SCHEMA = pa.schema(
    {
        "id": pa.int32(),
        "region": pa.string(),
        "day": pa.date32(),
        "ts": pa.timestamp("us", "UTC"),
        "x": pa.float64(),
        "f": pa.float32(),
        "price": pa.decimal128(10, 2),
        "flag": pa.bool_(),
        "at": pa.struct({"city": pa.string()}),
    }
)


def written(where: str, schema: Any = SCHEMA) -> Hints:
    return hints_of(where, schema_of(schema), profile_of()[0])


def node(where: str) -> Any:
    text = written(where).json
    return None if text is None else json.loads(text)


def days(low: str, high: str) -> Hint:
    return joined("and", compared("greaterThanOrEqual", "day", low, "date"), compared("lessThanOrEqual", "day", high, "date"))


WRITTEN = [
    ("id < 25", compared("lessThan", "id", "25", "int") | {"op": "lessThanOrEqual"}),
    ("region = 'EU'", compared("equal", "region", "EU", "string")),
    ("region <> 'EU'", negated(compared("equal", "region", "EU", "string"))),
    ("region IS NULL", joined("isNull", column("region", "string"))),
    ("region IS NOT NULL", negated(joined("isNull", column("region", "string")))),
    ("flag", compared("equal", "flag", "true", "bool")),
    (
        "region IN ('EU', 'US')",
        joined("or", compared("equal", "region", "EU", "string"), compared("equal", "region", "US", "string")),
    ),
    (
        "day BETWEEN '2021-01-01' AND '2021-03-31'",
        days("2021-01-01", "2021-03-31"),
    ),
    (
        "year(day) = 2021",
        days("2021-01-01", "2021-12-31"),
    ),
    ("ts > '2021-01-01 00:00:00.0005'", compared("greaterThanOrEqual", "ts", "2021-01-01T00:00:00.000Z", "timestamp")),
    (
        "region LIKE 'E%'",
        joined("and", compared("greaterThanOrEqual", "region", "E", "string"), compared("lessThan", "region", "F", "string")),
    ),
    ("1 = 0", {"op": "literal", "value": "false", "valueType": "bool"}),
    ("region = 'EU' OR price > 5", None),
]  # fmt: skip


@pytest.mark.parametrize(("where", "hint"), WRITTEN)
def test_what_is_written(where: str, hint: Any) -> None:
    if where == "id < 25":
        hint["children"][1]["value"] = "24"
    assert node(where) == hint


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("price > 5", "no values of type decimal(10,2)"),
        ("region LIKE '%x%'", "wildcard"),
        ("at.city = 'Bonn'", "nested fields"),
        ("id % 7 = 3", "%"),
        ("rlike(region, 'x')", ""),
    ],
)
def test_what_has_no_form_is_named_and_the_rest_is_written(where: str, reason: str) -> None:
    found = written(f"{where} AND region = 'EU'")
    assert any(reason in part.reason for part in found.omitted), found.omitted
    assert not found.is_exact
    assert "EU" in (found.json or "")


def test_sql_has_an_entry_for_each_conjunct_that_it_can_say() -> None:
    found = written("region = 'EU' AND id <> 5 AND x >= 1.5 AND day = '2021-04-29' AND region <> 'it\\'s'")
    assert set(found.sql) == {"id <> 5", "x >= 1.5", "day = DATE '2021-04-29'", "region = 'EU'"}
    assert found.is_exact


def test_a_float_bound_moves_outwards_to_a_float() -> None:
    found = node("f <= 0.1D")
    value = float(found["children"][1]["value"])
    assert value >= 0.1
    assert pa.scalar(value, pa.float32()).as_py() == value
    assert not written("f <= 0.1D").is_exact


def test_an_error_is_that_of_explain() -> None:
    with pytest.raises(PredicateError, match="LP102"):
        written("nosuch = 1")
    with pytest.raises(UsageError, match="is not a schema"):
        written("id = 1", 5)


_OPS = {"equal": "=", "lessThan": "<", "lessThanOrEqual": "<=", "greaterThan": ">", "greaterThanOrEqual": ">="}
_DUCK = {
    "string": "VARCHAR", "date": "DATE", "int": "INTEGER", "long": "BIGINT", "double": "DOUBLE", "float": "FLOAT",
    "timestamp": "TIMESTAMPTZ", "bool": "BOOLEAN",
}  # fmt: skip


def duck(hint: Any) -> str:
    """A JSON hint for DuckDB, written apart from every reader of hints."""
    match hint["op"]:
        case "column":
            return f'"{hint["name"]}"'
        case "literal":
            return f"CAST('{hint['value'].replace(chr(39), chr(39) * 2)}' AS {_DUCK[hint['valueType']]})"
        case "isNull":
            return f"({duck(hint['children'][0])} IS NULL)"
        case "not":
            return f"(NOT {duck(hint['children'][0])})"
        case "and" | "or":
            return "(" + f" {hint['op'].upper()} ".join(map(duck, hint["children"])) + ")"
        case op:
            left, right = map(duck, hint["children"])
            return f"({left} {_OPS[op]} {right})"


def test_every_row_of_the_predicate_is_a_row_of_its_hint(tmp_path: Path) -> None:
    random = Random(5)
    profile, _ = profile_of()
    schema = schema_of(pa.schema(TYPES))
    said = exact = 0
    for number in range(4):
        table = random_table(random, tmp_path / str(number))
        for _ in range(150):
            made = random_sql(random, is_sent=False)
            where = made.hint.replace("partitionValues.", "")
            found = hints_of(where, schema, profile)
            if found.json is None:
                continue
            hint = duck(json.loads(found.json))
            said += 1
            lost = f"SELECT count(*) FROM rows WHERE {made.condition} AND {hint} IS NOT TRUE"
            assert table.rows.execute(lost).fetchone() == (0,), (where, found.json)
            if found.is_exact:
                exact += 1
                surplus = f"SELECT count(*) FROM rows WHERE {hint} AND {made.condition} IS NOT TRUE"
                assert table.rows.execute(surplus).fetchone() == (0,), (where, found.json)
        table.rows.close()
    assert said > 500
    assert exact > 100


def test_what_is_written_is_read_back_and_prunes(tmp_path: Path) -> None:
    from tests.apps.sharing.hinting import days_table

    planner = planner_of(days_table(tmp_path / "t"))
    where = "d = '2021-04-29' AND id IN (11, 12, 19) AND x > 3.5 AND day <> '2021-01-01' AND s LIKE 's0%'"
    found = hints_of(where, planner.facts.schema, planner.profile)
    by_json, by_sql = Asked(planner, hint=found.json), Asked(planner, found.sql)
    assert len(by_json.paths) == len(by_sql.paths) == 1
    assert by_json.hinted.is_whole
    assert by_sql.hinted.is_whole
