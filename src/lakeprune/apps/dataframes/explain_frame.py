"""The application behind `lakeprune.spark.explain`: read the plan, translate its filters, explain each scan at its own version.

In: a DataFrame, or a session and a query. Out: a `DataFrameReport`. Executes nothing. A source that cannot be explained is
listed; only a plan without any table that can be is an error.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lakeprune.apps.dataframes.advice import advised
from lakeprune.apps.dataframes.conditions import question_of
from lakeprune.apps.dataframes.model import DataFrameReport, Section
from lakeprune.apps.dataframes.scan import Reading, Scan
from lakeprune.apps.explain.opening import DEFAULTS, opened
from lakeprune.errors import TableError, UsageError
from lakeprune.planning.opening import At
from lakeprune.planning.session import check_options
from lakeprune.report.amount import Amount
from lakeprune.report.engines import EngineRead
from lakeprune.report.gates import BY_ENGINE, Assertion, Gates, Measured, check_gates, demanded, gates_of, judge, judged
from lakeprune.report.model import Report

if TYPE_CHECKING:
    from lakeprune.apps.dataframes.spark_plans import QueryPlan


class FrameOptions(Gates, total=False):
    """What `lakeprune.explain` takes too. Gates are judged on every scan; `explain_why` is on unless it is False."""

    explain_why: bool
    nan_policy: str
    timezone: str  # of a query


def explain_frame(source: Any, query: str | None, options: dict[str, Any]) -> DataFrameReport:
    """Every scan of a DataFrame, or of a query in a session."""
    from lakeprune.apps.dataframes.spark_scans import reading_of

    started = time.perf_counter()
    check_options("explain", options, FrameOptions)
    gates = gates_of(options)
    check_gates(gates, has_predicate=True)
    plan = _planned(source, query, options.get("timezone"))
    reading = reading_of(plan)
    if not reading.scans and not reading.unread:
        raise _nothing_to_explain(reading, query)
    session = {**DEFAULTS, **{name: value for name, value in options.items() if name == "nan_policy"}}
    wants_why = options.get("explain_why", True) or bool(gates.get("fail_on"))
    asked = {"timezone": reading.zone, "explain_why": wants_why, **session}
    sections = _sections(plan, reading.scans, gates, asked)
    elapsed = round((time.perf_counter() - started) * 1000)
    return DataFrameReport(sections, reading.unread, reading.unexplained, reading.zone, query, elapsed)


def _planned(source: Any, query: str | None, zone: str | None) -> QueryPlan:
    is_session, is_frame = hasattr(source, "createDataFrame"), hasattr(source, "sparkSession")
    from lakeprune.apps.dataframes.spark_plans import plan_of_frame, plan_of_text

    if query is None and is_frame:
        if zone is not None:
            fix = "set spark.sql.session.timeZone before the DataFrame is made"
            raise UsageError("LP245", "a DataFrame has the time zone of its session already", fix=fix)
        return plan_of_frame(source)
    if isinstance(query, str) and is_session and not is_frame:
        return plan_of_text(source, query, zone)
    what = type(source).__name__ if query is None else f"{type(source).__name__} and {type(query).__name__}"
    raise UsageError("LP241", f"{what} cannot be explained", fix="give a DataFrame, or a SparkSession and the text of a query")


def _nothing_to_explain(reading: Reading, query: str | None) -> TableError:
    others = "; ".join(f"{other.source}: {other.why}" for other in reading.unexplained)
    return TableError(
        "LP345",
        "no Delta, Iceberg or Parquet table is read here",
        where=query,
        why=f"not explained are {others}" if others else "it reads no table at all",
        fix="give a DataFrame over a Delta table" if query is None else "name a Delta table in the query: delta.`/path`",
    )


class Place(Struct, frozen=True):
    """A table as it is opened: scans of one place are explained by one pass over its metadata."""

    location: str
    at: At


def _sections(query: QueryPlan, scans: Sequence[Scan], gates: Gates, asked: dict[str, Any]) -> tuple[Section, ...]:
    tables: dict[Place, list[Scan]] = {}
    for scan in scans:
        if (place := place_of(scan)) is not None:
            tables.setdefault(place, []).append(scan)
    reports = {id(scan): report for place, group in tables.items() for scan, report in _explained(query, place, group, asked)}
    return tuple(_section(scan, reports.get(id(scan)), gates) for scan in scans)


def place_of(scan: Scan) -> Place | None:
    """Where the metadata of a scan is read; None where that cannot be: Parquet files of several roots, or not of this machine."""
    if scan.format == "delta":
        return Place(scan.location, At(scan.version))
    if scan.format == "iceberg":
        version = None if scan.is_latest or scan.ref is not None else scan.version
        return None if scan.metadata is None else Place(scan.metadata, At(version, None, scan.ref))
    return Place(scan.location, At()) if len(scan.locations) == 1 and os.path.exists(scan.location) else None


def _section(scan: Scan, report: Report | None, gates: Gates) -> Section:
    if report is None:
        return Section(scan, None, _judged_by_spark(scan, gates))
    # Spark's own count is in hand, and is what the query reads; gates judge by the metadata's where they are asked to.
    by_spark: Gates = {"gate_on": BY_ENGINE} if report.engines else {}
    report = judge({**by_spark, **gates}, report)
    return Section(scan, report, report.assertions)


def _explained(query: QueryPlan, place: Place, scans: list[Scan], asked: dict[str, Any]) -> Iterator[tuple[Scan, Report]]:
    # This process reads local metadata faster; what only Spark can reach, Spark reads.
    engine = {} if is_here(place.location) else {"spark": query.spark}
    try:
        explainer, _ = opened(place.location, [], place.at, {**asked, **engine})
    except TableError:
        if scans[0].format != "parquet":
            raise
        return  # Spark lists folders that are not read as Parquet files here; its own numbers are shown
    planner = explainer.planner
    with planner.engine.awake():
        questions = [question_of(scan, planner) for scan in scans]
        reports = explainer.answers(questions, [_planned_read(query, scan) for scan in scans])
        for scan, report in zip(scans, reports, strict=True):
            yield scan, advised(query, scan, report)


_READERS = {"delta": "Delta Spark", "iceberg": "Iceberg Spark", "parquet": "Spark"}


def _planned_read(query: QueryPlan, scan: Scan) -> EngineRead | None:
    """What Spark itself decided to read; None where that was not counted: Delta's data skipping is off, or a cache is read."""
    spark = scan.spark
    if spark is None or spark.files is None:
        return None
    why = {
        "delta": f"its own record names {', '.join(spark.unused_filters) or 'no filter that it leaves out'}",
        "iceberg": "it does not use every condition",
        "parquet": "it plans by folders, and reads statistics only with the files",
    }[scan.format]
    return EngineRead(_READERS[scan.format], query.version_of(scan.format), spark.files, spark.bytes or 0, "planned", [why])


def is_here(location: str) -> bool:
    return os.path.exists(location)


def _judged_by_spark(scan: Scan, gates: Gates) -> tuple[Assertion, ...]:
    """Files and bytes by Spark's own listing; what needs statistics cannot be met without reading them."""
    spark = scan.spark
    if spark is None or spark.files is None or spark.bytes is None:
        uncounted = Assertion("listed", False, {}, "the files of a cached scan of plain Parquet are not counted")
        return (uncounted,) if any(demanded(gates)) else ()
    kept = Amount(spark.files, spark.bytes, 0, spark.files)
    total = Amount(spark.total_files or spark.files, spark.total_bytes or spark.bytes, 0, spark.files)
    unread = "the statistics of these Parquet files are not read"
    return judged(gates, Measured(total, kept, spark.files, None, [each.sql for each in scan.filters], unread))
