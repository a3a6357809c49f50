"""What the rows of a table hold, file by file, through its format's own Spark connector: matches of a predicate, or values of
columns.

In: a session that has the connector, a table at a version, the predicate as the user wrote it or columns, the files to open
unless all are. No filter is pushed down: every row is read, and the predicate is computed for it, since connectors lose rows by
filters of their own (Iceberg's NaN and -0.0). Out: a relation with one row per file: its key, its live rows, and its matching
rows or the columns t{k}_... that programs/audit.py describes, in the carriers that bounds have. Deletes, column mapping,
partition columns and widened types are the connector's business. Only the columns that are asked for are read, each file once; no
row comes to the driver.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count

from msgspec import Struct
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from lakeprune.apps.verify.model import SparkPlan
from lakeprune.engines.spark.dialect import SparkDialect
from lakeprune.engines.spark.engine import clone
from lakeprune.engines.spark.failures import row_errors
from lakeprune.engines.spark.lines import metadata_column
from lakeprune.engines.spark.planned import planned_files
from lakeprune.engines.spark.session import has_jvm
from lakeprune.errors import TableError
from lakeprune.formats.delta.spark_files import FILE, read_files, with_file
from lakeprune.formats.delta.spark_scan import planned_scan
from lakeprune.formats.row_source import RowSource
from lakeprune.predicate.tree import Column
from lakeprune.programs.compare import Logged
from lakeprune.values.types import Family, Kind

_NUMBERS = count(1)


class Rows(Struct, frozen=True):
    """Rows as Spark is asked for them: of this table, at this version, in this zone, of these files unless of all."""

    spark: SparkSession
    location: str
    version: int | None  # of a Delta table
    zone: str
    paths: Sequence[str] | None
    source: RowSource | None  # of other formats


def rows_to_check(spark: SparkSession, files: Logged, zone: str, share: float | None) -> Rows:
    """The rows of the files to check."""
    snapshot = files.evaluation.snapshot
    facts = snapshot.facts
    paths = None if share is None else files.paths()
    if facts.format == "delta":
        return Rows(spark, facts.location, facts.version, zone, paths, None)
    source = snapshot.row_source(None if paths is None else frozenset(paths))
    if source is None:
        raise TableError("LP347", f"the rows of a table of this kind are not read: {facts.title}", where=facts.location)
    return Rows(spark, facts.location, None, zone, paths, source)


def matches_found(rows: Rows, where: str, files: Logged) -> AbstractContextManager[str]:
    """A relation with the columns file, live, matching; it lasts as long as the block."""
    # The line break ends a comment that the predicate may end with.
    return _found_in(rows, [f"({where}\n) AS matches"], [sql.count_if("matches").alias("matching")], files, where)


def values_found(rows: Rows, columns: Mapping[int, Column], files: Logged) -> AbstractContextManager[str]:
    """The relation; it lasts as long as the block. The rows' zone is UTC, in which local times are counted."""
    items = [f"{_field(column)} AS v{k}" for k, column in columns.items()]
    totals = {name: total for k, column in columns.items() for name, total in _totals(k, column).items()}
    return _found_in(rows, items, [sql.expr(total).alias(name) for name, total in totals.items()], files)


@contextmanager
def _found_in(
    rows: Rows, items: Sequence[str], totals: Sequence[SparkColumn], files: Logged, where: str | None = None
) -> Iterator[str]:
    """A relation with these totals over items of the rows, and `live`, by file; it lasts as long as the block."""
    name = f"lakeprune_truth_{next(_NUMBERS)}"
    with row_errors(rows.location, where):
        by_file = rows_of(rows).selectExpr(f"{FILE} AS url", *items).groupBy("url")
        kept = by_file.agg(sql.count(sql.lit(1)).alias("live"), *totals).persist()
        kept.count()  # now, in the session that has the question's zone: another one joins it
        kept.createGlobalTempView(name)
    try:
        found = _brought(kept, files, rows) if files.evaluation.engine.takes_columns else files.keyed(f"global_temp.{name}")
        if missing := files.files_missing_from_log(found):
            reader = "Delta Spark" if rows.source is None else rows.source.name
            what = f"{missing} files that {reader} reads are not among the files of the log"
            why = "their paths could not be matched, so nothing is known about them"
            raise TableError("LP341", what, where=rows.location, why=why)
        yield found
    finally:
        with row_errors(rows.location, where):
            rows.spark.catalog.dropGlobalTempView(name)
            kept.unpersist()


def _brought(kept: DataFrame, files: Logged, rows: Rows) -> str:
    """What was found, in the engine of this process: one row per file, of those to check."""
    checked = None if rows.paths is None else frozenset(rows.paths)
    file_of = files.evaluation.snapshot.file_of
    brought = [(file_of(url), *counts) for url, *counts in kept.select("url", "live", "matching").toLocalIterator()]
    brought = [row for row in brought if checked is None or row[0] in checked]
    return files.evaluation.engine.lookup(("file", "live", "matching"), ("STRING", "BIGINT", "BIGINT"), brought)


def planned_by_spark(rows: Rows, where: str) -> SparkPlan | None:
    """What the connector itself plans to read for the same predicate; None where the session does not show it.

    No data file is opened. Of Delta, over Spark Connect and when the session has turned skipping off, the files can be had still.
    """
    with row_errors(rows.location, where):
        frame = _table(rows).where(where)
        if rows.source is None:
            if not has_jvm(rows.spark) or rows.spark.conf.get("spark.databricks.delta.stats.skipping", "true") != "true":
                return SparkPlan("Delta Spark", len(frame.inputFiles()), None)
            planned = planned_scan(frame)
            return SparkPlan("Delta Spark", planned.files, planned.bytes)
        if not has_jvm(rows.spark):
            return None
        files, size = planned_files(frame)
        return SparkPlan(rows.source.name, files, size)


def rows_of(rows: Rows) -> DataFrame:
    """The rows with the URL of their file as `FILE`, in a session of their own whose zone is the question's."""
    with row_errors(rows.location):
        if rows.source is not None:
            table = _table(rows)
            column, *fields = rows.source.file_column
            file = metadata_column(table, column)
            return table.withColumn(FILE, file.getField(fields[0]) if fields else file)
        if rows.paths is None:
            return with_file(_table(rows))
        assert rows.version is not None, "a Delta table has a version"
        return with_file(read_files(_session(rows), _place(rows), rows.version, rows.paths))


def _table(rows: Rows) -> DataFrame:
    reader = _session(rows).read
    if rows.source is None:
        return reader.format("delta").option("versionAsOf", rows.version).load(_place(rows))
    places = [f"file://{place}" if place.startswith("/") else place for place in rows.source.places]
    table = reader.format(rows.source.connector).options(**rows.source.options)
    return table.load(places[0]) if len(places) == 1 else table.load(places)


def _place(rows: Rows) -> str:
    """Where Spark finds the table: a JVM keeps the working directory it was started in, this process may have moved on."""
    is_local = "://" not in rows.location and has_jvm(rows.spark)
    return os.path.abspath(rows.location) if is_local else rows.location


def _session(rows: Rows) -> SparkSession:
    session = clone(rows.spark)
    session.conf.set("spark.sql.session.timeZone", rows.zone)
    return session


def _totals(k: int, column: Column) -> dict[str, str]:
    found = {f"t{k}_n": f"count_if(v{k} IS NULL)"}
    if column.type.family in (None, Family.BYTES):
        return found
    value = _carried(f"v{k}", column)
    found.update({f"t{k}_lo": f"min({value})", f"t{k}_hi": f"max({value})"})
    if column.type.family is Family.REAL:
        found[f"t{k}_nan"] = f"count_if(isnan(v{k}))"
    return found


def _carried(value: str, column: Column) -> str:
    """A value as bounds have it: dates and times as whole numbers, no NaN."""
    match column.type.kind:
        case Kind.DATE:
            return f"CAST(unix_date({value}) AS BIGINT)"
        case Kind.TIMESTAMP | Kind.TIMESTAMP_NTZ:
            return f"unix_micros(CAST({value} AS TIMESTAMP))"
        case Kind.FLOAT | Kind.DOUBLE:
            return f"CASE WHEN NOT isnan({value}) THEN CAST({value} AS DOUBLE) END"
        case Kind.DECIMAL:
            return f"CAST({value} AS DECIMAL(38,{column.type.scale}))"
        case Kind.STRING | Kind.BOOLEAN:
            return value
        case _:
            return f"CAST({value} AS BIGINT)"


def _field(column: Column) -> str:
    dialect = SparkDialect()
    return ".".join(dialect.identifier(part) for part in column.path)
