"""What the rows of a table really say about a predicate, file by file, through Delta's own Spark connector.

In: a session that has Delta, a table at a version, the predicate as the user wrote it. Out: a view with one row per file: its
URL, its live rows, its matching rows. Deletion vectors, column mapping, partition columns and widened types are the connector's
business. Only the predicate's columns are read, each file once, and nothing but the view's name comes to the driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from lakeprune.engines.spark_engine import clone
from lakeprune.errors import LakepruneError, PredicateError, TableError, UsageError
from lakeprune.record import record

_NUMBERS = count(1)


@record
class Question:
    """A predicate as Spark is asked it: on this table, at this version, in this zone."""

    location: str
    version: int
    where: str
    zone: str


@contextmanager
def truth_view(spark: SparkSession, question: Question) -> Iterator[str]:
    """The name of a view with the columns url, live, matching; it lasts as long as the block."""
    name = f"lakeprune_truth_{next(_NUMBERS)}"
    with _speaking(question):
        counted = _counted(spark, question).persist()
        counted.count()  # now, in the session that has the question's zone: another one joins it
        counted.createGlobalTempView(name)
    try:
        yield f"global_temp.{name}"
    finally:
        with _speaking(question):
            spark.catalog.dropGlobalTempView(name)
            counted.unpersist()


def files_delta_reads(spark: SparkSession, question: Question) -> int:
    """How many files Delta Spark itself plans to read for the same predicate. Nothing is executed."""
    with _speaking(question):
        return len(_table(spark, question).where(question.where).inputFiles())


def _counted(spark: SparkSession, question: Question) -> DataFrame:
    # The line break ends a comment that the predicate may end with.
    rows = _table(spark, question).selectExpr("_metadata.file_path AS url", f"({question.where}\n) AS matches")
    return rows.groupBy("url").agg(sql.count(sql.lit(1)).alias("live"), sql.count_if("matches").alias("matching"))


def _table(spark: SparkSession, question: Question) -> DataFrame:
    session = clone(spark)
    session.conf.set("spark.sql.session.timeZone", question.zone)
    return session.read.format("delta").option("versionAsOf", question.version).load(question.location)


@contextmanager
def _speaking(question: Question) -> Iterator[None]:
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise _failure(error, question) from error


def _failure(error: PySparkException | Py4JError, question: Question) -> LakepruneError:
    words = str(getattr(error, "java_exception", error)).strip().split("\n", 1)[0]
    if "[DATA_SOURCE_NOT_FOUND]" in words:  # over Spark Connect this is no AnalysisException
        fix = "give --packages io.delta:delta-spark_4.1_2.13:4.4.0, or a session or server that has Delta"
        return UsageError("LP227", "this Spark session has no Delta connector", why=words, fix=fix)
    if not isinstance(error, AnalysisException) or (error.getCondition() or "").startswith(("PATH_NOT_FOUND", "DELTA_")):
        fix = "check that Spark can read the data files; --spark-log ERROR shows all that it says"
        return TableError("LP340", "the table's rows cannot be read", where=question.location, why=words, fix=fix)
    return PredicateError("LP107", "Spark cannot evaluate the predicate", where=question.where, why=words)
