"""Step 3 of a MERGE: the candidate files joined with the source, once, and what becomes of every row counted by file.

In: a target, the source, ON, clauses, candidates. Out: `Counts`. No other file of the target is opened, and of those only
the columns that ON and the conditions need. A target row that several source rows match shows before anything is written.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from lakeprune.apps.statements.candidates import keys_of
from lakeprune.apps.statements.merge.clauses import Action, MergeClause, Rows
from lakeprune.apps.statements.merge.effects import Counts, FileCounts
from lakeprune.apps.statements.merge.on import SOURCE, TARGET
from lakeprune.apps.statements.merge.spark_source import Source
from lakeprune.apps.statements.model import Candidate
from lakeprune.apps.statements.spark_target import Target
from lakeprune.engines.spark.failures import row_errors
from lakeprune.engines.spark.session import active
from lakeprune.formats.delta.spark_files import FILE, with_file

_ROW, _MARK = "__lakeprune_row", "__lakeprune_source"
_OURS, _THEIRS = "__lakeprune_target_row", "__lakeprune_source_row"
_BOTH_SAY, _THEY_SAY, _WE_SAY = "__lakeprune_matched", "__lakeprune_not_matched", "__lakeprune_not_matched_by_source"
_DONE = {Action.UPDATE: "updated", Action.DELETE: "deleted", Action.INSERT: "inserted"}


def count_merge(target: Target, source: Source, on: str, clauses: Sequence[MergeClause], files: Sequence[Candidate]) -> Counts:
    """What the statement does to every file, by one join."""
    statement = " ".join([f"ON {on}", *(clause.text for clause in clauses)])
    with active(target.spark), row_errors(target.location, statement):
        joined = _joined(_target_rows(target, files), source, on, clauses)
        by_row = joined.groupBy("file", "row").agg(
            sql.expr("count_if(is_match) AS matches"),
            sql.expr("count_if(is_match AND action IS NOT NULL) AS acting"),
            *(sql.expr(f"count_if(action = '{action.value}') AS {_DONE[action]}") for action in Action),
        )
        counted = by_row.groupBy("file").agg(
            sql.count(sql.lit(1)),
            *(sql.expr(f"count_if({name} > 0)") for name in ("matches", "acting", "updated", "deleted")),
            sql.expr("count_if(matches > 1)"),
            sql.sum("inserted"),
        )
        rows = counted.collect()
    keys = keys_of(target.planner, [row[0] for row in rows if row[0] is not None])
    found = {keys[row[0]]: FileCounts(*map(int, row[1:7])) for row in rows if row[0] is not None}
    return Counts(found, sum(int(row[7]) for row in rows))


def _target_rows(target: Target, files: Sequence[Candidate]) -> DataFrame:
    if not files:
        nothing = target.frame().where("FALSE")
        return nothing.withColumn(FILE, sql.lit(None).cast("string")).withColumn(_ROW, sql.lit(None).cast("long"))
    return with_file(target.rows_of(files)).withColumn(_ROW, sql.monotonically_increasing_id())


def _joined(rows: DataFrame, source: Source, on: str, clauses: Sequence[MergeClause]) -> DataFrame:
    """Every pair that matches, and with clauses for them every row of the source without a partner.

    A condition sees what it sees in the statement: both sides, or one alone. So `v > 1` is never ambiguous.
    """
    marked = source.rows.withColumn(_MARK, sql.lit(True))
    has_inserts = any(clause.rows is Rows.SOURCE_ONLY for clause in clauses)
    how = "full_outer" if has_inserts else "left_outer"
    joined = rows.alias(TARGET).join(marked.alias(SOURCE), sql.expr(on), how)
    sides = (sql.struct(f"{TARGET}.*").alias(_OURS), sql.struct(f"{SOURCE}.*").alias(_THEIRS))
    matched = joined.select(*sides, sql.expr(f"{_action(clauses, Rows.MATCHED)} AS {_BOTH_SAY}"))
    inserted = matched.select("*", f"{_THEIRS}.*").alias(SOURCE)
    inserted = inserted.select(*matched.columns, sql.expr(f"{_action(clauses, Rows.SOURCE_ONLY)} AS {_THEY_SAY}"))
    alone = inserted.select("*", f"{_OURS}.*").alias(TARGET)
    alone = alone.select(*inserted.columns, sql.expr(f"{_action(clauses, Rows.TARGET_ONLY)} AS {_WE_SAY}"))
    is_match = f"{_OURS}.{_ROW} IS NOT NULL AND {_THEIRS}.{_MARK} IS NOT NULL"
    action = f"coalesce({_BOTH_SAY}, {_THEY_SAY}, {_WE_SAY})"
    row = (f"{_OURS}.{FILE} AS file", f"{_OURS}.{_ROW} AS row")
    return alone.selectExpr(*row, f"({is_match}) AS is_match", f"{action} AS action")


def _action(clauses: Sequence[MergeClause], rows: Rows) -> str:
    """What becomes of a row of this kind: by the first clause whose condition is TRUE; NULL for rows of another kind."""
    kinds = {
        Rows.MATCHED: f"{_ROW} IS NOT NULL AND {_MARK} IS NOT NULL",
        Rows.SOURCE_ONLY: f"{_OURS}.{_ROW} IS NULL",
        Rows.TARGET_ONLY: f"{_THEIRS}.{_MARK} IS NULL",
    }
    branches = []
    for clause in clauses:
        if clause.rows is rows:
            condition = "" if clause.condition is None else f" AND ({clause.condition})"
            branches.append(f"WHEN {kinds[rows]}{condition} THEN '{clause.action.value}'")
    return f"CASE {' '.join(branches)} END" if branches else "CAST(NULL AS STRING)"
