"""`lakeprune.delete`: the plan of a DELETE, which changes nothing until it is executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeprune.apps.statements.conditional import Asked, plan_statement
from lakeprune.apps.statements.model import Operation

if TYPE_CHECKING:
    from typing import Unpack

    from pyspark.sql import SparkSession

    from lakeprune.apps.statements.options import StatementOptions
    from lakeprune.apps.statements.plan import StatementPlan
    from lakeprune.planning.opening import Table


def delete(table: Table, *, where: str, spark: SparkSession, **options: Unpack[StatementOptions]) -> StatementPlan:
    """What `DELETE FROM table WHERE where` would do; the options are those of `update`. Nothing changes before `.execute()`."""
    return plan_statement(Asked(Operation.DELETE, table, where, spark, options))
