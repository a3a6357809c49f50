"""Step 6 of a MERGE: Delta's own builder, every part an expression of its own.

In: a marked session, a location, the source that was planned with, ON, clauses. Out: nothing. Nothing is written but by Delta.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lakeprune.apps.statements.assignments import Assignment
from lakeprune.apps.statements.merge.clauses import Action, MergeClause, Rows
from lakeprune.apps.statements.merge.on import SOURCE, TARGET
from lakeprune.apps.statements.merge.spark_source import in_session

_MATERIALIZE = "spark.databricks.delta.merge.materializeSource"
_WHEN = {Rows.MATCHED: "whenMatched", Rows.SOURCE_ONLY: "whenNotMatched", Rows.TARGET_ONLY: "whenNotMatchedBySource"}


def run_merge(spark: SparkSession, location: str, rows: DataFrame, on: str, clauses: Sequence[MergeClause]) -> None:
    """MERGE these rows into the table."""
    spark.conf.set(_MATERIALIZE, "none")  # these rows are held already: a second copy would be the same
    jvm: Any = spark._jvm  # noqa: SLF001  # PySpark has no other way
    table = jvm.io.delta.tables.DeltaTable.forPath(spark._jsparkSession, location)  # noqa: SLF001
    builder = table.alias(TARGET).merge(in_session(rows, spark).alias(SOURCE)._jdf, on)  # noqa: SLF001
    for clause in clauses:
        when = getattr(builder, _WHEN[clause.kind.rows])
        builder = _done(jvm, when() if clause.condition is None else when(clause.condition), clause)
    builder.execute()


def _done(jvm: Any, when: Any, clause: MergeClause) -> Any:
    match clause.kind.action:
        case Action.DELETE:
            return when.delete()
        case Action.UPDATE:
            return when.updateAll() if clause.assignments is None else when.updateExpr(_expressions(jvm, clause.assignments))
        case Action.INSERT:
            return when.insertAll() if clause.assignments is None else when.insertExpr(_expressions(jvm, clause.assignments))


def _expressions(jvm: Any, assignments: Sequence[Assignment]) -> Any:
    given = jvm.java.util.LinkedHashMap()
    for assignment in assignments:
        given.put(assignment.target, assignment.expression)
    return given
