"""UPDATE: `lakeprune.update` plans it; nothing changes until the plan is executed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lakeprune.apps.statements.assignments import assignments_of
from lakeprune.apps.statements.by_condition import ByCondition
from lakeprune.apps.statements.model import Fate, Operation
from lakeprune.apps.statements.statement import StatementOptions, planned
from lakeprune.planning.session import check_options

if TYPE_CHECKING:
    from typing import Unpack

    from pyspark.sql import SparkSession

    from lakeprune.apps.statements.planning import PlannedStatement
    from lakeprune.apps.statements.spark_target import Target
    from lakeprune.planning.opening import Table


def update(
    table: Table, set_: str | Mapping[str, str], *, where: str, spark: SparkSession, **options: Unpack[StatementOptions]
) -> PlannedStatement:
    """What `UPDATE table SET set_ WHERE where` would do: the files it touches, the rows it changes and copies, what it costs.

    `set_` is SQL (`"a = 1, b = b + 1"`) or a mapping (`{"a": "1", "b": "b + 1"}`). Options are the guards (`max_files`,
    `max_rows`, `max_rewrite_bytes`, `require_partition_filter`), `strengthen`, and how the condition is read (`timezone`,
    `now`, `nan_policy`). The time zone is the session's unless given. Nothing changes before `.execute()`.
    """
    check_options("update", options, StatementOptions)
    return planned(Update(where, assignments_of(set_)), table, spark, options)


class Update(ByCondition, frozen=True):
    operation = Operation.UPDATE
    changes = "updated"
    whole = Fate.REWRITE
    reads_padded = True

    def analyse(self, target: Target, executed: str) -> None:
        from lakeprune.apps.statements.spark_analysis import check_update

        check_update(target, executed, self.assignments)

    def run(self, spark: SparkSession, location: str, condition: str) -> None:
        from lakeprune.apps.statements import spark_writer

        spark_writer.run_update(spark, location, condition, self.assignments)
