"""Tables for statements, and what Delta itself makes of the same statement on a copy."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

EVENTS = (
    "id",
    "CAST(id DIV 100 % 4 AS INT) AS p",
    "timestamp'2023-01-01' + make_dt_interval(CAST(37 * (id DIV 100) AS INT), 0, CAST(id % 100 AS INT)) AS ts",
    "CAST(id AS DOUBLE) AS v",
    "named_struct('x', id, 'y', concat('s', id)) AS st",
    "CASE WHEN id % 10 <> 0 THEN id END AS n",
)


def events(spark: SparkSession, path: Path, files: int = 20, *, by: str | None = None, properties: str = "") -> Path:
    """100 rows in each file, ids in order, 37 days between the files; `by` partitions, or clusters when it is a whole clause."""
    columns = "id BIGINT, p INT, ts TIMESTAMP, v DOUBLE, st STRUCT<x: BIGINT, y: STRING>, n BIGINT"
    laid_out = by if by and " BY " in by else f"PARTITIONED BY ({by})" if by else ""
    said = f"TBLPROPERTIES ({properties})" if properties else ""
    spark.sql(f"CREATE TABLE delta.`{path}` ({columns}) USING delta {laid_out} {said}")
    spark.range(0, 100 * files, 1, files).selectExpr(*EVENTS).write.format("delta").mode("append").save(str(path))
    return path


def copied(table: Path, name: str) -> Path:
    """The same table, byte for byte, at another place."""
    copy = table.parent / name
    shutil.copytree(table, copy)
    return copy


def by_sql(spark: SparkSession, table: Path, where: str, values: Mapping[str, str] | None) -> None:
    """The statement as users write it; DELETE when nothing is set."""
    target = f"delta.`{table}`"
    if values is None:
        spark.sql(f"DELETE FROM {target} WHERE {where}")
    else:
        assigned = ", ".join(f"{column} = {value}" for column, value in values.items())
        spark.sql(f"UPDATE {target} SET {assigned} WHERE {where}")


def rows(spark: SparkSession, table: Path) -> list[str]:
    """Every row of the table as JSON text, sorted."""
    frame = spark.read.format("delta").load(str(table))
    return sorted(row[0] for row in frame.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false'))").collect())


def commits(table: Path) -> list[Path]:
    return sorted(path for path in (table / "_delta_log").glob("*.json"))


def actions(table: Path, kind: str) -> list[dict[str, Any]]:
    """The actions of one kind in the last commit."""
    lines = [json.loads(line) for line in commits(table)[-1].read_text().splitlines()]
    return [line[kind] for line in lines if kind in line]


def changes(spark: SparkSession, table: Path) -> list[str]:
    """The change data feed of the last commit."""
    newest = len(commits(table)) - 1
    feed = spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", newest).load(str(table))
    return sorted(row[0] for row in feed.drop("_commit_timestamp").selectExpr("to_json(struct(*))").collect())


def files_scanned(spark: SparkSession, since: int) -> list[int]:
    """How many files each scan of data files has read, in the executions after this one."""
    return [files for files, _ in _scans(spark, since)]


def columns_scanned(spark: SparkSession, since: int) -> set[str]:
    """The columns that scans of data files have read, in the executions after this one."""
    return {column for _, columns in _scans(spark, since) for column in columns}


def _scans(spark: SparkSession, since: int) -> Iterator[tuple[int, list[str]]]:
    spark._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    for execution in (execution for execution in _items(store.executionsList()) if execution.executionId() > since):
        values = store.executionMetrics(execution.executionId())
        for node in _items(store.planGraph(execution.executionId()).allNodes()):
            for metric in _items(node.metrics()) if node.name().strip() == "Scan parquet" else ():
                if metric.name() == "number of files read" and values.contains(metric.accumulatorId()):
                    reported = values.get(metric.accumulatorId()).get()
                    yield int(reported.replace(",", "")), re.findall(r"(\w+):", node.desc().split("ReadSchema: ")[1])


def last_execution(spark: SparkSession) -> int:
    spark._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    return max((execution.executionId() for execution in _items(store.executionsList())), default=-1)


def _items(scala: Any) -> Iterator[Any]:
    iterator = scala.iterator()
    while iterator.hasNext():
        yield iterator.next()
