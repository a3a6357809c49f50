"""SQL over several tables, each scan pruned by what the query demands of it.

In: tables by the names the query gives them, a query. Out: rows. Files of a table that cannot hold a row which matters to the
answer are never opened; the engine applies every condition itself. With `spark=` the same on Spark, as a DataFrame.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

from lakeprune.apps.scan.handoff.duckdb import check_names
from lakeprune.apps.scan.model import ScanPlan
from lakeprune.apps.scan.options import ScanOptions
from lakeprune.apps.scan.plan import planned
from lakeprune.engines.engine import EngineError
from lakeprune.errors import LakepruneError, UsageError
from lakeprune.planning.opening import At, open_planner
from lakeprune.planning.session import SessionOptions, among, check_options, for_rows, profile_of
from lakeprune.storage.access import AccessOptions

if TYPE_CHECKING:
    from typing import Unpack

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from lakeprune.planning.opening import Table

    Source = ScanPlan | Table

_UTC = "UTC"


class SqlOptions(SessionOptions, AccessOptions, total=False):
    """How the tables are opened."""


@overload
def sql(
    tables: Mapping[str, Source], query: str, *, spark: None = None, **options: Unpack[SqlOptions]
) -> pa.RecordBatchReader: ...


@overload
def sql(tables: Mapping[str, Source], query: str, *, spark: SparkSession, **options: Unpack[SqlOptions]) -> DataFrame: ...


def sql(
    tables: Mapping[str, Source], query: str, *, spark: SparkSession | None = None, **options: Unpack[SqlOptions]
) -> pa.RecordBatchReader | DataFrame:
    """The answer of a query over these tables: an Arrow reader, or a DataFrame of the given session.

    A table is a location or an opened table, or a plan, whose rows are then the table's.
    """
    check_options("sql", options, SqlOptions)
    if spark is None:
        return _run_embedded(pruned_plans(tables, query, dialect="duckdb", options=dict(options)), tables, query)
    from lakeprune.apps.sql.spark_views import run_on_spark, zone_of

    zone = zone_of(spark)
    plans = pruned_plans(tables, query, dialect="spark", options={"timezone": zone, **options}, zone=zone)
    return run_on_spark(spark, plans, query)


def pruned_plans(
    tables: Mapping[str, Source], query: str, *, dialect: str, options: dict[str, Any], zone: str = _UTC
) -> dict[str, ScanPlan]:
    """The scan of each table that the query reads; `zone` is the one in which the engine reads moments without any."""
    from lakeprune.predicate.read.sql.query_filters import query_filters

    _check(tables, query)
    whole = {name: _opened(source, options) for name, source in tables.items()}
    schemas = {name: _schema_of(scan) for name, scan in whole.items()}
    demands = query_filters(query, schemas, dialect, zone)
    return {name: _narrowed(whole[name], demand) for name, demand in demands.items()}


def _check(tables: Mapping[str, Source], query: str) -> None:
    if not isinstance(tables, Mapping) or not tables or not isinstance(query, str):
        fix = 'lakeprune.sql({"orders": "./orders"}, "SELECT count(*) FROM orders")'
        raise UsageError("LP288", "a query needs tables by their names, and its text", fix=fix)
    names = [name.lower() for name in tables]
    if len(set(names)) < len(names):
        raise UsageError("LP288", "two tables have the same name", why="SQL does not tell names apart by case", fix="rename one")


def _opened(source: Source, options: dict[str, Any]) -> ScanPlan:
    if isinstance(source, ScanPlan):
        return source
    given = {"timezone": _UTC, **among(options, SessionOptions)}
    profile, session = profile_of(**for_rows(given, "a query"))
    planner = open_planner(source, At(None, None, None), profile, access=among(options, AccessOptions))
    with planner.engine.awake():
        return planned(planner, planner.ask(None), session, {})


def _schema_of(scan: ScanPlan) -> Any:
    from lakeprune.predicate.schema import Schema

    if scan.planner is None:
        return Schema(())
    shown = {column.name: column.type for column in scan.columns}
    facts = scan.planner.facts
    own = {name: facts.declared[name].type for name in shown if name in facts.declared}
    return Schema(tuple(field for field in facts.schema.fields if shown.get(field.name, "") == own.get(field.name)))


def _narrowed(scan: ScanPlan, demand: str | None) -> ScanPlan:
    """The scan with what the query demands added to its own predicate; a limit is about the rows of its own predicate alone."""
    if demand is None or scan.limit is not None or scan.planner is None:
        return scan
    where = demand if scan.predicate is None else f"({scan.predicate}) AND ({demand})"
    declared = scan.planner.facts.declared
    types = {column.name: column.type for column in scan.columns if column.name in declared}
    schema = {name: type_ for name, type_ in types.items() if type_ != declared[name].type}
    given = {"columns": [column.name for column in scan.columns], "schema": schema}
    with scan.planner.engine.awake():
        return planned(scan.planner, scan.planner.ask(where), scan.session, given)


def _run_embedded(plans: Mapping[str, ScanPlan], given: Mapping[str, Source], query: str) -> Any:
    from lakeprune.engines.duckdb.queries import run_query

    datasets = {name: _dataset(scan, given[name]) for name, scan in plans.items()}
    return run_query(datasets, query, lambda error: _failure(error, datasets, query))


def _failure(error: EngineError, datasets: Mapping[str, Any], query: str) -> LakepruneError:
    """What a table's rows ended with, where they did; else what the engine says of the query."""
    for dataset in datasets.values():
        if dataset.failure is not None:
            failure: LakepruneError = dataset.failure
            return failure
    fix = f"the tables are: {', '.join(datasets) or 'none that the query reads'}"
    return UsageError("LP289", "the query cannot be run", where=query, why=str(error), fix=fix)


def _dataset(scan: ScanPlan, given: Source) -> Any:
    """Of a table DuckDB filters every row itself; the predicate of a plan is part of what its name means, and is applied here."""
    check_names([column.name for column in scan.columns])
    if not isinstance(given, ScanPlan) or given.predicate is None:
        return scan.to_arrow_dataset(ScanOptions(pushdown=False))
    try:
        return scan.to_arrow_dataset()
    except UsageError:
        return given.to_arrow_dataset()  # what the query demands has no exact form on rows: the plan as it was given
