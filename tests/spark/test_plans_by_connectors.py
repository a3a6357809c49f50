"""`plan.to_spark` where the connector scans a table by itself: Iceberg, change data feeds, and everything over Spark Connect.

No list of files keeps other rows out there, so the predicate must: also what the plan calls exact, and rows that come unfiltered.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession

import lakeprune
from demo.tables import users
from lakeprune.apps.scan.options import ScanOptions
from lakeprune.errors import UsageError
from tests.apps.scan.rows import rows_of as arrow_rows
from tests.scope import only_whole
from tests.spark.processes import connect_server
from tests.spark.test_changes_to_spark import feed  # noqa: F401  # a fixture
from tests.spark.test_plan_to_spark import rows_of

pytestmark = pytest.mark.spark
UNFILTERED = ScanOptions(pushdown=False)


@pytest.fixture
def readings(lake: str, spark: SparkSession, tmp_path: Path) -> tuple[str, Path]:
    """Four partitions, a position delete, a renamed column."""
    name = f"{lake}.readings"
    on = "TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, p INT, day DATE, v STRING) USING iceberg PARTITIONED BY (p) {on}")
    spark.sql(f"INSERT INTO {name} SELECT id, int(id % 4), date_add('2024-01-01', int(id)), 'v' || id FROM range(0, 40, 1, 1)")
    spark.sql(f"DELETE FROM {name} WHERE id = 5")
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN v TO word")
    return name, tmp_path / "lake" / "db" / "readings"


def test_an_iceberg_plan_gives_the_rows_of_its_predicate(readings: tuple[str, Path], spark: SparkSession) -> None:
    name, place = readings
    for where in (None, "p = 1", "year(day) = 2024 AND id < 7", "p = 1 AND id > 8", "p = 77"):
        expected = spark.table(name).where(where or "TRUE").select("word")
        made = lakeprune.plan(place, where, columns=["word"])
        assert rows_of(made.to_spark(spark)) == rows_of(expected)
        assert rows_of(made.to_spark(spark, UNFILTERED).select("word")) == rows_of(expected)
        assert made.handoff is not None
        assert set(made.handoff.applied.values()) <= {"Spark"}


def test_an_iceberg_plan_has_versions_limits_and_files(readings: tuple[str, Path], spark: SparkSession) -> None:
    name, place = readings
    first = spark.sql(f"SELECT snapshot_id FROM {name}.snapshots ORDER BY committed_at").first()
    assert first is not None
    assert lakeprune.plan(place, "p = 1", version=first[0]).to_spark(spark).count() == 10
    received = lakeprune.ScanPlan.from_json(lakeprune.plan(place, "p = 1").to_json())
    assert received.to_spark(spark).count() == 9
    assert lakeprune.plan(place, "p = 1", limit=3).to_spark(spark).count() == 3
    made = lakeprune.plan(place, "p = 1", columns=["id"])
    rows = made.to_spark(spark, ScanOptions(file_column="file")).collect()
    assert {row["file"] for row in rows} == set(made.files.column("uri").to_pylist())


@pytest.mark.parametrize("version", [2, 3])
def test_rows_of_iceberg_outside_spark_have_its_deletes(version: int, lake: str, spark: SparkSession, tmp_path: Path) -> None:
    """Position deletes of version 2, deletion vectors of version 3."""
    name, place = f"{lake}.deleted", tmp_path / "lake" / "db" / "deleted"
    modes = ", ".join(f"'write.{kind}.mode' = 'merge-on-read'" for kind in ("delete", "update"))
    on = f"TBLPROPERTIES ('format-version' = '{version}', {modes})"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, p INT, s STRUCT<x: INT>) USING iceberg PARTITIONED BY (p) {on}")
    spark.sql(f"INSERT INTO {name} SELECT id, int(id % 2), named_struct('x', int(id)) FROM range(0, 20, 1, 1)")
    spark.sql(f"DELETE FROM {name} WHERE id IN (3, 4, 11)")
    spark.sql(f"UPDATE {name} SET s = NULL WHERE id = 6")
    spark.sql(f"INSERT INTO {name} VALUES (3, 1, NULL)")
    made = lakeprune.plan(place)
    kinds = {each["kind"] for text in made.files.column("vector").to_pylist() if text for each in json.loads(text)}
    assert kinds == {"position" if version == 2 else "vector"}
    for where in (None, "id < 5", "s.x > 10 AND p = 1", "s IS NULL"):
        found = lakeprune.plan(place, where).to_arrow().read_all()
        expected = spark.table(name).where(where or "TRUE").toArrow()
        assert expected.num_rows
        assert arrow_rows(found) == arrow_rows(expected, found.schema)


def test_unfiltered_rows_of_a_feed_are_of_the_planned_commits(feed: Path, spark: SparkSession) -> None:  # noqa: F811
    made = lakeprune.plan(feed, "_commit_version IN (1, 3) AND p = 0", changes=True, from_version=0)
    assert {clause.pushdown.value for clause in made.clauses} == {"Exact"}
    rows = made.to_spark(spark, UNFILTERED).select("_commit_version", "p").distinct().collect()
    assert {tuple(row) for row in rows} == {(1, 0), (3, 0)}


def test_a_feed_outside_spark_has_the_rows_of_delta(feed: Path, spark: SparkSession) -> None:  # noqa: F811
    for where in (None, "_change_type = 'delete'", "id < 5 AND p = 0"):
        made = lakeprune.plan(feed, where, changes=True, from_version=0)
        handed = made.to_spark(spark)
        found = made.to_arrow().read_all()
        assert rows_of(spark.createDataFrame(found.to_pandas(), handed.schema)) == rows_of(handed)


def test_a_limit_is_not_of_rows_that_somebody_else_filters(tmp_path: Path, spark: SparkSession) -> None:
    spark.range(0, 100, 1, 1).write.format("delta").save(str(tmp_path / "t"))
    made = lakeprune.plan(tmp_path / "t", "id % 50 = 49", limit=1)
    assert made.to_spark(spark, UNFILTERED).where("id % 50 = 49").count() >= 1
    assert made.to_spark(spark).count() == 1


def test_the_column_of_files_is_none_of_the_filter(tmp_path: Path, spark: SparkSession) -> None:
    spark.range(0, 3, 1, 1).selectExpr("id", "id AS v").write.format("delta").save(str(tmp_path / "t"))
    made = lakeprune.plan(tmp_path / "t", "id % 2 = 1", columns=["v"])
    assert made.to_spark(spark, ScanOptions(file_column="id")).columns == ["v", "id"]
    for options in (ScanOptions(file_column="id", pushdown=False), ScanOptions(file_column="V")):
        with pytest.raises(UsageError, match="LP268"):
            made.to_spark(spark, options)


PROGRAM = """
import json, sys
import lakeprune
from pyspark.sql import SparkSession
from lakeprune.apps.scan.options import ScanOptions
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "UTC")
found = []
for where in json.loads(sys.argv[3]):
    for options in (ScanOptions(), ScanOptions(pushdown=False), ScanOptions(file_column="file")):
        found.append(sorted(row["name"] for row in lakeprune.plan(sys.argv[2], where).to_spark(spark, options).collect()))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with connect_server(tmp_path_factory.mktemp("connect")) as address:
        yield address


@only_whole
def test_rows_over_spark_connect_are_those_of_the_predicate(server: str, tmp_path: Path) -> None:
    """`country = 'DE'` is exact by the planned files, of which the connector knows nothing."""
    table, wheres = users(tmp_path / "users"), ["country = 'DE'", "country = 'DE' AND age > 40", "country = 'XX'"]
    command = [sys.executable, "-c", PROGRAM, server, str(table), json.dumps(wheres)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    expected = [sorted(lakeprune.plan(table, where).to_arrow().read_all().column("name").to_pylist()) for where in wheres]
    assert json.loads(done.stdout.splitlines()[-1]) == [names for names in expected for _ in range(3)]


SHARPEN = """
import json, sys
import lakeprune.spark
from lakeprune.errors import UsageError
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
frame = spark.read.format("delta").load(sys.argv[2]).where("age + 1 > 60")
try:
    lakeprune.spark.sharpen(frame)
except UsageError as error:
    print(error.code)
found = lakeprune.spark.read(spark, sys.argv[2], where="age + 1 > 60")
print(json.dumps([sorted(row["name"] for row in each.collect()) for each in (found, frame)]))
print(json.dumps([len(each.inputFiles()) for each in (found, frame)]))
"""


@only_whole
def test_sharpening_over_spark_connect_is_refused_and_a_table_is_read_by_what_is_implied(server: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", SHARPEN, server, str(users(tmp_path / "users"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    code, rows, files = done.stdout.splitlines()[-3:]
    assert code == "LP265"
    found, expected = json.loads(rows)
    assert found == expected != []
    after, before = json.loads(files)
    assert after < before == 6


OLDER = """
import json, sys
import lakeprune
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "UTC")
print(json.dumps(sorted(row["x"] for row in lakeprune.plan(sys.argv[2], "upper(x) > '10'", version=0).to_spark(spark).collect())))
"""


@only_whole
def test_what_is_implied_over_spark_connect_is_of_the_version_of_the_plan(server: str, tmp_path: Path) -> None:
    """'9' is above '10' as text; the newest version has numbers."""
    table = tmp_path / "t"
    write_deltalake(table, pa.table({"x": ["9", "1", "11"]}))
    write_deltalake(table, pa.table({"x": [5, 50]}), mode="overwrite", schema_mode="overwrite")
    done = subprocess.run([sys.executable, "-c", OLDER, server, str(table)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == ["11", "9"]
