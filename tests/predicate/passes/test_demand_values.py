"""The columns that must have a value for a condition to be TRUE, and the files that are dropped for it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import lakeprune
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.passes.demand_values import demanded
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Schema
from lakeprune.values.types import INT, STRING
from tests.builders.delta import write_table
from tests.predicate.columns import PROFILE

SCHEMA = Schema((Field("a", "a", INT), Field("b", "b", INT), Field("s", "s", STRING)))


@pytest.mark.parametrize(
    ("condition", "columns"),
    [
        ("a % 7 = 3", {"a"}),
        ("a % b = 3", {"a", "b"}),
        ("upper(s) LIKE '%x'", {"s"}),
        ("NOT (a % 7 = 3)", {"a"}),
        ("a % 7 IN (1, b)", {"a"}),
        ("a % 7 = 3 AND s RLIKE 'x'", {"a", "s"}),
        ("a % 7 = 3 OR length(s) + a > 4", {"a"}),
        ("a % 7 <=> 3", set()),
        ("a % 7 IS NULL", set()),
        ("coalesce(a, b) % 7 = 3", set()),
        ("greatest(a, b) % 7 = 3", set()),
        ("if(a = 1, b, 5) % 7 = 3", set()),
        ("nullif(a, 3) % 7 = 3", set()),
        ("(a % 7 = 3) IS NOT TRUE", set()),
        ("NOT (a % 7 = 3 AND b = 1)", set()),
    ],
)
def test_the_columns_that_a_condition_demands(condition: str, columns: set[str]) -> None:
    bound = bind(parse_predicate(condition, PROFILE), SCHEMA, PROFILE, condition)
    assert {column.path[0] for column in demanded(bound)} == columns


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("a % 7 = 3", 1),
        ("NOT (a % 7 = 3)", 1),
        ("a % b = 0", 1),
        ("upper(s) = 'X'", 1),
        ("a = s", 1),
        ("a % 7 = 3 OR b % 2 = 1", 2),
        ("coalesce(a, 3) % 7 = 3", 2),
        ("(a % 7 = 3) IS NULL", 2),
        ("NOT (a % 7 = 3 AND b % 2 = 0)", 2),
    ],
)
def test_a_file_of_nulls_is_dropped_where_its_column_is_demanded(tmp_path: Path, where: str, kept: int) -> None:
    rows = [{"a": [None, None], "b": [1, 2], "s": [None, None]}, {"a": [1, None], "b": [3, 4], "s": ["x", None]}]
    types = pa.schema([("a", pa.int32()), ("b", pa.int32()), ("s", pa.string())])
    table = write_table(tmp_path / "t", [pa.table(columns, types) for columns in rows])
    assert lakeprune.explain(table, where).numbers.kept.files == kept
