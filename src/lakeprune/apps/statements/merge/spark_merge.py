"""Step 6 of a MERGE: Delta's own builder, every part an expression of its own.

In: a marked session, a location, the source that was planned with, ON, clauses. Out: nothing. Nothing is written but by Delta.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from lakeprune.apps.statements.merge.clauses import Action, MergeClause, Rows
from lakeprune.apps.statements.merge.on import SOURCE, TARGET
from lakeprune.apps.statements.merge.spark_source import in_session
from lakeprune.apps.statements.spark_target import delta_table
from lakeprune.apps.statements.spark_writer import expressions

_MATERIALIZE = "spark.databricks.delta.merge.materializeSource"
_WHEN = {Rows.MATCHED: "whenMatched", Rows.SOURCE_ONLY: "whenNotMatched", Rows.TARGET_ONLY: "whenNotMatchedBySource"}


def run_merge(spark: SparkSession, location: str, rows: DataFrame, on: str, clauses: Sequence[MergeClause]) -> None:
    """MERGE these rows into the table."""
    spark.conf.set(_MATERIALIZE, "none")  # these rows are held already: a second copy would be the same
    builder = delta_table(spark, location).alias(TARGET).merge(in_session(rows, spark).alias(SOURCE)._jdf, on)  # noqa: SLF001
    for clause in clauses:
        when = getattr(builder, _WHEN[clause.kind.rows])
        when = when() if clause.condition is None else when(clause.condition)
        action = clause.kind.action
        if action is Action.DELETE:
            builder = when.delete()
        elif clause.assignments is None:
            builder = getattr(when, f"{action.value}All")()
        else:
            builder = getattr(when, f"{action.value}Expr")(expressions(spark, clause.assignments))
    builder.execute()
