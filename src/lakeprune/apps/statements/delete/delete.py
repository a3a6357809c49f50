"""DELETE: `lakeprune.delete` plans it; nothing changes until the plan is executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def delete(table: Table, *, where: str, spark: SparkSession, **options: Unpack[StatementOptions]) -> PlannedStatement:
    """What `DELETE FROM table WHERE where` would do; the options are those of `update`. Nothing changes before `.execute()`."""
    check_options("delete", options, StatementOptions)
    return planned(Delete(where), table, spark, options)


class Delete(ByCondition, frozen=True):
    operation = Operation.DELETE
    changes = "deleted"
    whole = Fate.REMOVE
    reads_padded = False

    def analyse(self, target: Target, executed: str) -> None:
        from lakeprune.apps.statements.spark_analysis import check_delete

        check_delete(target, executed)

    def run(self, spark: SparkSession, location: str, condition: str) -> None:
        from lakeprune.apps.statements import spark_writer

        spark_writer.run_delete(spark, location, condition)
