"""UPDATE and DELETE on Spark: analysed as Delta would (step 1), counted (step 3), run through Delta's own API (step 6).

Without assignments the statement is a DELETE. Only the condition's columns of the undecided files are read, in one job; nothing
is written but by Delta, in `run_statement`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

from lakeprune.apps.statements import spark_analysis as analysis
from lakeprune.apps.statements.assignments import Assignment
from lakeprune.apps.statements.candidates import keys_of
from lakeprune.apps.statements.model import Candidate
from lakeprune.apps.statements.spark_target import Target, delta_table, jvm_of
from lakeprune.apps.statements.spark_writer import expressions
from lakeprune.engines.spark.failures import row_errors
from lakeprune.engines.spark.nodes import elements
from lakeprune.engines.spark.session import active
from lakeprune.formats.delta.spark_files import FILE, with_file


def check_statement(target: Target, condition: str, assignments: Sequence[Assignment]) -> None:
    """Refuse what Spark or Delta would refuse, or what would not mean the same twice."""
    analysis.check_random({condition: condition, **{each.where: each.expression for each in assignments}})
    with row_errors(target.location), active(target.spark):
        table = delta_table(target.spark, target.location).toDF().queryExecution().analyzed()
    where, rows = f"WHERE {condition}", analysis.parsed(target, condition, condition)
    if assignments:
        where = f"SET {', '.join(each.where for each in assignments)} {where}"
        set_ = analysis.scala_seq(target, [analysis.assigned(target, each) for each in assignments])
        plan = analysis.logical(target).UpdateTable(table, set_, jvm_of(target.spark).scala.Some(rows))
    else:
        plan = analysis.logical(target).DeleteFromTable(table, rows)
    command = analysis.analysed(target, plan, where, assignments, {})
    analysis.check_condition(target, command.condition().get(), condition)
    for value in elements(command.updateExpressions()) if assignments else ():
        analysis.check_value(target, value, where)


def count_rows(target: Target, condition: str, files: Sequence[Candidate]) -> dict[str, tuple[int, int]]:
    """(live, matching) rows of every file that has a live row, by the file's key."""
    if not files:
        return {}
    with active(target.spark), row_errors(target.location, condition):
        judged = with_file(target.rows_of(files)).selectExpr(f"{FILE} AS url", f"({condition}) AS matches")
        counted = judged.groupBy("url").agg(sql.count(sql.lit(1)), sql.count_if("matches")).collect()
    keys = keys_of(target.planner, [row[0] for row in counted])
    return {keys[url]: (int(live), int(matching)) for url, live, matching in counted}


def run_statement(spark: SparkSession, location: str, condition: str, assignments: Sequence[Assignment]) -> None:
    """The rows for which the condition is TRUE get these values, or go."""
    table = delta_table(spark, location)
    if assignments:
        table.updateExpr(condition, expressions(spark, assignments))
    else:
        table.delete(condition)
