"""What the rows of a table hold, file by file, through Delta's own Spark connector.

In: a session that has Delta, a table at a version, the predicate as the user wrote it, the files to open unless all are. Out: a
relation with one row per file: its key, its live rows, its matching rows. Deletion vectors, column mapping, partition columns
and widened types are the connector's business. Only the predicate's columns are read, each file once, and no row of it comes to
the driver.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count

from msgspec import Struct
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from lakeprune.apps.verify.model import DeltaSpark
from lakeprune.engines.spark.engine import clone
from lakeprune.engines.spark.failures import row_errors
from lakeprune.engines.spark.files import FILE, has_jvm, read_files, with_file
from lakeprune.errors import TableError
from lakeprune.formats.delta.spark_scan import planned_scan
from lakeprune.programs.compare import Logged

_NUMBERS = count(1)


class Rows(Struct, frozen=True):
    """Rows as Spark is asked for them: of this table, at this version, in this zone, of these files unless of all."""

    spark: SparkSession
    location: str
    version: int
    zone: str
    paths: Sequence[str] | None


def rows_to_check(spark: SparkSession, files: Logged, version: int, zone: str, share: float | None) -> Rows:
    """The rows of the files to check."""
    location = files.evaluation.snapshot.facts.location
    return Rows(spark, location, version, zone, None if share is None else files.paths())


def matches_found(rows: Rows, where: str, files: Logged) -> AbstractContextManager[str]:
    """A relation with the columns file, live, matching; it lasts as long as the block."""
    # The line break ends a comment that the predicate may end with.
    return found_in(rows, [f"({where}\n) AS matches"], [sql.count_if("matches").alias("matching")], files, where)


@contextmanager
def found_in(
    rows: Rows, items: Sequence[str], totals: Sequence[Column], files: Logged, where: str | None = None
) -> Iterator[str]:
    """A relation with these totals over items of the rows, and `live`, by file; it lasts as long as the block."""
    name = f"lakeprune_truth_{next(_NUMBERS)}"
    with row_errors(rows.location, where):
        by_file = with_file(rows_of(rows)).selectExpr(f"{FILE} AS url", *items).groupBy("url")
        kept = by_file.agg(sql.count(sql.lit(1)).alias("live"), *totals).persist()
        kept.count()  # now, in the session that has the question's zone: another one joins it
        kept.createGlobalTempView(name)
    try:
        found = files.keyed(f"global_temp.{name}")
        if missing := files.files_missing_from_log(found):
            what = f"{missing} files that Delta Spark reads are not among the files of the log"
            why = "their paths could not be matched, so nothing is known about them"
            raise TableError("LP341", what, where=rows.location, why=why)
        yield found
    finally:
        with row_errors(rows.location, where):
            rows.spark.catalog.dropGlobalTempView(name)
            kept.unpersist()


def planned_by_delta(rows: Rows, where: str) -> DeltaSpark:
    """What Delta Spark itself plans to read for the same predicate. No data file is opened.

    Over Spark Connect, and when the session has turned skipping off, only the list of files can be had.
    """
    with row_errors(rows.location, where):
        frame = _table(rows).where(where)
        if not has_jvm(rows.spark) or rows.spark.conf.get("spark.databricks.delta.stats.skipping", "true") != "true":
            return DeltaSpark(len(frame.inputFiles()), None)
        planned = planned_scan(frame)
        return DeltaSpark(planned.files, planned.bytes)


def rows_of(rows: Rows) -> DataFrame:
    """The rows, in a session of their own whose zone is the question's."""
    with row_errors(rows.location):
        return _table(rows) if rows.paths is None else read_files(_session(rows), _place(rows), rows.version, rows.paths)


def _table(rows: Rows) -> DataFrame:
    return _session(rows).read.format("delta").option("versionAsOf", rows.version).load(_place(rows))


def _place(rows: Rows) -> str:
    """Where Spark finds the table: a JVM keeps the working directory it was started in, this process may have moved on."""
    is_local = "://" not in rows.location and has_jvm(rows.spark)
    return os.path.abspath(rows.location) if is_local else rows.location


def _session(rows: Rows) -> SparkSession:
    session = clone(rows.spark)
    session.conf.set("spark.sql.session.timeZone", rows.zone)
    return session
