"""What the rows of a table really say about a predicate, file by file, through Delta's own Spark connector.

In: a session that has Delta, a table at a version, the predicate as the user wrote it, the files to open unless all are. Out: a
view with one row per file: its URL, its live rows, its matching rows. Deletion vectors, column mapping, partition columns and
widened types are the connector's business. Only the predicate's columns are read, each file once, and nothing but the view's
name comes to the driver.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count

from msgspec import Struct
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from lakeprune.engines.spark.engine import clone
from lakeprune.engines.spark.failures import evaluation_failure, rows_failure, unlogged
from lakeprune.engines.spark.files import FILE, has_jvm, read_files, with_file
from lakeprune.formats.delta.spark_scan import planned_scan

_NUMBERS = count(1)


class Rows(Struct, frozen=True):
    """Rows as Spark is asked for them: of this table, at this version, in this zone, of these files unless of all."""

    location: str
    version: int
    zone: str
    paths: Sequence[str] | None = None


@contextmanager
def truth_view(spark: SparkSession, rows: Rows, where: str) -> Iterator[str]:
    """The name of a view with the columns url, live, matching; it lasts as long as the block."""
    with _speaking(rows, where):
        counted = _counted(spark, rows, where)
    with kept_view(spark, counted, rows, where) as name:
        yield name


@contextmanager
def kept_view(spark: SparkSession, frame: DataFrame, rows: Rows, where: str | None = None) -> Iterator[str]:
    """A view over what the frame gives now, in its own session; it lasts as long as the block."""
    name = f"lakeprune_truth_{next(_NUMBERS)}"
    with _speaking(rows, where):
        kept = frame.persist()
        kept.count()  # now, in the session that has the question's zone: another one joins it
        kept.createGlobalTempView(name)
    try:
        yield f"global_temp.{name}"
    finally:
        with _speaking(rows, where):
            spark.catalog.dropGlobalTempView(name)
            kept.unpersist()


def planned_by_delta(spark: SparkSession, rows: Rows, where: str) -> tuple[int, int | None]:
    """How many files and bytes Delta Spark itself plans to read for the same predicate. No data file is opened.

    Bytes are None where only the list of files can be had: over Spark Connect, and when the session has turned skipping off.
    """
    with _speaking(rows, where):
        frame = _table(spark, rows).where(where)
        if not has_jvm(spark) or spark.conf.get("spark.databricks.delta.stats.skipping", "true") != "true":
            return len(frame.inputFiles()), None
        planned = planned_scan(frame)
        return planned.files, planned.bytes


def rows_of(spark: SparkSession, rows: Rows) -> DataFrame:
    """The rows, in a session of their own whose zone is the question's."""
    with _speaking(rows, None):
        if rows.paths is None:
            return _table(spark, rows)
        return read_files(_session(spark, rows), _place(spark, rows), rows.version, rows.paths)


def _counted(spark: SparkSession, rows: Rows, where: str) -> DataFrame:
    # The line break ends a comment that the predicate may end with.
    judged = with_file(rows_of(spark, rows)).selectExpr(f"{FILE} AS url", f"({where}\n) AS matches")
    return judged.groupBy("url").agg(sql.count(sql.lit(1)).alias("live"), sql.count_if("matches").alias("matching"))


def _table(spark: SparkSession, rows: Rows) -> DataFrame:
    return _session(spark, rows).read.format("delta").option("versionAsOf", rows.version).load(_place(spark, rows))


def _place(spark: SparkSession, rows: Rows) -> str:
    """Where Spark finds the table: a JVM keeps the working directory it was started in, this process may have moved on."""
    is_local = "://" not in rows.location and has_jvm(spark)
    return os.path.abspath(rows.location) if is_local else rows.location


def _session(spark: SparkSession, rows: Rows) -> SparkSession:
    session = clone(spark)
    session.conf.set("spark.sql.session.timeZone", rows.zone)
    return session


@contextmanager
def _speaking(rows: Rows, where: str | None) -> Iterator[None]:
    try:
        with unlogged():
            yield
    except (PySparkException, Py4JError) as error:
        if where is None:
            raise rows_failure(error, rows.location) from error
        raise evaluation_failure(error, rows.location, where) from error
