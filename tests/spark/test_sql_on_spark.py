"""`lakeprune.sql(..., spark=)`: the rows of the same query over whole tables; by Spark's own metrics from planned files alone."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import lakeprune
from lakeprune.apps.sql.sql import pruned_plans
from lakeprune.errors import UsageError
from tests.scope import IS_WHOLE, only_whole
from tests.spark.lake import Lake
from tests.spark.test_plan_to_spark import rows_and_files, rows_of
from tests.spark.test_plans_by_connectors import server  # noqa: F401  # a fixture

pytestmark = pytest.mark.spark

# A query over `orders` (12 files, Delta), `customers` (2 files, deletion vectors, a renamed column), `events` (Parquet), and how
# many files Spark may open for it.
QUERIES = {
    "one table": ("SELECT id, s FROM orders WHERE id BETWEEN 150 AND 310", 3),
    "a join": (
        "SELECT o.id, c.name FROM orders o JOIN customers c ON o.id = c.id AND c.id < 50 WHERE o.id < 99", 1 + 1,
    ),
    "an outer join": (
        "SELECT o.id, c.name FROM orders o LEFT JOIN customers c ON o.id = c.id AND c.id < 50 WHERE o.id < 150", 2 + 1,
    ),
    "three tables": (
        "SELECT count(*) FROM orders o JOIN events e ON o.id = e.id JOIN customers c ON c.id = o.id WHERE o.id = 5 AND e.id < 9",
        1 + 1 + 2,
    ),
    "a table twice": ("SELECT id FROM orders WHERE id = 5 UNION ALL SELECT id FROM orders WHERE id = 905", 2 + 2),
    "nothing matches": ("SELECT count(*) AS n FROM orders WHERE id < 0", 0),
    "a WITH of the table's name": ("WITH orders AS (SELECT * FROM orders WHERE id < 20) SELECT max(id) FROM orders", 12),
}  # fmt: skip


@pytest.fixture(scope="module")
def lake(small_lake: Lake) -> Lake:
    return small_lake


def tables_of(lake: Lake) -> dict[str, str]:
    return {"orders": lake.orders, "customers": lake.customers, "events": lake.events}


def over_whole_tables(spark: SparkSession, lake: Lake, query: str) -> DataFrame:
    session = spark.newSession()
    for name in ("orders", "customers"):
        session.read.format("delta").load(getattr(lake, name)).createTempView(name)
    session.read.parquet(lake.events).createTempView("events")
    session.conf.set("spark.sql.session.timeZone", str(spark.conf.get("spark.sql.session.timeZone")))
    return session.sql(query)


@pytest.mark.parametrize("name", QUERIES)
def test_rows_are_those_over_whole_tables_and_files_the_planned_ones(name: str, lake: Lake, spark: SparkSession) -> None:
    query, files = QUERIES[name]
    found = lakeprune.sql(tables_of(lake), query, spark=spark)
    assert rows_and_files(found) == (rows_of(over_whole_tables(spark, lake, query)), files)
    assert not views_of(spark), "no view is left behind"


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata", "+02:00"] if IS_WHOLE else ["Asia/Kolkata"])
def test_moments_are_in_the_zone_of_the_session(zone: str, lake: Lake, spark: SparkSession) -> None:
    """Files begin at midnight of UTC: read in another zone, the same text means other rows, and other files."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    for query in (
        "SELECT id FROM orders WHERE ts < '2023-03-12 00:00:10'",
        "SELECT id FROM orders WHERE ts >= '2023-03-11 19:00:05' AND ts < '2023-03-12'",
        "SELECT count(*) FROM orders WHERE ts BETWEEN '2023-03-12 05:30:00' AND '2023-03-12 05:31:00'",
    ):
        expected = rows_of(over_whole_tables(session, lake, query))
        assert rows_of(lakeprune.sql({"orders": lake.orders}, query, spark=session)) == expected
        late = lakeprune.plan(lake.orders, "id >= 0", timezone="UTC")
        assert rows_of(lakeprune.sql({"orders": late}, query, spark=session)) == expected


def test_a_plan_an_opened_table_and_an_odd_name_are_tables(lake: Lake, spark: SparkSession) -> None:
    late = lakeprune.plan(lake.orders, "id >= 420", columns=["id", "ts"])
    few = lakeprune.plan(lake.orders, "id >= 420", limit=5)
    with lakeprune.open(lake.customers) as opened:
        tables: dict[str, Any] = {"late": late, "few": few, "my `people`": opened}
        query = "SELECT count(*) AS n, min(id) AS least FROM late WHERE id < 500"
        assert lakeprune.sql(tables, query, spark=spark).collect()[0].asDict() == {"n": 80, "least": 420}
        assert lakeprune.sql(tables, "SELECT count(*) FROM few WHERE id >= 0", spark=spark).collect()[0][0] == 5
        frame = lakeprune.sql(tables, "SELECT count(*) FROM `my ``people``` WHERE id < 9", spark=spark)
        assert frame.collect()[0][0] == 8, "one of nine is deleted"
    assert not views_of(spark)


def test_a_view_of_the_session_is_not_replaced(lake: Lake, spark: SparkSession) -> None:
    session = spark.newSession()
    session.range(3).createTempView("orders")
    with pytest.raises(UsageError, match="LP288"):
        lakeprune.sql({"orders": lake.orders}, "SELECT * FROM orders", spark=session)
    assert session.table("orders").count() == 3


def test_what_a_query_demands_is_read_in_the_given_zone(lake: Lake) -> None:
    query = "SELECT * FROM orders WHERE ts < '2023-01-01 05:00:00'"
    for zone, files in (("UTC", 1), ("America/New_York", 1), ("Asia/Kolkata", 0)):
        (plan,) = pruned_plans({"orders": lake.orders}, query, dialect="spark", options={"timezone": "UTC"}, zone=zone).values()
        assert plan.totals.files_scanned == files, zone


def views_of(spark: SparkSession) -> list[str]:
    """Those of the session but for `source_rows`, which tests of MERGE leave behind."""
    return [row["viewName"] for row in spark.sql("SHOW VIEWS").collect() if row["viewName"] != "source_rows"]


PROGRAM = """
import json, sys
import lakeprune
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "America/New_York")
tables, queries = json.loads(sys.argv[2]), json.loads(sys.argv[3])
print(json.dumps([sorted(map(repr, map(tuple, lakeprune.sql(tables, query, spark=spark).collect()))) for query in queries]))
"""


@only_whole
def test_rows_over_spark_connect(server: str, lake: Lake, spark: SparkSession) -> None:  # noqa: F811
    """A query is analysed when it runs there, long after views were dropped."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    queries = [query for query, _ in QUERIES.values()]
    queries += ["SELECT count(*) FROM orders WHERE s <> '{x}' AND ts < '2023-03-12 00:00:10' ;", "SELECT 1 AS one"]
    command = [sys.executable, "-c", PROGRAM, server, json.dumps(tables_of(lake)), json.dumps(queries)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    expected = [sorted(map(repr, map(tuple, over_whole_tables(session, lake, query).collect()))) for query in queries]
    assert json.loads(done.stdout.splitlines()[-1]) == expected
