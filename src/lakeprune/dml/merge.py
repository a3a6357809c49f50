"""`lakeprune.merge`: the plan of a MERGE, which changes nothing until it is executed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lakeprune.dml.merging.clauses import ClauseKind, clauses_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakeprune.dml.plan import StatementPlan
    from lakeprune.explanation import Table

_KINDS = frozenset(kind.value for kind in ClauseKind)


def merge(
    table: Table, source: DataFrame | str | os.PathLike[str], *, on: str, spark: SparkSession, **options: Any
) -> StatementPlan:
    """What `MERGE INTO table AS t USING source AS s ON on ...` would do; nothing changes before `.execute()`.

    `source` is a DataFrame, a query, or the location of a Delta table or of Parquet files; it is read once. The clauses are
    options, tried in the order given: `when_matched_update`, `when_matched_delete`, `when_not_matched_insert`,
    `when_not_matched_by_source_update`, `when_not_matched_by_source_delete`. Each is `"all"`, assignments (text or a mapping),
    `"AND condition THEN ..."`, or a list of these; for a delete True or `"AND condition"`. Where kinds alternate, `clauses` takes
    a list of pairs of name and value. The other options are those of `update`.
    """
    from lakeprune.dml.merging.planning import AskedMerge, plan_merge

    listed = list(options.pop("clauses", ()))
    listed += [(name, value) for name, value in options.items() if name in _KINDS]
    rest = {name: value for name, value in options.items() if name not in _KINDS}
    return plan_merge(AskedMerge(table, source, on, spark, clauses_of(listed), rest))
