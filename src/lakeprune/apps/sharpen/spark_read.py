"""A table under a condition, as a DataFrame that reads few files.

In: a session, a table (a path, a URL or a name), a condition. Out: a DataFrame through the table's own connector. A classic
session's is sharpened by its plan; over Spark Connect, which gives no plan, the implied conditions are part of the query's text.
"""

from __future__ import annotations

import os
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakeprune.apps.dataframes.spark_plans import query_errors
from lakeprune.apps.sharpen.implied import conditions_of
from lakeprune.apps.sharpen.spark_sharpen import sharpened
from lakeprune.engines.spark.session import has_jvm
from lakeprune.errors import PredicateError, TableError
from lakeprune.planning.opening import At, open_planner, path_of
from lakeprune.planning.session import profile_of

_NEWEST = At()


def read_sharpened(spark: SparkSession, table: Any, where: str | None) -> DataFrame:
    name = path_of(os.fspath(table))
    is_path = "/" in name or os.path.exists(name)
    with query_errors(f"{name} WHERE {where}"):
        frame = _by_path(spark, name) if is_path else spark.table(name)
        if where is None:
            return frame
        if has_jvm(spark):
            return sharpened(frame.where(where), joins=False).frame
        added = implied_by(spark, name, where) if is_path else ()
        for condition in added:
            frame = frame.where(condition)
        return frame.where(where)


def _by_path(spark: SparkSession, path: str) -> DataFrame:
    """A Delta table, or else one of Iceberg; a local path means this machine whatever the session's default file system is."""
    place = f"file://{os.path.abspath(path)}" if "://" not in path else path
    try:
        frame = spark.read.format("delta").load(place)
        _ = frame.schema  # over Connect nothing is looked at before
    except PySparkException as delta:
        if "DELTA" not in str(delta):
            raise
        return spark.read.format("iceberg").load(place)
    return frame


def implied_by(spark: SparkSession, path: str, where: str, at: At = _NEWEST) -> tuple[str, ...]:
    """What the condition implies of the table as it was then, with times in the zone of the session."""
    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    try:
        planner = open_planner(path, at, profile_of(timezone=zone)[0], access={}, spark=spark)
        with planner.engine.awake():
            question = planner.ask(where)
            if question.condition is not None and question.condition.asks_clock:
                return ()
            return conditions_of(question.parts, planner.facts, planner.profile, zone).added
    except (TableError, PredicateError):
        return ()  # Spark has the last word on what is a table and what is a condition
