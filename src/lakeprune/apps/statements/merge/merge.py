"""`lakeprune.merge`: the plan of a MERGE, which changes nothing until it is executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeprune.apps.statements.merge.clauses import ClauseKind, clauses_of
from lakeprune.apps.statements.options import StatementOptions

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from typing import Any, Unpack

    from pyspark.sql import DataFrame, SparkSession

    from lakeprune.apps.statements.plan import StatementPlan
    from lakeprune.planning.opening import Table

    Source = DataFrame | str | os.PathLike[str]
    Set = str | Mapping[str, str]

_KINDS = frozenset(kind.value for kind in ClauseKind)


class MergeOptions(StatementOptions, total=False):
    """The clauses by name, or as pairs of name and value in `clauses`; and the options of every statement."""

    when_matched_update: Set | list[Set]
    when_matched_delete: bool | str | list[str]
    when_not_matched_insert: Set | list[Set]
    when_not_matched_by_source_update: Set | list[Set]
    when_not_matched_by_source_delete: bool | str | list[str]
    clauses: Sequence[tuple[str, Any]]


def merge(table: Table, source: Source, *, on: str, spark: SparkSession, **options: Unpack[MergeOptions]) -> StatementPlan:
    """What `MERGE INTO table AS t USING source AS s ON on ...` would do; nothing changes before `.execute()`.

    `source` is a DataFrame, a query, or the location of a Delta table or of Parquet files; it is read once. The clauses are
    options, tried in the order given: `when_matched_update`, `when_matched_delete`, `when_not_matched_insert`,
    `when_not_matched_by_source_update`, `when_not_matched_by_source_delete`. Each is `"all"`, assignments (text or a mapping),
    `"AND condition THEN ..."`, or a list of these; for a delete True or `"AND condition"`. Where kinds alternate, `clauses` takes
    a list of pairs of name and value. The other options are those of `update`.
    """
    from lakeprune.apps.statements.merge.planning import plan_merge
    from lakeprune.apps.statements.merge.reading import AskedMerge

    listed = list(options.get("clauses", ()))
    listed += [(name, value) for name, value in options.items() if name in _KINDS]
    rest = {name: value for name, value in options.items() if name not in _KINDS and name != "clauses"}
    return plan_merge(AskedMerge(table, source, on, spark, clauses_of(listed), rest))
