"""Plain Parquet files as Spark writes and reads them: no file with a row that Spark finds is dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from pyspark.sql import SparkSession

import lakeprune
from tests.builders.untimed import untimed
from tests.formats.parquet.files import write
from tests.formats.parquet.test_locations import GUESSED
from tests.scope import IS_WHOLE

pytestmark = pytest.mark.spark

ROWS = """
SELECT id, CAST(id % 3 AS INT) AS number, CASE id % 4 WHEN 0 THEN 'New York' WHEN 1 THEN 'a/b:c%' WHEN 2 THEN 'Größe' END AS city,
       CAST(id * 1.5 AS DOUBLE) AS d, CAST(id AS DECIMAL(20, 3)) AS m, concat('name ', id) AS s,
       timestamp_micros(1700000000000000 + id * 1000001) AS ts, date_add(DATE '2024-01-01', CAST(id AS INT)) AS day,
       CAST(timestamp_micros(id) AS TIMESTAMP_NTZ) AS local, struct(id AS inner) AS nested
FROM range(0, 40, 1, 4)
"""
PREDICATES = [
    "number = 1",
    "city = 'a/b:c%'",
    "city = 'Größe' AND id < 10",
    "city IS NULL",
    "d < 3",
    "m <= 3.000",
    "s = 'name 17'",
    "day BETWEEN '2024-02-01' AND '2024-02-03'",
    "local = '1970-01-01 00:00:00.000007'",
    "nested.inner = 12",
]


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("parquet") / "t"
    spark.sql(ROWS).write.partitionBy("number", "city").parquet(str(place))
    return place


@pytest.mark.parametrize("where", PREDICATES)
def test_what_spark_finds_is_kept(spark: SparkSession, folder: Path, where: str) -> None:
    found = spark.read.parquet(str(folder)).where(where).select("_metadata.file_path").distinct().collect()
    needed = {unquote(urlsplit(path).path) for (path,) in found}
    report = lakeprune.explain(folder, where, nan_policy="strict")
    kept = {str(folder / file.path) for file in report.files if file.kept}
    assert needed
    assert needed <= kept
    assert len(kept) < report.numbers.total.files


@pytest.mark.parametrize(("texts", "where"), [*GUESSED, (["2024-01"], "p < '2024-01-01'"), (["2024-1-5"], "p = '2024-1-5'")])
def test_values_of_folders_that_spark_finds_are_kept(spark: SparkSession, tmp_path: Path, texts: list[str], where: str) -> None:
    """T97: numbers and times to Spark, text to others; short dates are text."""
    for text in texts:
        write(tmp_path / f"t/p={text}/f.parquet", {"id": [1]})
    assert spark.read.parquet(str(tmp_path / "t")).where(where).count() >= 1
    kept = {file.path for file in lakeprune.explain(tmp_path / "t", where, timezone="UTC").files if file.kept}
    assert f"p={texts[-1]}/f.parquet" in kept


def test_days_of_the_julian_calendar_are_kept(spark: SparkSession, tmp_path: Path) -> None:
    """T95: what Spark's legacy mode records is up to ten days later than what Spark reads, and by the writer's own zone."""
    settings = {
        "spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    }
    session = spark.newSession()
    for key, value in (settings | {"spark.sql.session.timeZone": "America/Los_Angeles"}).items():
        session.conf.set(key, value)
    early = "SELECT DATE'1500-01-01' AS d, TIMESTAMP'1500-01-01 00:00:00' AS t, TIMESTAMP'1850-01-01 00:00:00' AS u"
    both: list[Any] = [{}, {"spark": spark}]
    session.sql(early).write.parquet(str(tmp_path / "t"))
    wheres = ("d = DATE'1500-01-01'", "t = TIMESTAMP'1500-01-01 00:00:00'", "u = TIMESTAMP'1850-01-01 00:00:00'")
    for where in wheres:
        assert session.read.parquet(str(tmp_path / "t")).where(where).count() == 1, where
    for engine in both:
        reports = lakeprune.explain_many(tmp_path / "t", wheres, row_groups=True, timezone="America/Los_Angeles", **engine)
        assert [report.numbers.kept.files for report in reports] == [1, 1, 1]


@pytest.mark.parametrize("where", ["ts < '2023-11-14T22:13:25Z'", "d > 55"], ids=["INT96", "NaN is not counted"])
def test_what_spark_does_not_record_is_kept(folder: Path, where: str) -> None:
    report = lakeprune.explain(folder, where, nan_policy="strict")
    assert report.numbers.kept.files == report.numbers.total.files


SETTINGS: dict[str, Any] = {"timezone": "UTC", "now": "2024-01-31"}


@pytest.fixture(scope="module")
def documents(spark: SparkSession, folder: Path) -> dict[str, list[Any]]:
    """Of the embedded engine and of Spark, for each predicate; all are asked at once."""
    both: list[Any] = [{}, {"spark": spark}]
    reports = [lakeprune.explain_many(folder, PREDICATES, **SETTINGS, **engine) for engine in both]
    return {
        where: [untimed(one.to_dict(verbose=True)) for one in pair] for where, *pair in zip(PREDICATES, *reports, strict=True)
    }


@pytest.mark.parametrize("options", [{}, {"row_groups": True}], ids=["files", "row groups"])
@pytest.mark.parametrize("where", PREDICATES)
def test_spark_gives_the_document_of_the_embedded_engine(
    spark: SparkSession, folder: Path, where: str, options: dict[str, bool], documents: dict[str, list[Any]]
) -> None:
    """Footers are read on executors, partition values taken from folders as without Spark."""
    embedded, by_spark = documents[where]
    if options:
        if not IS_WHOLE:
            pytest.skip("row groups of every predicate in make conformance")
        embedded = untimed(lakeprune.explain(folder, where, **SETTINGS, row_groups=True).to_dict(verbose=True))
        found = lakeprune.explain(folder, where, spark=spark, **SETTINGS, row_groups=True)
        by_spark = untimed(found.to_dict(verbose=True))
    assert by_spark == embedded


def test_a_damaged_footer_is_the_same_error_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 this is not a footer PAR1")
    both: list[Any] = [{}, {"spark": spark}]
    for options in both:
        with pytest.raises(lakeprune.TableError, match="the footer of a Parquet file cannot be read") as caught:
            lakeprune.explain(tmp_path, "id = 1", **options)
        assert (caught.value.code, caught.value.where) == ("LP306", str(tmp_path / "a.parquet"))
