"""Expressions over partition columns that only Spark knows: evaluated by it, exactly, when it is the engine."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.engines.engine import Truth, Typed
from lakeprune.engines.spark.conditions import Conditions
from lakeprune.engines.spark.engine import SparkEngine, clone
from lakeprune.formats.delta.spark_scan import scan_of
from tests.scope import IS_WHOLE

pytestmark = pytest.mark.spark
EXPRESSIONS = [
    "soundex(region) = 'E000'",
    "levenshtein(region, 'EU') <= 1",
    "NOT (soundex(region) = 'E000')",
    "bin(n) = '10' OR region = 'EU'",
    "soundex(region) = 'U200' AND id >= 0",
    "crc32(region) % 2 = 0",
    "`a-b` & 1 = 1 AND soundex(region) IS NOT NULL",
    "soundex(region) IS NULL",
    "size(array(region, 'x')) = 2 AND array_contains(array(1, 3), n)",
    # known to lakeprune, and not evaluated by it with these arguments
    "NOT (date_format(day, 'EEE') = 'Fri')",
    "round(n / 2) = 1 OR date_format(day, 'MMM') = 'Feb'",
    "day IN (date_from_unix_date(unix_date(day))) AND soundex(region) <> 'x'",
]  # fmt: skip


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("truths") / "t"
    values = "('EU', DATE '2025-01-03', 1), ('US', DATE '2025-01-04', 2), ('APAC', DATE '2025-02-03', 3), (NULL, NULL, 4)"
    frame = spark.sql(
        f"SELECT id, region, day, CAST(n AS INT) AS n, n AS `a-b` FROM VALUES {values} AS t(region, day, n), range(2)"
    )
    frame.coalesce(1).write.format("delta").partitionBy("region", "day", "n", "a-b").save(str(path))
    return str(path)


@pytest.mark.parametrize("where", EXPRESSIONS if IS_WHOLE else EXPRESSIONS[8:9])
def test_the_files_are_those_that_spark_plans(table: str, spark: SparkSession, where: str) -> None:
    rows = spark.read.format("delta").load(table)
    matching = {row.f for row in rows.where(where).selectExpr("_metadata.file_name AS f").distinct().collect()}
    report = lakeprune.explain(table, where, spark=spark)
    kept = {file.path.rsplit("/", 1)[-1] for file in report.files if file.kept}
    assert matching == kept
    assert len(kept) == scan_of(spark, table, 0, where).files
    assert lakeprune.explain(table, where).numbers.kept.files >= len(kept)


@pytest.mark.parametrize(
    "where", ["soundex(region) = 'E000' AND rand() < 2", "soundex(uuid()) = region", "n = monotonically_increasing_id()"]
)
def test_what_is_not_deterministic_is_refused(table: str, spark: SparkSession, where: str) -> None:
    report = lakeprune.explain(table, where, spark=spark)
    assert report.numbers.kept.files == (1 if "E000" in where else 4)


def test_a_value_on_which_spark_fails_keeps_its_files(table: str, spark: SparkSession) -> None:
    ansi = clone(spark)
    ansi.conf.set("spark.sql.ansi.enabled", "true")
    guarded, where = "soundex(region) = 'A120' AND element_at(array('a', 'b'), n) = 'a'", "element_at(array('a', 'b'), n) = 'a'"
    report, strict = lakeprune.explain_many(table, [guarded, where], spark=ansi)
    assert [file.partition_values["n"] for file in report.files if file.kept] == ["3"]
    lenient = clone(spark)
    lenient.conf.set("spark.sql.ansi.enabled", "false")
    assert [file.partition_values["n"] for file in lakeprune.explain(table, where, spark=lenient).files if file.kept] == ["1"]
    assert sorted(file.partition_values["n"] or "" for file in strict.files if file.kept) == ["1", "3", "4"]
    reasons = {file.partition_values["n"]: file.reason.value for file in strict.files if file.reason is not None}
    assert reasons == {"1": "ALL_ROWS_MATCH", "3": "EVALUATION_FAILED", "4": "EVALUATION_FAILED"}


def test_what_spark_evaluated_is_a_fact(table: str, spark: SparkSession) -> None:
    where = "date_format(day, 'EEE') = 'Fri'"
    assert "not evaluated:" in lakeprune.explain(table, where).to_text()
    shown = lakeprune.explain(table, where, spark=spark).to_text()
    assert "Reads 1 of 4 files" in shown
    assert "not evaluated:" not in shown


@pytest.mark.parametrize("where", ["regexp_count(region, '(U+)+$') = 1", "soundex(split(region, '(U+)+$')[0]) = 'E000'"])
def test_patterns_are_not_left_to_java(table: str, spark: SparkSession, where: str) -> None:
    """On a longer value such a pattern would never end. Spark itself keeps one file."""
    assert scan_of(spark, table, 0, where).files == 1
    report = lakeprune.explain(table, where, spark=spark)
    assert report.numbers.kept.files == 4
    assert {file.reason.value for file in report.files if file.reason is not None} == {"NOT_DECIDABLE"}


def test_rows_that_fail_are_found_among_many(spark: SparkSession) -> None:
    session = clone(spark)
    session.conf.set("spark.sql.ansi.enabled", "true")
    condition = Typed("CAST(s AS INT) > 3", (("s", "STRING"),), "UTC")
    rows = [[str(number)] for number in range(20)]
    rows[7] = ["x"]
    found = Conditions(session).truths(condition, [*rows, [None]])
    expected = [Truth.TRUE if number > 3 else Truth.FALSE for number in range(20)]
    expected[7] = Truth.FAILED
    assert found == [*expected, Truth.NULL]


@pytest.mark.parametrize(("kind", "text", "condition"), [
    ("TINYINT", "-7", "v = -7Y"), ("BIGINT", "9223372036854775807", "v = 9223372036854775807L"), ("BOOLEAN", "true", "v"),
    ("DOUBLE", "NaN", "isnan(v)"), ("DOUBLE", "-Infinity", "v = double('-Infinity')"), ("DECIMAL(38,3)", "1.250", "v = 1.25BD"),
    ("DATE", "0001-01-01", "v = DATE '0001-01-01'"), ("BINARY", "00ff", "v = X'00FF'"), ("STRING", "a'b\\", "length(v) = 4"),
    ("TIMESTAMP", "2024-03-10 10:30:00.000001Z", "v = timestamp_micros(1710066600000001)"),
    ("TIMESTAMP_NTZ", "2024-03-10 02:30:00.000000", "v = TIMESTAMP_NTZ '2024-03-10 02:30:00'"),
])  # fmt: skip
def test_values_arrive_as_they_are(spark: SparkSession, kind: str, text: str, condition: str) -> None:
    asked = Typed(condition, (("v", kind),), "America/Los_Angeles")
    engine = SparkEngine(spark)
    assert engine.evaluates(asked)
    assert engine.truths(asked, [[text], [None]])[0] is Truth.TRUE


@pytest.mark.parametrize("sql", ["v + 1", "no_such_function(v) = 1", "no_such_column = 1", "v = rand()", "v > (SELECT 1"])
def test_what_is_not_a_condition_is_refused(spark: SparkSession, sql: str) -> None:
    assert not SparkEngine(spark).evaluates(Typed(sql, (("v", "INT"),), "UTC"))
