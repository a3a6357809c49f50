"""The plan of a DataFrame with conditions above some of its leaves, and the DataFrame of it.

In: an analysed plan and SQL conditions by leaf. Out: an analysed plan in which nothing else differs: columns keep their ids. The
conditions are read and resolved by Spark in a session of their own, in which a text means the same whatever the user's session is
set to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lakeprune.apps.sharpen.spark_leaves import Leaf, ids_of
from lakeprune.engines.spark.engine import clone
from lakeprune.engines.spark.lines import frame_of, seq_of_array
from lakeprune.engines.spark.nodes import class_name
from lakeprune.engines.spark.session import active

_READING = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.doubleQuotedIdentifiers": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
}
Branches = Sequence[Sequence[str]]


class Rebuilder:
    """Makes plans for one session."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._reader = clone(spark)
        for key, value in _READING.items():
            self._reader.conf.set(key, value)
        jvm: Any = spark._jvm  # noqa: SLF001  # PySpark has no other way
        self._jvm = jvm
        self._logical = jvm.org.apache.spark.sql.catalyst.plans.logical

    def rebuilt(self, plan: Any, wanted: Mapping[Leaf, Branches]) -> tuple[Any, dict[int, Leaf]]:
        """The plan, and which leaf an id of a column belongs to: a scan that is divided has columns of its own."""
        changes = getattr(getattr(self._jvm.scala.collection.immutable, "Map$"), "MODULE$").empty()
        owners: dict[int, Leaf] = {}
        for leaf, branches in wanted.items():
            parts = [leaf.node, *(leaf.node.newInstance() for _ in branches[1:])]
            owners |= {one: leaf for part in parts for one in ids_of(part)}
            filtered = [self._filtered(part, conditions) for part, conditions in zip(parts, branches, strict=True)]
            changes = changes.updated(leaf.node, filtered[0] if len(filtered) == 1 else self._union(filtered))
        new = plan.transformUpWithSubqueries(changes)  # a Scala map is a partial function
        new.setAnalyzed()
        return new, owners

    def frame(self, plan: Any) -> DataFrame:
        with active(self._spark):
            return frame_of(plan, self._spark)

    def _filtered(self, leaf: Any, conditions: Sequence[str]) -> Any:
        session = self._reader._jsparkSession.sessionState()  # noqa: SLF001
        skip = self._jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
        with active(self._reader):
            for condition in conditions:
                wanted = self._logical.Filter(session.sqlParser().parseExpression(condition), leaf)
                leaf = session.executePlan(wanted, skip).analyzed()
                assert class_name(leaf) == "Filter", "a condition over columns of a relation is a filter on it"
        return leaf

    def _union(self, parts: Sequence[Any]) -> Any:
        array = self._spark.sparkContext._gateway.new_array(self._logical.LogicalPlan, len(parts))  # type: ignore[union-attr]  # noqa: SLF001
        for index, part in enumerate(parts):
            array[index] = part
        return self._logical.Union(seq_of_array(array, self._jvm), False, False)
