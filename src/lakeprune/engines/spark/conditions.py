"""Conditions in the user's words, evaluated by Spark on a few rows of values.

In: a condition and rows of text. Out: its truth value on each row, as the user's session would have it: with its functions, its
ANSI setting, and the zone of the question. A condition that could give another answer the next time is refused: Spark itself
allows such expressions in few places, and the condition of a join is not one of them. What fails on one row fails there only.
"""

from __future__ import annotations

from collections.abc import Sequence

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakeprune.engines.engine import Truth, Typed
from lakeprune.engines.spark.engine import clone
from lakeprune.engines.spark.lines import unlogged
from lakeprune.values.names import quote_name

MOST_FAILURES = 64  # queries spent on finding the rows that fail; the others then count as failed, too
_TRUTHS = {True: Truth.TRUE, False: Truth.FALSE, None: Truth.NULL}


class Conditions:
    """`spark` is the user's session, which is left as it is."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = clone(spark)
        self._failures = 0

    def evaluates(self, condition: Typed) -> bool:
        """Whether the condition is a deterministic boolean over its columns."""
        try:
            with unlogged():
                rows = self._rows(condition, [])
                rows.createOrReplaceTempView(_VIEW)
                joined = self._spark.sql(f"SELECT 1 FROM {_VIEW} JOIN (SELECT 1) ON ({condition.sql}\n)")
                assert joined.schema is not None  # over Spark Connect this is when it is analysed
                return self._asked(condition, rows).schema["truth"].dataType.typeName() == "boolean"
        except (PySparkException, Py4JError):
            return False

    def truths(self, condition: Typed, rows: Sequence[Sequence[str | None]]) -> list[Truth]:
        if not rows:
            return []
        try:
            with unlogged():
                found = self._asked(condition, self._rows(condition, rows)).collect()
        except (PySparkException, Py4JError):
            self._failures += 1
            if len(rows) == 1 or self._failures > MOST_FAILURES:
                return [Truth.FAILED] * len(rows)
            half = len(rows) // 2
            return self.truths(condition, rows[:half]) + self.truths(condition, rows[half:])
        answers = {row.n: _TRUTHS[row.truth] for row in found}
        return [answers[n] for n in range(len(rows))]

    def _rows(self, condition: Typed, rows: Sequence[Sequence[str | None]]) -> DataFrame:
        self._spark.conf.set("spark.sql.session.timeZone", condition.zone)
        schema = ", ".join(["n INT", *(f"k{i} STRING" for i in range(len(condition.columns)))])
        return self._spark.createDataFrame([(n, *row) for n, row in enumerate(rows)], schema).selectExpr(
            f"n AS {_NUMBER}", *(_typed(f"k{i}", kind, name) for i, (name, kind) in enumerate(condition.columns))
        )

    def _asked(self, condition: Typed, rows: DataFrame) -> DataFrame:
        rows.createOrReplaceTempView(_VIEW)
        return self._spark.sql(f"SELECT {_NUMBER} AS n, ({condition.sql}\n) AS truth FROM {_VIEW}")


_VIEW, _NUMBER = "lakeprune_partition_values", "__lakeprune_number"


def _typed(text: str, kind: str, name: str) -> str:
    """The value of a text, under the name of its column."""
    value = f"unhex({text})" if kind == "BINARY" else f"CAST({text} AS {kind})"
    return f"{value} AS {quote_name(name)}"
