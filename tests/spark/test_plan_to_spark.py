"""`plan.to_spark`: the rows that Spark itself returns for the predicate, from the planned files alone."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import lakeprune
from lakeprune.apps.scan.model import ScanPlan
from lakeprune.apps.scan.options import ScanOptions
from lakeprune.engines.spark.nodes import class_name, descendants
from lakeprune.errors import UsageError
from tests.apps.scan.rows import rows_of as arrow_rows
from tests.scope import IS_WHOLE
from tests.spark.lake import Lake
from tools.markdown import code_blocks
from tools.repository import ROOT

pytestmark = pytest.mark.spark
WHERES = (
    "year(ts) = 2023 AND p = 1", "id IN (5, 905)", "p = 1 OR id = 5", None, "n IS NULL AND id > 900", "s RLIKE '^c'", "p = 0",
)  # fmt: skip


@pytest.fixture(scope="module")
def lake(small_lake: Lake) -> Lake:
    return small_lake


@pytest.mark.parametrize("where", WHERES if IS_WHOLE else WHERES[:3])
def test_rows_and_files_are_those_of_the_plan(where: str | None, lake: Lake, spark: SparkSession) -> None:
    found = lakeprune.plan(lake.orders, where, columns=["id", "ts"])
    handed = found.to_spark(spark)
    expected = spark.read.format("delta").load(lake.orders).where(where or "TRUE").select("id", "ts")
    assert handed.columns == ["id", "ts"]
    assert rows_and_files(handed) == (rows_of(expected), found.totals.files_scanned)
    assert found.handoff is not None
    assert found.handoff.engine == "spark"
    assert set(found.handoff.applied.values()) <= {"Spark", "the plan"}


def test_deletion_vectors_and_column_mapping_are_right(lake: Lake, spark: SparkSession) -> None:
    found = lakeprune.plan(lake.customers, "name < 'c2' AND id < 99")
    expected = spark.read.format("delta").load(lake.customers).where("name < 'c2' AND id < 99")
    assert rows_of(found.to_spark(spark)) == rows_of(expected)


def test_a_limit_the_file_of_a_row_and_rows_without_the_filter(lake: Lake, spark: SparkSession) -> None:
    assert lakeprune.plan(lake.orders, "id + 1 > 100", limit=7).to_spark(spark).count() == 7
    found = lakeprune.plan(lake.orders, "id IN (5, 905)", columns=["s"])
    with_file = found.to_spark(spark, ScanOptions(file_column="from"))
    assert sorted({row["from"] for row in with_file.collect()}) == sorted(found.files.column("uri").to_pylist())
    unfiltered = found.to_spark(spark, ScanOptions(pushdown=False))
    assert unfiltered.columns == ["s", "id"]
    assert unfiltered.count() == sum(found.files.column("rows").to_pylist())
    with pytest.raises(UsageError, match="already"):
        found.to_spark(spark, ScanOptions(file_column="s"))


def test_an_empty_plan_has_the_schema_and_no_rows(lake: Lake, spark: SparkSession) -> None:
    found = lakeprune.plan(lake.orders, "p = 77")
    handed = found.to_spark(spark)
    assert handed.schema.names == spark.read.format("delta").load(lake.orders).columns
    assert handed.count() == 0


def test_the_zone_the_version_and_the_moment_are_those_of_the_plan(lake: Lake, spark: SparkSession) -> None:
    where = "date(ts) = '2023-03-16' OR ts > now()"
    found = lakeprune.plan(lake.orders, where, timezone="Asia/Kolkata", now="2024-12-01 00:00:00", version=0)
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    text = where.replace("now()", "TIMESTAMP'2024-12-01 00:00:00'")
    expected = session.read.format("delta").option("versionAsOf", 0).load(lake.orders).where(text)
    assert rows_of(found.to_spark(spark)) == rows_of(expected)


def test_a_plan_that_came_as_json_is_handed_over(lake: Lake, spark: SparkSession) -> None:
    found = ScanPlan.from_json(lakeprune.plan(lake.orders, "id IN (5, 905)").to_json())
    assert [row["id"] for row in found.to_spark(spark).orderBy("id").collect()] == [5, 905]


def test_parquet_files_are_opened_by_name(tmp_path: Path, spark: SparkSession) -> None:
    place = tmp_path / "events"
    spark.range(0, 100, 1, 4).selectExpr("id", "id % 2 AS p").write.partitionBy("p").parquet(str(place))
    found = lakeprune.plan(place, "id < 20 AND p = 1")
    assert sorted(row["id"] for row in found.to_spark(spark).collect()) == list(range(1, 20, 2))
    assert files_opened(found.to_spark(spark)) == found.totals.files_scanned < 8


@pytest.mark.parametrize("legacy", ["false", "true"] if IS_WHOLE else ["true"])
def test_nested_columns_and_old_moments_of_parquet_files(legacy: str, tmp_path: Path, spark: SparkSession) -> None:
    """By Spark's own reader, and outside it; `old` is in a layout that only Spark reads where that of Hive was asked for."""
    session = spark.newSession()
    session.conf.set("spark.sql.parquet.writeLegacyFormat", legacy)
    session.conf.set("spark.sql.parquet.outputTimestampType", "INT96")
    columns = (
        "id", "named_struct('x', id, 'l', array(id, null)) AS s", "map('k', id) AS m", "array(named_struct('z', id)) AS old",
        "timestamp_micros(id * 1000001) AS ts",
    )  # fmt: skip
    session.range(0, 40, 1, 4).selectExpr(*columns).write.parquet(str(tmp_path / "t"))
    whole = spark.read.parquet(str(tmp_path / "t"))
    for where in ("id < 15", "s.x BETWEEN 12 AND 13", "id < 0"):
        made = lakeprune.plan(tmp_path / "t", where)
        assert rows_of(made.to_spark(spark)) == rows_of(whole.where(where)), where
        names = ["s", "m", "ts"] if legacy == "true" else ["s", "m", "old", "ts"]
        some = lakeprune.plan(tmp_path / "t", where, columns=names)
        found = some.to_arrow().read_all()
        assert arrow_rows(found) == arrow_rows(whole.where(where).select(*found.column_names).toArrow(), found.schema), where
    if legacy == "true":
        with pytest.raises(UsageError, match="`old` cannot be handed over"):
            lakeprune.plan(tmp_path / "t").to_arrow()
    moments = "ts > timestamp'1970-01-01 00:00:30' AND id > 20"
    assert rows_of(lakeprune.plan(tmp_path / "t", moments).to_spark(spark)) == rows_of(whole.where(moments))


def test_a_session_says_how_data_is_reached(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.hadoop.fs.s3a.access.key", "AK")
    assert ScanOptions.from_spark(session).data_options == {"aws_access_key_id": "AK"}
    for endpoint, is_tls, expected in (
        ("s3.example.com", "true", {"aws_endpoint_url": "https://s3.example.com"}),
        ("localhost:9000", "false", {"aws_endpoint_url": "http://localhost:9000", "allow_http": "true"}),
        ("http://localhost:9000", "true", {"aws_endpoint_url": "http://localhost:9000", "allow_http": "true"}),
    ):
        session.conf.set("spark.hadoop.fs.s3a.endpoint", endpoint)
        session.conf.set("spark.hadoop.fs.s3a.connection.ssl.enabled", is_tls)
        assert ScanOptions.from_spark(session).data_options == {"aws_access_key_id": "AK", **expected}


def test_the_session_of_the_page_prints_what_it_shows(lake: Lake, spark: SparkSession) -> None:
    page = (ROOT / "docs/concepts/handoffs/spark.md").read_text(encoding="utf-8")
    text = "\n".join(block.text for block in code_blocks(page) if block.language == "pycon")
    test = doctest.DocTestParser().get_doctest(text, {"spark": spark, "orders": lake.orders}, "spark.md", None, 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.summarize(verbose=False) == (0, text.count(">>>"))


def rows_of(frame: DataFrame) -> list[str]:
    return rows_and_files(frame)[0]


def rows_and_files(frame: DataFrame) -> tuple[list[str], int]:
    shown = frame.selectExpr("to_json(struct(*))")
    rows = sorted(row[0] for row in shown.collect())
    return rows, files_of(shown)


def files_opened(frame: DataFrame) -> int:
    frame.collect()
    return files_of(frame)


def files_of(frame: DataFrame) -> int:
    """The files that were opened when it was collected, for the first time: a second run of one frame counts nothing."""
    nodes = descendants(frame._jdf.queryExecution().executedPlan())
    return sum(node.metrics().apply("numFiles").value() for node in nodes if class_name(node) == "FileSourceScanExec")
