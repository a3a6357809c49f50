"""What Spark itself says to what lakeprune refuses: comparisons with nested columns, and every message that newcomers get.

The rest of the evidence is tests/predicate/spark_answers.json; here a session is asked, about nested columns in both ANSI modes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakeprune.errors import PredicateError
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.functions.registry import MODULES
from lakeprune.predicate.read.sql.functions import CAST_FUNCTIONS, FORMS, refused_count
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Schema
from lakeprune.predicate.tree import Profile
from lakeprune.values.types import INT, STRING, DataType, Kind
from tests.scope import IS_WHOLE, only_whole

ROW = "named_struct('name', 'x', 'age', 1) AS customer, array('a') AS tags, map('k', 'v') AS props, 'EU' AS region"
SCHEMA = Schema(
    (
        Field("customer", "customer", DataType(Kind.STRUCT), children=(Field("name", "name", STRING), Field("age", "age", INT))),
        Field("tags", "tags", DataType(Kind.ARRAY)),
        Field("props", "props", DataType(Kind.MAP)),
        Field("region", "region", STRING),
    )
)
REFUSED = (
    "customer = 'x'", "customer > 5", "1 = customer", "tags = 'a'", "tags <=> 1", "props = 'v'", 'region in ["EU"]',
    "customer[0] = 'x'", "region[0] = 'E'", "upper(region, 1) = 'EU'", "(region, 1) IN ((1, 1))", "(region, 1) = ('EU', 1L)",
    "(region, NULL) <=> (NULL, NULL)", "(customer.age, 1) IN ((1L, 1L))",
)  # fmt: skip
MESSAGES = Path(__file__).parents[1].joinpath("cli", "messages.txt").read_text().strip().splitlines()
MISTAKES = [(typed.strip(), code.strip(), fix.strip()) for typed, _, code, fix in (row.rsplit(" | ", 3) for row in MESSAGES)]
MISTAKES = [row for row in MISTAKES if row[1] in ("LP101", "LP102", "LP105", "LP106") and not row[0].startswith("$ ")]
# What Spark reads all the same: sqlglot does not know the first, and in a condition by itself a trailing word is a name for it.
READ_BY_SPARK = ("overlay(region placing 'X' from 2) = 'EX'", "id > 5 or", "id > 5 AND")
SALES = (
    "1L AS id, 1.5D AS amount, TIMESTAMP'1970-01-01' AS ts, true AS active, named_struct('name', 'x', 'age', 3) AS customer, "
    "array('a') AS tags, 1 AS `Order Total`, 'EU' AS region, DATE'2025-01-03' AS day"
)
ACCEPTED = (
    "customer['name'] = 'x'", "customer.age = 1", "array_contains(tags, 'a')", "props['key'] = 'v'", "tags[0] = 'a'",
    "(region, 1) = ('EU', 1)", "(upper(region), 1) IN (('EU', 1L))",
)  # fmt: skip
# Names of ours that Spark does not have, and syntax that only looks like a call.
NOT_CALLED = frozenset({"iff", "cast", "try_cast", "case", "negate", "add_interval"})


def lakeprune_accepts(where: str, *, ansi: bool) -> bool:
    profile = Profile(now=0, ansi=ansi)
    try:
        bind(parse_predicate(where, profile), SCHEMA, profile, where)
    except PredicateError:
        return False
    return True


def spark_accepts(spark: SparkSession, where: str, row: str = ROW) -> bool:
    try:
        spark.sql(f"SELECT {row}").where(where).collect()
    except PySparkException:
        return False
    return True


@pytest.mark.parametrize("ansi", [True, False])
@pytest.mark.parametrize("where", [*REFUSED, *ACCEPTED])
def test_spark_and_lakeprune_refuse_the_same(spark: SparkSession, where: str, *, ansi: bool) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    try:
        assert spark_accepts(spark, where) == lakeprune_accepts(where, ansi=ansi) == (where in ACCEPTED)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before or "true")


def test_spark_refuses_what_newcomers_are_told_is_wrong(spark: SparkSession) -> None:
    asked = [typed for typed, _, _ in MISTAKES if typed not in READ_BY_SPARK]
    assert [typed for typed in asked[:: 1 if IS_WHOLE else 8] if spark_accepts(spark, typed, SALES)] == []


def test_spark_accepts_every_fix_that_is_pasted(spark: SparkSession) -> None:
    fixes = [fix.rpartition("write: ")[2] for _, _, fix in MISTAKES if "write: " in fix]
    assert len(fixes) > 50
    assert [fix for fix in fixes[:: 1 if IS_WHOLE else 8] if not spark_accepts(spark, fix, SALES)] == []


@only_whole
def test_spark_takes_as_many_arguments_as_lakeprune_says(spark: SparkSession) -> None:
    named = {name for names in MODULES.values() for name in names if name.isidentifier()}
    names = sorted((named | FORMS.keys() | CAST_FUNCTIONS.keys()) - NOT_CALLED)
    assert len(names) > 100
    asked = [(name, count) for name in names for count in range(6)]
    assert [case for case in asked if _is_refused_by_spark(spark, *case) != (refused_count(*case) is not None)] == []


def _is_refused_by_spark(spark: SparkSession, name: str, count: int) -> bool:
    try:
        spark.sql(f"SELECT `{name}`({', '.join(['NULL'] * count)})")  # in back-ticks no syntax of its own is tried
    except PySparkException as error:
        return "WRONG_NUM_ARGS" in str(error)
    return False
