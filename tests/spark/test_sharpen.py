"""`sharpen`: Spark's own metrics show the files that metadata asks for, the rows are the same, and nothing else is touched."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

import lakeprune
from lakeprune.engines.spark.nodes import class_name, descendants
from lakeprune.errors import UsageError
from lakeprune.spark import read, sharpen, sharpening
from tests.scope import IS_WHOLE
from tests.spark.test_delta_spark_model import SHAPES
from tests.spark.test_sharpen_random import answer
from tools.markdown import code_blocks
from tools.repository import ROOT

pytestmark = pytest.mark.spark
# What Delta Spark reads all or too much of and metadata decides: a share here, every shape in `make conformance`.
SHARE = (
    "id IN (5, 1995)", "(p = 1 AND id < 300) OR (p = 2 AND id > 1700)", "date_format(ts, 'yyyy-MM') = '2023-05'",
    "NOT (i IN (3, 4))", "s RLIKE '^b'", "if(id < 100, 1, 0) = 1",
)  # fmt: skip
EXTRA = ("struct(id, i) = struct(505L, 5)", "z = 1505 AND id > 1400 AND id + 1 < 1602")  # beside those of the model
# No condition says what columns have to do with each other; and where a writer hides a NaN, Delta would not look for it.
WITHOUT_A_CONDITION = ("id > a", "id = a", "id = i", "n > a", "n = v", "n != dec", "id >= i * 100", "isnan(v)")


@pytest.fixture(scope="module")
def names(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    place = str(tmp_path_factory.mktemp("sharpen") / "names")
    spark.sql("SELECT id, concat('n', id) AS name, CAST(id AS INT) AS small FROM range(0, 2000)").coalesce(1).write.format(
        "delta"
    ).save(place)
    return place


@pytest.mark.parametrize("where", (*SHAPES, *EXTRA) if IS_WHOLE else SHARE)
def test_spark_reads_the_files_that_metadata_asks_for(where: str, t20: Path, spark: SparkSession) -> None:
    frame = spark.read.format("delta").load(str(t20)).where(where)
    found = sharpening(frame)
    expected, before = ran(frame)
    rows, after = ran(found.frame)
    needed = lakeprune.explain(t20, where, timezone="UTC").numbers.kept.files
    assert rows == expected
    assert after <= (before if where in WITHOUT_A_CONDITION else needed)
    for one in found.added:  # as Delta plans; of these Spark leaves out what it sees by partitions itself
        assert one.files_before >= before
        assert one.files_after >= after
    assert IS_WHOLE or after < before


QUERIES = {
    "a view with computed columns": ("SELECT y, x FROM (SELECT year(ts) AS y, id AS x FROM t) WHERE y = 2024 AND x > 1", 10),
    "a WITH that is used twice": (
        "WITH w AS (SELECT * FROM t) SELECT id FROM w WHERE year(ts) = 2024 UNION ALL SELECT id FROM w WHERE id IN (5, 1995)", 22,
    ),
    "a self-join": ("SELECT a.id FROM t a JOIN t b ON a.id = b.id + 1 WHERE a.id IN (5, 1995) AND year(b.ts) = 2024", 2 + 10),
    "a scalar subquery": ("SELECT (SELECT max(id) FROM t WHERE id + 1 = 506) AS m", 1),
    "an outer join": ("SELECT * FROM n LEFT JOIN t ON t.id = n.id AND id + 1 = 506 WHERE n.id < 3", None),
}  # fmt: skip


QUERIES_OF_THE_SHARE = ("a WITH that is used twice", "a scalar subquery", "an outer join")


@pytest.mark.parametrize("query", QUERIES if IS_WHOLE else QUERIES_OF_THE_SHARE)
def test_a_query_has_the_same_rows(query: str, t20: Path, names: str, spark: SparkSession) -> None:
    text, files = QUERIES[query]
    session = spark.newSession()
    session.read.format("delta").load(str(t20)).createOrReplaceTempView("t")
    session.read.format("delta").load(names).createOrReplaceTempView("n")
    frame = session.sql(text.replace("AND id + 1", "AND t.id + 1"))
    expected, before = ran(frame)
    rows, after = ran(sharpen(frame))
    assert rows == expected
    assert after == files if files is not None else after < before


JOINS = {
    "a condition on the small side": ("SELECT * FROM t JOIN n USING (id) WHERE name IN ('n5', 'n705')", 2),
    "another type of key": ("SELECT t.id FROM t JOIN n ON t.id = n.small WHERE n.small BETWEEN 100 AND 110", 1),
    "IN a query": ("SELECT * FROM t WHERE id IN (SELECT id FROM n WHERE name = 'n77')", 1),
    "IN a query without a table": ("SELECT * FROM t WHERE id IN (SELECT 505)", 1),
    "rows in memory": ("SELECT t.id FROM t JOIN (VALUES (5L), (1201L), (NULL)) AS v(k) ON t.id = v.k", 2),
    "every row of the table is kept": ("SELECT t.id, name FROM t LEFT JOIN n ON t.id = n.id AND n.name = 'n77'", 21),
    "rows without a partner": ("SELECT t.id FROM t LEFT ANTI JOIN n ON t.id = n.id AND n.id < 1000", 21),
}


JOINS_OF_THE_SHARE = ("another type of key", "IN a query", "rows in memory", "every row of the table is kept")


@pytest.mark.parametrize("join", JOINS if IS_WHOLE else JOINS_OF_THE_SHARE)
def test_a_join_gains_the_keys_of_its_small_side(join: str, t20: Path, names: str, spark: SparkSession) -> None:
    text, files = JOINS[join]
    session = spark.newSession()
    session.read.format("delta").load(str(t20)).createOrReplaceTempView("t")
    session.read.format("delta").load(names).createOrReplaceTempView("n")
    frame = session.sql(text)
    rows, after = ran(sharpen(frame, joins=True))
    assert rows == answer(frame)
    assert after == files


def test_the_rows_of_a_small_side_are_those_that_were_measured(t20: Path, tmp_path: Path, spark: SparkSession) -> None:
    keys = tmp_path / "keys"
    spark.sql("SELECT 5L AS k").write.format("delta").save(str(keys))
    table = spark.read.format("delta").load(str(t20))
    frame = table.join(spark.read.format("delta").load(str(keys)), sql.expr("id = k"))
    found = sharpen(frame, joins=True)
    spark.sql("SELECT 1995L AS k").write.format("delta").mode("append").save(str(keys))
    assert [row["id"] for row in found.collect()] == [5], "never 1995 looked for in the file of 5"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT * FROM t WHERE year(ts) = 2024 AND ts < current_timestamp()", "the clock"),
        ("SELECT *, monotonically_increasing_id() AS n FROM t WHERE year(ts) = 2024", "other values each time"),
        ("SELECT * FROM t TABLESAMPLE (50 PERCENT) REPEATABLE (1) WHERE year(ts) = 2024", "other values each time"),
        ("SELECT * FROM t WHERE length(s) = 3", "say nothing about length"),
    ],
)
def test_what_cannot_be_sharpened_is_named_and_stays(query: str, why: str, t20: Path, spark: SparkSession) -> None:
    session = spark.newSession()
    session.read.format("delta").load(str(t20)).createOrReplaceTempView("t")
    frame = session.sql(query)
    found = sharpening(frame)
    assert found.frame is frame
    assert found.added == ()
    assert any(why in one.why for one in found.refused)


def test_a_cached_frame_and_a_stream_stay_as_they_are(t20: Path, spark: SparkSession) -> None:
    frame = spark.read.format("delta").load(str(t20)).where("year(ts) = 2024").cache()
    try:
        found = sharpening(frame.where("id % 2 = 0"))
        assert [one.why for one in found.refused] == ["its rows come from a cache"]
        assert found.added == ()
    finally:
        frame.unpersist()
    stream = spark.readStream.format("delta").load(str(t20)).where("year(ts) = 2024")
    assert sharpening(stream).frame is stream


def test_columns_of_the_frame_are_those_of_the_sharpened_one(t20: Path, spark: SparkSession) -> None:
    frame = spark.read.format("delta").load(str(t20)).where("year(ts) = 2024").select("id", sql.col("s").alias("text"))
    found = sharpen(frame)
    assert found.schema == frame.schema
    assert found.where(frame["id"] == 1001).count() == frame.where(frame["id"] == 1001).count() == 1


def test_a_later_commit_is_seen(tmp_path: Path, spark: SparkSession) -> None:
    place = str(tmp_path / "grows")
    spark.range(0, 100, 1, 4).write.format("delta").save(place)
    found = sharpen(spark.read.format("delta").load(place).where("id + 1 IN (6, 96, 1006)"))
    assert found.count() == 2
    spark.range(1000, 1010).write.format("delta").mode("append").save(place)
    assert found.select("id").count() == 3


def test_a_table_is_read_by_its_path_or_name(t20: Path, spark: SparkSession) -> None:
    frame = read(spark, str(t20), where="year(ts) = 2024")
    assert ran(frame)[1] == 10
    assert ran(read(spark, f"delta.`{t20}`", where="id IN (5, 1995)"))[1] == 2
    assert read(spark, t20).count() == 2000


def test_the_sessions_of_the_page_print_what_it_shows(t20: Path, spark: SparkSession) -> None:
    page = (ROOT / "docs/concepts/sharpen.md").read_text(encoding="utf-8")
    text = "\n".join(block.text for block in code_blocks(page) if block.language == "pycon")
    test = doctest.DocTestParser().get_doctest(text, {"spark": spark, "sales": str(t20)}, "sharpen.md", None, 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.summarize(verbose=False) == (0, text.count(">>>"))


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot be sharpened"):
        sharpening("SELECT 1")  # type: ignore[arg-type]


def ran(frame: DataFrame) -> tuple[list[str], int]:
    """The rows, and the files that Spark says it has read for them."""
    shown = frame.selectExpr("to_json(struct(*)) AS row")
    rows = sorted(row[0] for row in shown.collect())
    nodes = descendants(shown._jdf.queryExecution().executedPlan())
    scans = {node.toString(): node for node in nodes if class_name(node) == "FileSourceScanExec"}
    return rows, sum(node.metrics().apply("numFiles").value() for node in scans.values())
