"""Every scan of a DataFrame explained: Delta's own numbers are those that Spark reports after running, ours are never too few."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonschema
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

import lakeprune
from lakeprune.apps.dataframes.model import DataFrameReport
from lakeprune.engines.spark.nodes import class_name, descendants
from lakeprune.errors import TableError, UsageError
from lakeprune.spark import explain
from tests.builders.untimed import untimed
from tests.scope import IS_WHOLE, only_whole
from tests.spark.lake import Lake
from tools.generate_schema import target

pytestmark = pytest.mark.spark
SCHEMA = json.loads(target("dataframe").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def lake(spark: SparkSession, small_lake: Lake) -> Lake:
    small_lake.frame(spark).createOrReplaceTempView("orders")
    spark.read.format("delta").load(small_lake.customers).createOrReplaceTempView("customers")
    spark.read.parquet(small_lake.events).createOrReplaceTempView("events")
    return small_lake


SHAPES = {
    "a condition on a partition and on data": "SELECT * FROM orders WHERE p = 1 AND id < 350",
    "an IN list": "SELECT * FROM orders WHERE id IN (5, 905)",
    "a view with computed columns": (
        "SELECT * FROM (SELECT id + 0 AS a, upper(s) AS u, ts AS t FROM orders WHERE p = 0) WHERE t < '2023-06-01' AND u > 'A'"
    ),
    "a join": "SELECT * FROM orders o JOIN customers c ON o.id = c.id WHERE o.id < 120 AND c.name LIKE 'c1%'",
    "a self-join": "SELECT * FROM orders a JOIN orders b ON a.id = b.id + 1 WHERE a.p = 0 AND b.p = 1 AND a.id > 500",
    "a union": "SELECT id FROM orders WHERE id < 50 UNION ALL SELECT id FROM orders WHERE id > 950",
    "a CTE used twice": "WITH w AS (SELECT * FROM orders WHERE p = 1) SELECT * FROM w x, w y WHERE x.id = y.id AND x.id < 200",
    "a scalar subquery": "SELECT * FROM orders WHERE p = 0 AND id = (SELECT max(id) FROM customers WHERE id < 90)",
    "an IN subquery": "SELECT * FROM orders WHERE p = 1 AND id IN (SELECT id FROM customers WHERE name = 'c3')",
    "time travel": "SELECT * FROM delta.`{orders}` VERSION AS OF 0 WHERE id > 850",
    "deletion vectors and column mapping": "SELECT * FROM customers WHERE name < 'c2' AND id < 99",
    "a limit": "SELECT * FROM orders LIMIT 3",
    "plain Parquet": "SELECT * FROM events WHERE p = 1 AND id < 400",
    "Parquet beside Delta": "SELECT * FROM events e JOIN orders o ON e.id = o.id WHERE o.p = 0 AND o.id < 10 AND e.p = 0",
    "no condition": "SELECT id FROM orders",
    "a function of a column": "SELECT * FROM orders WHERE year(ts) = 2023",
    "an OR over partition and data": "SELECT * FROM orders WHERE p = 1 OR id = 5",
    "nested fields": "SELECT * FROM orders WHERE st.x BETWEEN 150 AND 160",
    "groups": "SELECT batch, count(*) FROM orders WHERE d >= '2024-01-01' GROUP BY batch",
}


SHARE = (
    "a condition on a partition and on data", "a view with computed columns", "a CTE used twice", "an IN subquery",
    "deletion vectors and column mapping", "plain Parquet",
)  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES if IS_WHOLE else SHARE)
def test_what_spark_plans_is_what_it_reports_after_running(shape: str, lake: Lake, spark: SparkSession) -> None:
    text = SHAPES[shape].format(orders=lake.orders)
    report = explain(spark, text, explain_why=False)
    assert Counter(_planned(report)) == Counter(_ran(spark.sql(text)))
    for section in report.sections:
        if section.report is not None:
            kept = section.report.numbers.kept.files
            assert section.scan.spark is not None
            assert section.scan.spark.files is not None
            assert kept <= section.scan.spark.files or section.scan.spark.kind == "filteredLimit"
            assert section.report.facts.version == section.scan.version
    jsonschema.validate(report.to_dict(), SCHEMA)


def _planned(report: DataFrameReport) -> Iterator[tuple[int | None, int | None]]:
    for section in report.sections:
        plan = section.scan.spark
        assert plan is not None
        yield plan.files, plan.bytes


def _ran(frame: DataFrame) -> list[tuple[int, int]]:
    """What each scan of the executed plan says of itself; one that Spark reuses is in the plan once."""
    frame.collect()
    found = []
    for node in descendants(frame._jdf.queryExecution().executedPlan()):
        if class_name(node) == "FileSourceScanExec":
            metrics = node.metrics()
            found.append((metrics.apply("numFiles").value(), metrics.apply("filesSize").value()))
    return found


CONDITIONS = (
    "p = 1 AND id < 350", "id IN (5, 905, null)", "year(ts) = 2023", "month(ts) = 5", "date_trunc('month', ts) = '2023-07-01'",
    "date(ts) = '2023-03-12'", "p = 1 OR id = 5", "st.x = 150", "s LIKE 'c2%'", "s RLIKE '^c'", "startswith(s, 'd')",
    "id + 1 = 506", "coalesce(n, -1) = -1 AND id < 100", "n IS NULL AND id > 900", "NOT (id BETWEEN 100 AND 1100)",
    "price > 1150.5", "cast(id AS string) = '505'", "cast(price AS int) = 777", "d + INTERVAL 1 MONTH > '2024-12-01'",
    "ts + INTERVAL 36 HOURS < '2023-01-05'", "if(id < 100, p, batch) = 0", "try_add(id, 1L) = 11", "n <=> 601",
    "CASE WHEN id < 100 THEN 'a' WHEN id < 200 THEN 'b' END = 'b'", "date_format(ts, 'yyyy-MM') = '2023-01' OR batch = 9",
    "substring(s, 1, 1) IN ('a', 'k')", "s COLLATE UTF8_LCASE = 'A5'", "_metadata.file_size > 0 AND batch = 2",
    "unix_timestamp(ts) < 1672531300", "datediff(d, '2023-01-01') >= 700", "isnan(cast(id AS double)) OR id > 1150",
    "s = concat('b', cast(id AS string))", "greatest(id, 500) = 500", "id % 100 = 3 AND p = 1", "st IS NOT NULL AND -id > -100",
)  # fmt: skip


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"] if IS_WHOLE else ["America/New_York"])
def test_no_file_with_a_row_that_spark_returns_is_dropped(zone: str, lake: Lake, spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    frame = lake.frame(session)
    conditions = CONDITIONS if IS_WHOLE else CONDITIONS[::4]
    flags = [sql.count_if(sql.expr(text)).alias(str(number)) for number, text in enumerate(conditions)]
    counted = frame.select("*", "_metadata").groupBy(sql.col("_metadata.file_path").alias("file")).agg(*flags).collect()
    asked = [text for text in conditions if "_metadata" not in text]
    direct = dict(zip(asked, lakeprune.explain_many(lake.orders, asked, timezone=zone), strict=True))
    for number, text in enumerate(conditions):
        with_rows = {row["file"].rsplit("/", 1)[1] for row in counted if row[str(number)]}
        (report,) = explain(frame.where(text), explain_why=False).reports
        kept = {file.path.rsplit("/", 1)[1] for file in report.files if file.verdict.value != "DROP"}
        assert with_rows <= kept, text
        known = direct[text].files if text in direct else None
        assert known is None or kept == {file.path.rsplit("/", 1)[1] for file in known if file.verdict.value != "DROP"}, text


def test_the_advice_is_a_rewrite_for_which_delta_plans_fewer_files(lake: Lake, spark: SparkSession) -> None:
    frame = lake.frame(spark)
    for condition, planned in (("id IN (5, 905)", 10), ("year(ts) = 2023", 12))[0 if IS_WHOLE else 1 :]:
        report = explain(frame.where(condition))
        (section,) = report.sections
        assert section.report is not None
        (advice,) = [one for one in section.report.diagnoses or () if one.code == "ENGINE_DIFFERS"]
        kept = section.report.numbers.kept.files
        assert advice.numbers["delta_spark_files"] == planned == _ran(frame.where(condition))[0][0]
        assert advice.rewrite is not None
        assert frame.where(advice.rewrite).count() == frame.where(condition).count()
        assert _ran(frame.where(advice.rewrite))[0][0] == advice.numbers["delta_spark_files_with_rewrite"] == kept < planned
    assert "does not use: (year(CAST(ts AS DATE)) = 2023)" in report.to_text()
    assert not [one for one in explain(frame.where("id < 50")).reports[0].diagnoses or () if one.code == "ENGINE_DIFFERS"]


def test_cached_and_adaptive_plans_are_explained_as_before_they_ran(lake: Lake, spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.adaptive.enabled", "true")
    frame = lake.frame(session)
    joined = frame.where("id < 0").join(frame.where("p = 1").withColumnRenamed("n", "m"), "id")
    before = [(report.predicate, report.numbers.kept.files) for report in explain(joined).reports]
    joined.collect()
    assert [(report.predicate, report.numbers.kept.files) for report in explain(joined).reports] == before
    assert len(before) == 2
    cached = frame.where("id < 250 OR p = 1").cache()
    try:
        cached.count()
        (section,) = explain(cached.where("id = 5")).sections
        assert section.report is not None
        assert section.scan.is_cached
        assert section.report.predicate == "id < 250 OR p = 1"
        assert section.report.numbers.kept.files == 8
        assert "this scan fed a cache" in explain(cached).to_text()
    finally:
        cached.unpersist()


def test_tables_without_a_scan_and_sources_of_other_kinds_are_listed(lake: Lake, spark: SparkSession) -> None:
    frame = lake.frame(spark)
    for needs_no_file in (frame.where("id = 505.5"), frame.groupBy().count()):
        report = explain(needs_no_file, max_files=0)
        assert (report.sections, report.unread, report.passed) == ((), (lake.orders,), True)
        assert f"Not read:    {lake.orders}" in report.to_text()
        jsonschema.validate(report.to_dict(), SCHEMA)
    people = spark.createDataFrame([(5, "x")], "id BIGINT, who STRING")
    report = explain(frame.where("p = 1").join(people, "id"))
    assert [other.source for other in report.unexplained] == ["rows of an RDD or of Python"]
    assert len(report.sections) == 1
    with pytest.raises(TableError, match="no Delta, Iceberg or Parquet table is read here"):
        explain(spark.readStream.format("delta").load(lake.orders))
    with pytest.raises(TableError) as nothing:
        explain(people)
    assert nothing.value.code == "LP345"
    assert "rows of an RDD or of Python" in str(nothing.value)


LONG_LISTS = {
    "id": ", ".join(str(number) for number in range(150)),
    "s": ", ".join(f"'b{number}'" for number in range(100, 220)) + ", NULL, 'null', 'a|b'",
    "d": ", ".join(f"date_add(date'2023-03-01', {number})" for number in range(150)),
    "ts": ", ".join(f"timestamp'2023-03-12 00:{number // 60:02}:{number % 60:02}'" for number in range(150)),
    "price": ", ".join(f"{number}.00" for number in range(850, 990)),
    "n": ", ".join(str(number) for number in range(1001, 1150)) + ", NULL",
}


def test_lists_that_spark_keeps_as_sets_are_read_whole(lake: Lake, spark: SparkSession) -> None:
    frame = lake.frame(spark)
    for column, values in [*LONG_LISTS.items()][:: 1 if IS_WHOLE else 2]:
        matching = frame.where(f"{column} IN ({values})")
        files = {row[0] for row in matching.select("_metadata.file_path").distinct().collect()}
        (report,) = explain(matching, explain_why=False).reports
        assert report.confidence.value == "conservative", column
        assert len(files) == report.numbers.kept.files, column


def test_a_table_that_changed_is_explained_as_spark_would_read_it_now(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "table")
    spark.range(10).coalesce(1).write.format("delta").save(path)
    frame = spark.read.format("delta").load(path).where("id < 5")
    spark.range(10).coalesce(1).write.format("delta").mode("append").save(path)
    (section,) = explain(frame).sections
    assert section.report is not None
    assert (section.scan.version, section.report.numbers.kept.files, _ran(frame)[0][0]) == (1, 2, 2)
    shutil.rmtree(path)
    with pytest.raises(TableError) as gone:
        explain(frame)
    assert gone.value.code == "LP346"
    assert "Please redefine your DataFrame" in str(gone.value), "Delta's sentence is shown to its end"
    assert "\tat " not in str(gone.value)


@only_whole
def test_a_table_that_only_spark_can_reach_is_read_by_spark(
    lake: Lake, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = lake.frame(spark).where("year(ts) = 2023 AND p = 1")
    here = explain(frame).to_dict()
    monkeypatch.setattr("lakeprune.apps.dataframes.explain_frame._is_here", lambda _: False)
    there = explain(frame).to_dict()
    assert untimed(here) == untimed(there)


@pytest.mark.usefixtures("lake")
def test_gates_are_judged_on_every_scan(spark: SparkSession) -> None:
    query = "SELECT o.id FROM orders o JOIN events e ON o.id = e.id WHERE o.id < 50 AND e.p = 1"
    report = explain(spark, query, max_files=1)
    assert [[one.passed for one in section.assertions] for section in report.sections] == [[True], [False]]
    assert not report.passed
    assert report.to_dict()["result"] == "fail"
    assert explain(spark, query, max_files=100, max_bytes=10**9).passed
    met = explain(spark, query, assert_stats=True, require_full_attribution=True)
    assert [[one.passed for one in section.assertions] for section in met.sections] == [[True, True], [True, True]]
    unfiltered = explain(spark, "SELECT id FROM orders", min_pruning=1)
    assert not unfiltered.passed


def test_gates_judge_what_spark_plans_and_not_what_metadata_would_allow(lake: Lake, spark: SparkSession) -> None:
    frame = lake.frame(spark).where("id + 1 > 900")
    planned = _ran(frame)[0][0]
    report = explain(frame, min_pruning=50)
    (section,) = report.sections
    assert section.report is not None
    numbers, (engine,) = section.report.numbers, section.report.engines
    assert numbers.kept.files < planned == numbers.total.files, "Delta Spark skips nothing by it"
    assert (engine.name, engine.version, engine.files, engine.basis) == ("Delta Spark", "4.4.0", planned, "planned")
    assert engine.why
    assert not report.passed
    assert section.report.assertions[0].details["actual"] == 0.0
    by_metadata = explain(frame, min_pruning=50, gate_on="metadata")
    assert by_metadata.passed
    counts = f"metadata allows {numbers.kept.files} of {planned}; Delta Spark 4.4.0 plans {planned}"
    assert f"Files:       {counts}\n" in report.to_text().split("=== Scan")[0]
    assert counts in report.to_html()
    (scan,) = report.to_dict()["scans"]
    assert scan["explanation"]["engines"][0]["basis"] == "planned"
    assert not explain(frame, fail_on=["ENGINE_DIFFERS"], explain_why=False).passed


def test_without_data_skipping_in_the_session_gates_judge_by_metadata(lake: Lake, spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.databricks.delta.stats.skipping", "false")
    report = explain(lake.frame(session).where("id < 50"), min_pruning=50)
    assert report.reports[0].engines == ()
    assert report.passed


def test_the_session_stays_as_it_was(lake: Lake, spark: SparkSession) -> None:
    before = {row.key: row.value for row in spark.sql("SET").collect()}
    frame = lake.frame(spark).where("year(ts) = 2023")
    explain(frame)
    assert {row.key: row.value for row in spark.sql("SET").collect()} == before
    assert SparkSession.getActiveSession() is not None
    assert _ran(frame)[0][0] == 12


def test_what_delta_derives_from_a_generated_column_is_believed_only_where_no_time_zone_decides(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path / "generated")
    columns = "ts TIMESTAMP, d DATE, y INT GENERATED ALWAYS AS (year(ts)), m INT GENERATED ALWAYS AS (year(d))"
    unindexed = "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')"
    spark.sql(f"CREATE TABLE delta.`{path}` ({columns}) USING delta PARTITIONED BY (y, m) {unindexed}")
    rows = "(TIMESTAMP'2023-12-31 23:30:00Z', DATE'2024-01-05'), (TIMESTAMP'2024-06-01 00:00:00Z', DATE'2025-06-01')"
    spark.sql(f"INSERT INTO delta.`{path}` (ts, d) VALUES {rows}")
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")  # where the first row is of 2024
    frame = session.read.format("delta").load(path)
    for condition, kept in (("ts >= '2024-01-01' AND ts < '2024-01-02'", {"2023", "2024"}), ("d = '2024-01-05'", {"2023"})):
        (section,) = explain(frame.where(condition), explain_why=False).sections
        assert section.report is not None
        assert any("IS NULL" in one.sql for one in section.scan.filters), "Delta has derived a filter"
        files = [file.path for file in section.report.files if file.verdict.value != "DROP"]
        assert {file.split("/", 1)[0].removeprefix("y=") for file in files} == kept


def test_what_spark_added_by_itself_is_not_held_against_the_query(lake: Lake, spark: SparkSession) -> None:
    frame = lake.frame(spark)
    joined = frame.where("id + 0 * id < 5000").alias("a").join(frame.where("batch >= 0").alias("b"), "id")
    reports = explain(joined).reports
    assert any("id IS NOT NULL" in (report.predicate or "") for report in reports)
    reported = [(one.code, one.clause) for report in reports for one in report.diagnoses or ()]
    assert ("ALWAYS_TRUE", "batch >= 0") in reported, "that one was written"
    assert ("ALWAYS_TRUE", "id IS NOT NULL") not in reported


def test_pages_are_whole_and_escape_what_they_show(lake: Lake, spark: SparkSession) -> None:
    report = explain(lake.frame(spark).where("s = '<script>x</script>' AND p = 1"))
    for page in (report.to_html(), report._repr_html_()):
        assert "&lt;script&gt;x" in page
        assert "<script>x" not in page
    assert report.to_html().startswith("<!doctype html>")
    assert "Scan 1" in report._repr_html_()
    assert repr(report) == f"<DataFrameReport on 1 scan: {lake.orders} version 1, 12 -> 0 files>"


STATEMENTS: dict[str, Callable[[Lake], str]] = {
    "DELETE": lambda lake: f"DELETE FROM delta.`{lake.orders}`",
    "INSERT": lambda lake: f"INSERT INTO delta.`{lake.orders}` SELECT * FROM orders",
    "WITH INSERT": lambda lake: f"WITH w AS (SELECT * FROM orders) INSERT INTO delta.`{lake.orders}` SELECT * FROM w",
    "EXECUTE IMMEDIATE": lambda lake: f"EXECUTE IMMEDIATE 'DELETE FROM delta.`{lake.orders}`'",
    "script": lambda lake: f"BEGIN DELETE FROM delta.`{lake.orders}`; END",
    "CREATE TABLE AS": lambda lake: f"CREATE TABLE delta.`{lake.orders}2` USING delta AS SELECT * FROM orders",
    "MERGE": lambda lake: f"MERGE INTO delta.`{lake.orders}` t USING orders s ON t.id = s.id WHEN MATCHED THEN DELETE",
    "SET": lambda _: "SET spark.sql.ansi.enabled = false",
    "EXPLAIN": lambda _: "EXPLAIN SELECT * FROM orders",
}


@pytest.mark.parametrize("kind", STATEMENTS)
def test_a_statement_is_refused_and_changes_nothing(kind: str, lake: Lake, spark: SparkSession) -> None:
    ansi = spark.conf.get("spark.sql.ansi.enabled")
    with pytest.raises(UsageError) as refused:
        explain(spark, STATEMENTS[kind](lake))
    assert refused.value.code == "LP242"
    assert spark.sql(f"DESCRIBE HISTORY delta.`{lake.orders}`").count() == 2
    assert lakeprune.explain(lake.orders).numbers.total.files == 12
    assert spark.conf.get("spark.sql.ansi.enabled") == ansi
    with pytest.raises(TableError):
        lakeprune.explain(f"{lake.orders}2")


def test_what_cannot_be_explained_says_why_in_one_line(
    lake: Lake, spark: SparkSession, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TableError) as unknown:
        explain(spark, "SELECT * FROM no_such_table")
    assert unknown.value.code == "LP348"
    assert "\tat " not in str(unknown.value)
    assert "\tat " not in capfd.readouterr().err
    for wrong in (("orders",), (spark,), (lake.frame(spark), "SELECT 1")):
        with pytest.raises(UsageError) as usage:
            explain(*wrong)
        assert usage.value.code == "LP241"
    with pytest.raises(UsageError) as zoned:
        explain(lake.frame(spark), timezone="UTC")
    assert zoned.value.code == "LP245"
    with pytest.raises(TypeError, match="has no option 'where'"):
        explain(lake.frame(spark), where="id = 1")  # type: ignore[call-arg]
