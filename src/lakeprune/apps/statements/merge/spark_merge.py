"""Step 6 of a MERGE: Delta's own builder, every part an expression of its own; and the error that names an ambiguous key.

In: a checked MERGE, a marked session, ON. Out: nothing, or a `StatementError` (LP443, LP444). The plan finds source rows that
match the same target row before anything is written. A file in which no clause can apply is not read by the plan, but perhaps by
Delta, which refuses: then the key is looked for. Nothing is written but by Delta.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from lakeprune.apps.statements.merge.clauses import Action, Rows
from lakeprune.apps.statements.merge.keys import Key
from lakeprune.apps.statements.merge.on import SOURCE, TARGET
from lakeprune.apps.statements.merge.spark_source import in_session
from lakeprune.apps.statements.spark_target import delta_table
from lakeprune.apps.statements.spark_writer import expressions
from lakeprune.engines.spark.failures import row_errors, words_of
from lakeprune.engines.spark.session import active
from lakeprune.errors import StatementError
from lakeprune.render.printable import shortened

if TYPE_CHECKING:
    from lakeprune.apps.statements.merge.checked import CheckedMerge

_MATERIALIZE = "spark.databricks.delta.merge.materializeSource"
_WHEN = {Rows.MATCHED: "whenMatched", Rows.SOURCE_ONLY: "whenNotMatched", Rows.TARGET_ONLY: "whenNotMatchedBySource"}
_DELTAS = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
_FIX = "keep one source row per key (row_number() over a window, or dropDuplicates), or make ON more specific"
_ROW = "__lakeprune_row"


def run_merge(spark: SparkSession, checked: CheckedMerge, on: str) -> None:
    """MERGE the source into the table, in this session."""
    spark.conf.set(_MATERIALIZE, "none")  # these rows are a copy already: a second one would be the same
    rows = in_session(checked.source.rows, spark).alias(SOURCE)
    builder = delta_table(spark, checked.target.location).alias(TARGET).merge(rows._jdf, on)  # noqa: SLF001
    for clause in checked.clauses:
        when = getattr(builder, _WHEN[clause.rows])
        when = when() if clause.condition is None else when(clause.condition)
        action = clause.action
        if action is Action.DELETE:
            builder = when.delete()
        elif clause.assignments is None:
            builder = getattr(when, f"{action.value}All")()
        else:
            builder = getattr(when, f"{action.value}Expr")(expressions(spark, clause.assignments))
    try:
        builder.execute()
    except (PySparkException, Py4JError) as error:
        if _DELTAS not in words_of(error):
            raise
        what = "a target row matches more than one source row, which Delta's MERGE refuses: nothing was changed"
        with active(checked.target.spark), row_errors(checked.target.location):
            now = checked.target.spark.read.format("delta").load(checked.target.location)
        raise refusal(checked, now, f"{what} ({_DELTAS})", executed=on) from error


def refusal(checked: CheckedMerge, rows: DataFrame, what: str, *, executed: str, code: str = "LP443") -> StatementError:
    """The error, with one of the target rows among these that several source rows match by ON as it is executed."""
    return StatementError(code, what, where=f"ON {checked.text.executed}", why=_example(checked, executed, rows), fix=_FIX)


def _example(checked: CheckedMerge, executed: str, rows: DataFrame) -> str:
    target, keys = checked.target, checked.on.keys
    with active(target.spark), row_errors(target.location):
        numbered = rows.withColumn(_ROW, sql.monotonically_increasing_id())
        pairs = numbered.alias(TARGET).join(checked.source.rows.alias(SOURCE), sql.expr(executed), "inner")
        key, row = f"first({_values(keys)}) AS key", f"first(to_json(struct({SOURCE}.*))) AS row"
        doubled = pairs.groupBy(_ROW).agg(sql.count(sql.lit(1)).alias("n"), sql.expr(key), sql.expr(row))
        found = doubled.where("n > 1").orderBy(_ROW).limit(1).collect()
    if not found:
        return "the table has changed meanwhile, and no such row is left in it"
    _, count, values, source = found[0]
    named = ", ".join(f"{key.text}: {value}" for key, value in zip(keys, values, strict=True))
    with_key = f" with the key {shortened(named)}" if named else ""
    return f"{count} source rows match one target row{with_key}; one of them is {shortened(source)}"


def _values(keys: Sequence[Key]) -> str:
    return f"array({', '.join(f'CAST({key.expression} AS STRING)' for key in keys)})"
