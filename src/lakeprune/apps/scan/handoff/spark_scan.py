"""The rows of a plan as a DataFrame of Spark, through the table's own connector.

In: a plan, a session. Out: a DataFrame with the projection, the rows that satisfy the predicate, at most `limit` of them. Of a
Delta table and of Parquet files exactly the planned files are opened; deletion vectors, column mapping and widened types are the
connector's business. Spark applies the predicate to the rows, in the plan's time zone and at the plan's moment, whatever the
session's are. Over Spark Connect, and for Iceberg and change data feeds, single files cannot be named: there the connector scans
the table under the predicate and what it implies, also where the rows are wanted unfiltered, because nothing else keeps the other
rows out. Nothing is read before an action runs.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import DataType, StructField, StructType, _parse_datatype_json_value, _parse_datatype_string

from lakeprune.apps.scan.model import HandOff, Pushdown
from lakeprune.apps.statements.merge.spark_source import in_session
from lakeprune.apps.statements.statement import executed_text
from lakeprune.engines.spark.engine import clone
from lakeprune.engines.spark.failures import row_errors
from lakeprune.engines.spark.session import has_jvm
from lakeprune.errors import UsageError
from lakeprune.formats.delta.changes import COMMIT_VERSION, FORMAT
from lakeprune.formats.delta.spark_files import FILE, read_files, with_file
from lakeprune.planning.opening import At
from lakeprune.planning.session import profile_of
from lakeprune.predicate.write.show import name_text

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanColumn, ScanPlan
    from lakeprune.apps.scan.options import ScanOptions

_ZONE = "spark.sql.session.timeZone"
_BARE_KINDS = ("struct", "array", "map", "other")  # of columns of plain Parquet files


def hand_off(plan: ScanPlan, spark: SparkSession, *, options: ScanOptions) -> DataFrame:
    """A DataFrame of this session."""
    if not hasattr(spark, "createDataFrame"):
        raise UsageError("LP264", f"{type(spark).__name__} is not a Spark session", fix="give the session: plan.to_spark(spark)")
    _check(plan, options)
    if not has_jvm(spark):
        return _over_connect(plan, spark, options)
    # The predicate is read in the plan's zone; what is read keeps its zone in the user's session.
    own = clone(spark)
    own.conf.set(_ZONE, plan.session.timezone or "UTC")
    with row_errors(plan.table.location):
        if plan.table.format == "iceberg":
            handed = _iceberg(plan, own, options)
        elif plan.table.format == FORMAT:
            handed = _Handed(_changes(plan, own), "Delta's change data feed of the planned commits", is_by_files=False)
        else:
            handed = _Handed(*_planned_files(plan, own), is_by_files=True)
        return in_session(_finished(plan, handed, options), spark)


class _Handed(Struct, frozen=True):
    """Rows of the connector, and how they came."""

    rows: DataFrame
    path: str
    is_by_files: bool  # of the planned files alone: what the plan guarantees holds on every row
    is_filtered: bool = False


def _iceberg(plan: ScanPlan, spark: SparkSession, options: ScanOptions) -> _Handed:
    from lakeprune.apps.sharpen.spark_sharpen import sharpened

    rows = _iceberg_table(plan, spark, options)
    if plan.predicate is not None:
        rows = sharpened(rows.where(_predicate(plan)), joins=False).frame
    return _Handed(rows, "Iceberg's own scan, under the predicate and what it implies", is_by_files=False, is_filtered=True)


def _iceberg_table(plan: ScanPlan, spark: SparkSession, options: ScanOptions) -> DataFrame:
    planner = plan.opened().planner
    source = None if planner is None else planner.snapshot.row_source(None)
    assert source is not None, "Iceberg's runtime reads every Iceberg table"
    at = {name: str(value) for name, value in source.options.items()}
    rows = spark.read.format(source.connector).options(**at).load(*source.places)
    return rows if options.file_column is None else rows.select("*", sql.col("_file").alias(FILE))


def _planned_files(plan: ScanPlan, spark: SparkSession) -> tuple[DataFrame, str]:
    table, files = plan.table, plan.files
    if table.format == "delta":
        paths, version = files.column("path").to_pylist(), table.version
        assert version is not None, "a Delta table has versions"
        if paths:
            return read_files(spark, _place(table.location), version, paths), "the planned files, by Delta's connector"
        whole = spark.read.format("delta").option("versionAsOf", version).load(_place(table.location))
        return whole.where("FALSE"), "no file: the schema alone"
    return _parquet_files(plan, spark, [_place(uri) for uri in files.column("uri").to_pylist()])


def _parquet_files(plan: ScanPlan, spark: SparkSession, places: list[str]) -> tuple[DataFrame, str]:
    location = plan.table.location
    root = location if os.path.isdir(location) or "://" in location else os.path.dirname(location)
    reader = spark.read.option("basePath", _place(root)).option("__globPaths__", "false")
    path = "the planned files, by Spark's reader of Parquet" if places else "no file: the schema alone"
    known = {column.name: column for column in (*plan.columns, *plan.filter_columns, *plan.partition_columns)}
    if not all(_has_type(column) for column in known.values()):
        planner = plan.opened().planner
        source = None if planner is None else planner.snapshot.row_source(None)
        assert source is not None, "Spark reads every Parquet file"
        rows = reader.option("mergeSchema", "true").parquet(*(places or source.places))
        return rows if places else rows.where("FALSE"), path
    schema = StructType([StructField(column.name, _type(column)) for column in known.values()])
    return reader.schema(schema).parquet(*places) if places else spark.createDataFrame([], schema), path


def _changes(plan: ScanPlan, spark: SparkSession) -> DataFrame:
    """The feed of the commits that the plan keeps; the predicate is applied to all of it."""
    versions = {row["partition"][COMMIT_VERSION] for row in plan.files.select(["partition"]).to_pylist()}
    first, last = (min(versions), max(versions)) if versions else (plan.table.version, plan.table.version)
    reader = spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", first)
    found = reader.option("endingVersion", last).load(_place(plan.table.location))
    return found if versions else found.where("FALSE")


def _finished(plan: ScanPlan, handed: _Handed, options: ScanOptions) -> DataFrame:
    rows, names = handed.rows, [column.name for column in plan.columns]
    is_asked = options.pushdown or not handed.is_by_files
    if options.file_column is not None and FILE not in rows.columns:
        rows = with_file(rows)
    if is_asked and plan.predicate is not None and not handed.is_filtered and not (handed.is_by_files and _is_exact(plan)):
        rows = rows.where(_predicate(plan))
    if not options.pushdown:  # whoever applies the filter needs its columns
        names += [column.name for column in plan.filter_columns]
    types = {column.name: column for column in (*plan.columns, *plan.filter_columns)}
    picked = [_picked(rows, types[name]) for name in names]
    if options.file_column is not None:
        picked.append(_local(FILE).alias(options.file_column))
    found = rows.select(*picked)
    plan.memo.handoff = _record(plan, handed, options)
    # Of rows that somebody else filters, the first ones may be none that he wants.
    return found if plan.limit is None or not is_asked else found.limit(plan.limit)


def _is_exact(plan: ScanPlan) -> bool:
    """Whether the planned files alone guarantee the predicate."""
    return all(clause.pushdown is Pushdown.EXACT for clause in plan.clauses)


def _predicate(plan: ScanPlan) -> str:
    assert plan.predicate is not None, "asked only where there is one"
    profile, _ = profile_of(timezone=plan.session.timezone, now=plan.session.now)
    return executed_text(plan.predicate, profile)


def _picked(rows: DataFrame, column: ScanColumn) -> Any:
    """The column, as the type that the plan says it has."""
    name = name_text((column.name,))
    if not _has_type(column) or column.type.startswith("{"):
        return sql.expr(name)
    kind = _type(column)
    return sql.expr(name) if rows.schema[column.name].dataType == kind else sql.expr(name).cast(kind).alias(column.name)


def _has_type(column: ScanColumn) -> bool:
    """Whether more is known than that it is nested, or of a type without a name here."""
    return column.type not in _BARE_KINDS


def _type(column: ScanColumn) -> DataType:
    if column.type.startswith(("{", '"')):
        return _parse_datatype_json_value(json.loads(column.type))
    return _parse_datatype_string(column.type)


def _local(name: str) -> Any:
    """The file of a row as a plan writes it: a plain path of this machine, or its URL."""
    decoded = f"url_decode(replace({name}, '+', '%2B'))"
    return sql.expr(f"CASE WHEN startswith({name}, 'file:') THEN regexp_replace({decoded}, '^file:/+', '/') ELSE {name} END")


def _place(location: str) -> str:
    return f"file://{os.path.abspath(location)}" if "://" not in location else location


def _check(plan: ScanPlan, options: ScanOptions) -> None:
    """What these options ask of Spark that it cannot do."""
    if options.file_column is not None:
        taken = {column.name.lower() for column in (*plan.columns, *(() if options.pushdown else plan.filter_columns))}
        if options.file_column.lower() in taken:
            fix = "give `file_column` a name that the table does not have"
            raise UsageError("LP268", f"the table has a column `{options.file_column}` already", fix=fix)
        if plan.table.format == FORMAT:
            fix = "leave `file_column` out"
            raise UsageError("LP268", "Delta's change data feed does not say which file a row comes from", fix=fix)


def _over_connect(plan: ScanPlan, spark: SparkSession, options: ScanOptions) -> DataFrame:
    """The connector's scan under the predicate and what it implies."""
    zone, wanted = str(spark.conf.get(_ZONE)), plan.session.timezone
    if wanted is not None and wanted != zone:
        raise UsageError(
            "LP266",
            f"the plan was made in the time zone {wanted}, the session is in {zone}",
            why="over Spark Connect a condition is read in the session's zone",
            fix=f'spark.conf.set("{_ZONE}", "{wanted}"), or plan with timezone="{zone}"',
        )
    from lakeprune.apps.sharpen.spark_read import implied_by

    table = plan.table
    path = "the connector's own scan, under the predicate and what it implies (Connect)"
    with row_errors(table.location):
        if table.format == FORMAT:
            return _finished(plan, _Handed(_changes(plan, spark), path, is_by_files=False), options)
        if table.format == "iceberg":
            rows = _iceberg_table(plan, spark, options)
        else:
            at = {"versionAsOf": str(table.version)} if table.format == "delta" else {}
            rows = spark.read.format(table.format).options(**at).load(_place(table.location))
        if plan.predicate is not None:
            for condition in implied_by(spark, table.location, _predicate(plan), At(table.version)):
                rows = rows.where(condition)
        return _finished(plan, _Handed(rows, path, is_by_files=False), options)


def _record(plan: ScanPlan, handed: _Handed, options: ScanOptions) -> HandOff:
    def applies(pushdown: Pushdown) -> str:
        if not handed.is_by_files:
            return "Spark"
        return "the plan" if pushdown is Pushdown.EXACT else "Spark" if options.pushdown else "the caller"

    return HandOff("spark", handed.path, {clause.text: applies(clause.pushdown) for clause in plan.clauses})
