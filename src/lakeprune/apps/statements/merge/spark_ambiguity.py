"""Source rows that match the same target row, which Delta's MERGE refuses: the error that names their key.

In: rows of the target, the held source, ON. Out: a `StatementError` (LP443, LP444). The plan finds them before anything is
written. A file in which no clause can apply is not read by the plan, but perhaps by Delta, which refuses: then the key is looked
for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from lakeprune.apps.statements.merge.keys import Key
from lakeprune.apps.statements.merge.on import SOURCE, TARGET
from lakeprune.apps.statements.spark_target import spark_failures
from lakeprune.engines.spark.failures import words_of
from lakeprune.engines.spark.files import active
from lakeprune.errors import StatementError
from lakeprune.render.printable import shortened

if TYPE_CHECKING:
    from lakeprune.apps.statements.merge.checked import CheckedMerge

_DELTAS = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
_FIX = "keep one source row per key (row_number() over a window, or dropDuplicates), or make ON more specific"
_ROW = "__lakeprune_row"


def refusal(checked: CheckedMerge, rows: DataFrame, what: str, *, executed: str, code: str = "LP443") -> StatementError:
    """The error, with one of the target rows among these that several source rows match by ON as it is executed."""
    return StatementError(code, what, where=f"ON {checked.text.executed}", why=_example(checked, executed, rows), fix=_FIX)


@contextmanager
def naming_the_key(checked: CheckedMerge, executed: str) -> Iterator[None]:
    """Where Delta's MERGE refuses inside because of such rows, say which, at the version that it read."""
    target = checked.target
    try:
        yield
    except (PySparkException, Py4JError) as error:
        if _DELTAS not in words_of(error):
            raise
        with active(target.spark), spark_failures(target.location):
            rows = target.spark.read.format("delta").load(target.location)
        what = "a target row matches more than one source row, which Delta's MERGE refuses: nothing was changed"
        raise refusal(checked, rows, f"{what} ({_DELTAS})", executed=executed) from error


def _example(checked: CheckedMerge, executed: str, rows: DataFrame) -> str:
    target, keys = checked.target, checked.on.keys
    with active(target.spark), spark_failures(target.location):
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
