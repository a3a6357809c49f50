"""MERGE: `lakeprune.merge` plans it; nothing changes until the plan is executed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lakeprune.apps.signature import takes
from lakeprune.apps.statements.merge.clauses import KINDS, MergeClause, clauses_of
from lakeprune.apps.statements.merge.on import check_on
from lakeprune.apps.statements.model import Operation
from lakeprune.apps.statements.statement import StatementOptions, planned
from lakeprune.errors import UsageError
from lakeprune.planning.session import among, check_options

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from pyspark.sql import DataFrame, SparkSession

    from lakeprune.apps.statements.merge.checked import CheckedMerge
    from lakeprune.apps.statements.planning import PlannedStatement
    from lakeprune.apps.statements.spark_target import Target
    from lakeprune.planning.opening import Table

    Source = DataFrame | str | os.PathLike[str]
    Set = str | Mapping[str, str]


class MergeOptions(StatementOptions, total=False):
    """The clauses by name, or as pairs of name and value in `clauses`; and the options of every statement."""

    when_matched_update: Set | list[Set]
    when_matched_delete: bool | str | list[str]
    when_not_matched_insert: Set | list[Set]
    when_not_matched_by_source_update: Set | list[Set]
    when_not_matched_by_source_delete: bool | str | list[str]
    clauses: Sequence[tuple[str, Any]]


@takes(MergeOptions, max_files="guard: files that are rewritten, removed or get a deletion vector")
def merge(table: Table, source: Source, *, on: str, spark: SparkSession, **options: Unpack[MergeOptions]) -> PlannedStatement:
    """What `MERGE INTO table AS t USING source AS s ON on ...` would do; nothing changes before `.execute()`.

    `source` is a DataFrame, a query, or the location of a Delta table or of Parquet files; it is read once. The clauses are
    options, tried in the order given: `when_matched_update`, `when_matched_delete`, `when_not_matched_insert`,
    `when_not_matched_by_source_update`, `when_not_matched_by_source_delete`. Each is `"all"`, assignments (text or a mapping),
    `"AND condition THEN ..."`, or a list of these; for a delete True or `"AND condition"`. Where kinds alternate, `clauses` takes
    a list of pairs of name and value. The other options are those of `update`.
    """
    check_options("merge", options, MergeOptions)
    listed = [*options.get("clauses", ()), *((name, value) for name, value in options.items() if name in KINDS)]
    return planned(Merge(source, on, clauses_of(listed)), table, spark, among(options, StatementOptions))


class Merge(Struct, frozen=True):
    """`source` is what was given, then the rows that were read."""

    source: Any
    on: str
    clauses: tuple[MergeClause, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.on, str) or not self.on.strip():
            raise UsageError("LP251", "ON is missing, or not text", fix="give an SQL condition as text:  t.id = s.id")
        check_on(self.on)

    @property
    def operation(self) -> Operation:
        return Operation.MERGE

    def check(self, target: Target) -> CheckedMerge:
        from lakeprune.apps.statements.merge.checked import checked_merge
        from lakeprune.engines.spark.packages import check_merges

        check_merges(target.spark.version)
        return checked_merge(self, target)
