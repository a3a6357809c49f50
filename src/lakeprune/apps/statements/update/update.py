"""`lakeprune.update`: the plan of an UPDATE, which changes nothing until it is executed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lakeprune.apps.statements.assignments import assignments_of
from lakeprune.apps.statements.conditional import Asked, plan_statement
from lakeprune.apps.statements.model import Operation

if TYPE_CHECKING:
    from typing import Unpack

    from pyspark.sql import SparkSession

    from lakeprune.apps.statements.options import StatementOptions
    from lakeprune.apps.statements.plan import StatementPlan
    from lakeprune.planning.opening import Table


def update(
    table: Table, set_: str | Mapping[str, str], *, where: str, spark: SparkSession, **options: Unpack[StatementOptions]
) -> StatementPlan:
    """What `UPDATE table SET set_ WHERE where` would do: the files it touches, the rows it changes and copies, what it costs.

    `set_` is SQL (`"a = 1, b = b + 1"`) or a mapping (`{"a": "1", "b": "b + 1"}`). Options are the guards (`max_files`,
    `max_rows`, `max_rewrite_bytes`, `require_partition_filter`), `strengthen`, and how the condition is read (`timezone`,
    `now`, `nan_policy`). The time zone is the session's unless given. Nothing changes before `.execute()`.
    """
    return plan_statement(Asked(Operation.UPDATE, table, where, spark, options, assignments_of(set_)))
