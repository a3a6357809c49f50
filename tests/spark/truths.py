"""What Spark says about rows: many expressions as columns of one query, each inside Spark's own TryEval.

A row on which an expression fails is an error of that expression on that row and costs no other answer, so that hundreds of
predicates are judged in one job, with ANSI mode on too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.classic.column import Column as ClassicColumn
from pyspark.sql.functions import col, expr

from lakeprune.engines.spark.lines import unlogged

FAILED = "failed"  # on this row
MOST_AT_ONCE = 12  # expressions that are analysed together
Truth = bool | str | None
FILE = "__file"


@dataclass(frozen=True)
class Answers:
    """One predicate: the name of the file of each row, and the truth of the predicate there."""

    where: str
    by_file: dict[str, list[Truth]]


def rows_of(spark: SparkSession, lake: Path, zone: str) -> DataFrame:
    """The rows of a Delta table, read once, with the name of their file; what Delta itself would skip is not asked."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    session.conf.set("spark.databricks.delta.stats.skipping", "false")
    session.conf.set("spark.sql.parquet.filterPushdown", "false")
    session.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    frame = session.read.format("delta").load(str(lake))
    return frame.select(col("_metadata.file_name").alias(FILE), "*").coalesce(1).localCheckpoint()


def set_ansi(frame: DataFrame, *, is_on: bool) -> None:
    frame.sparkSession.conf.set("spark.sql.ansi.enabled", str(is_on).lower())


def accepted(frame: DataFrame, texts: Sequence[str]) -> list[tuple[str, str]]:
    """The expressions that Spark's analyser takes, each with the type it has."""
    if len(texts) > MOST_AT_ONCE:
        parts = [texts[start : start + MOST_AT_ONCE] for start in range(0, len(texts), MOST_AT_ONCE)]
        return [found for part in parts for found in accepted(frame, part)]
    try:
        with unlogged():
            made = frame.select(*(expr(text).alias(f"v{n}") for n, text in enumerate(texts))).schema
        return [(text, field.dataType.simpleString()) for text, field in zip(texts, made, strict=True)]
    except (PySparkException, Py4JError):
        half = len(texts) // 2
        return [*accepted(frame, texts[:half]), *accepted(frame, texts[half:])] if half else []


def values(frame: DataFrame, typed: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    """The distinct values of each expression as text, as far as it has any; hexadecimal for binary."""
    forms = [f"hex({text})" if type_ == "binary" else f"cast(({text}) as string)" for text, type_ in typed]
    rows = _asked(frame, [[form] for form in forms])
    return [tuple(sorted({row[n] for row in rows if row[n] is not None})) for n in range(len(typed))]


def truths(frame: DataFrame, wheres: Sequence[str]) -> list[Answers]:
    """The truth of each predicate, of those that were accepted, on every row."""
    rows = _asked(frame, [[f"({where})", f"({where}) IS NULL"] for where in wheres])
    found = []
    for n, where in enumerate(wheres):
        by_file: dict[str, list[Truth]] = {}
        for row in rows:
            value, is_null = row[2 * n], row[2 * n + 1]
            by_file.setdefault(row[-1], []).append(FAILED if value is None and not is_null else value)
        found.append(Answers(where, by_file))
    return found


def _asked(frame: DataFrame, groups: Sequence[Sequence[str]]) -> list[Any]:
    """All columns in one query; where Spark fails on the whole, its halves are asked, and a group that fails alone is NULL."""
    texts = [text for group in groups for text in group]
    try:
        with unlogged():
            return list(frame.select(*(_tried(frame, text, n) for n, text in enumerate(texts)), FILE).collect())
    except (PySparkException, Py4JError):
        if len(groups) == 1:
            return [(*([None] * len(texts)), row[0]) for row in frame.select(FILE).collect()]
    half = len(groups) // 2
    return [(*a[:-1], *b) for a, b in zip(_asked(frame, groups[:half]), _asked(frame, groups[half:]), strict=True)]


def _tried(frame: DataFrame, text: str, number: int) -> Column:
    bridge, tried = _bridge(frame.sparkSession)
    inside = bridge.expression(cast(Any, expr(text))._jc)
    return cast(Column, ClassicColumn(bridge.column(tried(inside)))).alias(f"v{number}")


@cache
def _bridge(spark: SparkSession) -> tuple[Any, Any]:
    """The JVM's way from columns to expressions and back, and TryEval, for which Python has no name."""
    jvm = cast(Any, spark._jvm)
    return jvm.org.apache.spark.sql.classic.ExpressionUtils, jvm.org.apache.spark.sql.catalyst.expressions.TryEval
