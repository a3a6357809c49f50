"""The source of a MERGE, read once: the rows that are planned with are the rows that are merged.

In: a DataFrame, a query or a location. Out: a `Source` whose rows Spark keeps (a local checkpoint, as Delta's own MERGE makes
one): a source that gives other rows every time it is read is read once. Rows that are lost with an executor end the statement
with an error; they are never computed again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakeprune.apps.statements.spark_analysis import in_one_line
from lakeprune.apps.statements.spark_target import Target, jvm_of
from lakeprune.engines.spark.files import active
from lakeprune.errors import StatementError, UsageError

_QUERY = re.compile(r"(?is)(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*(?:select|with|values|table|from)(?:\s|\(|/\*|--).*")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


class Source(Struct, frozen=True):
    rows: DataFrame
    name: str  # what it is, for messages


def source_of(given: Any, target: Target) -> Source:
    """The rows, read now unless they were read before. LP255 for what is not a source, LP442 for one that cannot be read."""
    if isinstance(given, Source):
        return Source(in_session(given.rows, target.spark), given.name)
    if isinstance(given, DataFrame):
        found, name = given, "a DataFrame"
    elif isinstance(given, str | os.PathLike) and os.fspath(given).strip():
        name = os.fspath(given)
        found = _opened(name, target)
    else:
        what = "the source is empty" if isinstance(given, str) else f"a {type(given).__name__} is not a source"
        raise UsageError("LP255", what, fix="give a DataFrame, a query, or the path of a Delta table or of Parquet files")
    columns = [column.lower() for column in found.columns]
    if double := sorted({column for column in columns if columns.count(column) > 1}):
        fix = "give one of them another name"
        raise StatementError("LP442", f"the source has two columns named {double[0]}", where=name, fix=fix)
    with reading_source(name):
        kept = found.localCheckpoint(eager=True)
    return Source(in_session(kept, target.spark), name)


def in_session(rows: DataFrame, spark: SparkSession) -> DataFrame:
    """The same rows in another session, whose settings the statement is read with; they are not made again."""
    plan = rows._jdf.queryExecution().analyzed()  # noqa: SLF001  # PySpark has no other way
    return _frame_of(plan, spark)


def _frame_of(plan: Any, spark: SparkSession) -> DataFrame:
    frames = jvm_of(spark).org.apache.spark.sql.classic.Dataset
    return DataFrame(frames.ofRows(spark._jsparkSession, plan), spark)  # noqa: SLF001


def is_query(text: str) -> bool:
    """Whether a text is a query; any other is a location.

    >>> is_query("select 1 AS id"), is_query("./values"), is_query("(VALUES(1))")
    (True, False, True)
    """
    return _QUERY.fullmatch(text) is not None


def _opened(text: str, target: Target) -> DataFrame:
    spark = target.spark
    with reading_source(text), active(spark):
        if is_query(text):
            # Read by the rule for queries alone: no text of a source can become a command.
            query = spark._jsparkSession.sessionState().sqlParser().parseQuery(text)  # noqa: SLF001
            return _frame_of(query, spark)
        # A JVM keeps the working directory it was started in, this process may have moved on.
        place = text if _URL.match(text) else os.path.abspath(text)
        is_delta = jvm_of(spark).io.delta.tables.DeltaTable.isDeltaTable(spark._jsparkSession, place)  # noqa: SLF001
        return spark.read.format("delta" if is_delta else "parquet").load(place)


@contextmanager
def reading_source(name: str) -> Iterator[None]:
    """What Spark reports inside about the source, as an error of lakeprune."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        fix = "give a query, or the path of a Delta table or of a folder of Parquet files"
        raise StatementError("LP442", "the source cannot be read", where=name, why=in_one_line(error), fix=fix) from error
