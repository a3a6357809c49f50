"""The source of a MERGE: read once, and its keys measured.

In: a DataFrame, a query or a location; then keys. Out: a `Source` whose rows Spark keeps (a local checkpoint, as Delta's own
MERGE makes one), so that the rows that are planned with are the rows that are merged; and `SourceFacts`: values of each key, and
how often whole keys repeat. Rows that are lost with an executor end the statement with an error; they are never computed again.
Values are canonical (see values/types.py) and computed by Spark: no calendar, zone or encoding of this process comes between.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sql

from lakeprune.apps.statements.merge.keys import LONGEST_TEXT, MOST_VALUES, Key, KeyValues
from lakeprune.apps.statements.merge.on import SOURCE
from lakeprune.apps.statements.spark_analysis import in_one_line
from lakeprune.apps.statements.spark_target import Target, jvm_of
from lakeprune.engines.spark.lines import frame_of
from lakeprune.engines.spark.session import active
from lakeprune.errors import StatementError, UsageError
from lakeprune.values.types import FLOATING_KINDS, INTEGRAL_KINDS, Kind

_QUERY = re.compile(r"(?is)(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*(?:select|with|values|table|from)(?:\s|\(|/\*|--).*")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_SLACK = 1.2  # of an estimate of distinct values


class Source(Struct, frozen=True):
    rows: DataFrame
    name: str  # what it is, for messages


class SourceFacts(Struct, frozen=True):
    rows: int
    keys: tuple[KeyValues, ...]
    repeated: int  # whole keys that more than one row has
    example: str | None  # of a repeated key


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


def measure(source: Source, keys: Sequence[Key], where: Sequence[str] = ()) -> SourceFacts:
    """What the source has for these keys, which together are the whole key, in the rows that can match at all."""
    with reading_source(source.name):
        if not keys:
            return SourceFacts(source.rows.count(), (), 0, None)
        rows = source.rows.alias(SOURCE)
        for condition in where:
            rows = rows.where(condition)
        picked = rows.selectExpr(*(f"{_canonical(key)} AS k{i}" for i, key in enumerate(keys)))
        row = _aggregated(picked, keys)
        found = [_values(row, i, key) for i, key in enumerate(keys)]
        listed = _listed(picked, found)
        count = source.rows.count() if where else row["rows"] or 0
    example = None if row["example"] is None else ", ".join(f"{key.text}: {row['example'][i]}" for i, key in enumerate(keys))
    return SourceFacts(count, tuple(listed), row["repeated"], example)


def in_session(rows: DataFrame, spark: SparkSession) -> DataFrame:
    """The same rows in another session, whose settings the statement is read with; they are not made again."""
    plan = rows._jdf.queryExecution().analyzed()  # noqa: SLF001  # PySpark has no other way
    return frame_of(plan, spark)


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
            return frame_of(query, spark)
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


def _canonical(key: Key) -> str:
    expression = f"({key.expression})"
    match key.column.type.kind:
        case kind if kind in INTEGRAL_KINDS:
            return f"CAST({expression} AS BIGINT)"
        case Kind.DATE:
            return f"CAST(unix_date({expression}) AS BIGINT)"
        case Kind.TIMESTAMP:
            return f"unix_micros({expression})"
        case Kind.TIMESTAMP_NTZ:
            clock = f"hour({expression}) * 3600000000L + minute({expression}) * 60000000L"
            second = f"CAST(extract(SECOND FROM {expression}) * 1000000 AS BIGINT)"
            return f"unix_date(CAST({expression} AS DATE)) * 86400000000L + {clock} + {second}"
        case _:
            return expression


def _aggregated(picked: DataFrame, keys: Sequence[Key]) -> Row:
    """One row about all keys; the rows of one whole key are counted first, so that repeated ones show."""
    unmatchable = " OR ".join(f"k{i} IS NULL" for i, key in enumerate(keys) if not key.is_null_safe) or "FALSE"
    repeats = f"n > 1 AND NOT ({unmatchable})"
    grouped = picked.groupBy(*picked.columns).agg(sql.count(sql.lit(1)).alias("n"))
    whole = f"array({', '.join(f'CAST({name} AS STRING)' for name in picked.columns)})"
    asked = ["sum(n) AS rows", f"count_if({repeats}) AS repeated", f"first({whole}) FILTER (WHERE {repeats}) AS example"]
    for i, key in enumerate(keys):
        name = f"k{i}"
        kind = key.column.type.kind
        asked += [f"min({name}) AS least{i}", f"max({name}) AS greatest{i}", f"approx_count_distinct({name}) AS distinct{i}"]
        asked.append(f"coalesce(sum(CASE WHEN {name} IS NULL THEN n END), 0) AS nulls{i}")
        asked.append(f"count_if(isnan({name})) AS nans{i}" if kind in FLOATING_KINDS else f"0 AS nans{i}")
        odd = f"NOT is_valid_utf8({name}) OR length({name}) > {LONGEST_TEXT}"
        asked.append(f"count_if({odd}) AS odd{i}" if kind is Kind.STRING else f"0 AS odd{i}")
    return grouped.selectExpr(*asked).collect()[0]


def _values(row: Row, index: int, key: Key) -> KeyValues:
    names = ("nulls", "nans", "odd", "distinct", "least", "greatest")  # as the fields of KeyValues
    return KeyValues(key, *(row[f"{name}{index}"] for name in names))


def _listed(picked: DataFrame, found: Sequence[KeyValues]) -> list[KeyValues]:
    """The same with the values themselves, of those keys that have few."""
    short = [i for i, values in enumerate(found) if values.distinct <= MOST_VALUES * _SLACK and values.refusal is None]
    if not short:
        return list(found)
    sets = picked.selectExpr(*(f"sort_array(collect_set(k{i})) AS k{i}" for i in short)).collect()[0]
    listed = list(found)
    for i in short:
        items = tuple(sets[f"k{i}"])
        if len(items) <= MOST_VALUES:
            listed[i] = replace(found[i], distinct=len(items), listed=items)
    return listed
