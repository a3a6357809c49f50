"""What Spark itself says to comparisons with nested columns, which the recorded answers have no table for.

The rest of the evidence is tests/predicate/spark_answers.json; here a session is asked, in both ANSI modes.
"""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakeprune.errors import PredicateError
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Schema
from lakeprune.predicate.tree import Profile
from lakeprune.values.types import INT, STRING, DataType, Kind

ROW = "named_struct('name', 'x', 'age', 1) AS customer, array('a') AS tags, map('k', 'v') AS props, 'EU' AS region"
SCHEMA = Schema(
    (
        Field("customer", "customer", DataType(Kind.STRUCT), children=(Field("name", "name", STRING), Field("age", "age", INT))),
        Field("tags", "tags", DataType(Kind.ARRAY)),
        Field("props", "props", DataType(Kind.MAP)),
        Field("region", "region", STRING),
    )
)
REFUSED = ("customer = 'x'", "customer > 5", "1 = customer", "tags = 'a'", "tags <=> 1", "props = 'v'", 'region in ["EU"]')
ACCEPTED = ("customer['name'] = 'x'", "customer.age = 1", "array_contains(tags, 'a')", "props['key'] = 'v'", "tags[0] = 'a'")


def lakeprune_accepts(where: str, *, ansi: bool) -> bool:
    profile = Profile(now=0, ansi=ansi)
    try:
        bind(parse_predicate(where, profile), SCHEMA, profile, where)
    except PredicateError:
        return False
    return True


def spark_accepts(spark: SparkSession, where: str) -> bool:
    try:
        spark.sql(f"SELECT {ROW}").where(where).collect()
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
