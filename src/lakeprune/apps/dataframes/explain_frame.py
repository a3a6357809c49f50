"""The application behind `lakeprune.spark.explain`: read the plan, translate its filters, explain each scan at its own version.

In: a DataFrame, or a session and a query. Out: a `DataFrameReport`. Executes nothing. A source that cannot be explained is
listed; only a plan without any table that can be is an error.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from lakeprune.apps.dataframes.advice import advised
from lakeprune.apps.dataframes.conditions import question_of
from lakeprune.apps.dataframes.model import DataFrameReport, DeltaSection, ParquetSection, Section
from lakeprune.apps.dataframes.scan import DeltaScan, ParquetScan, Reading
from lakeprune.apps.explain.explain import opened
from lakeprune.errors import TableError, UsageError
from lakeprune.planning.opening import At
from lakeprune.planning.session import check_options
from lakeprune.report.amount import Amount
from lakeprune.report.gates import Assertion, Gates, Measured, check_gates, demanded, gates_of, judge, judged
from lakeprune.report.model import Report

if TYPE_CHECKING:
    from lakeprune.apps.dataframes.spark_plans import Planned


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
    planned = _planned(source, query, options.get("timezone"))
    reading = reading_of(planned)
    if not reading.scans and not reading.unread:
        raise _nothing_to_explain(reading, query)
    session = {name: value for name, value in options.items() if name == "nan_policy"}
    asked = {"timezone": reading.zone, "explain_why": options.get("explain_why", True), **session}
    sections = _sections(planned, reading.scans, gates, asked)
    elapsed = round((time.perf_counter() - started) * 1000)
    return DataFrameReport(sections, reading.unread, reading.unexplained, reading.zone, query, elapsed)


def _planned(source: Any, query: str | None, zone: str | None) -> Planned:
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
        "no Delta or Parquet table is read here",
        where=query,
        why=f"not explained are {others}" if others else "it reads no table at all",
        fix="give a DataFrame over a Delta table" if query is None else "name a Delta table in the query: delta.`/path`",
    )


def _sections(
    planned: Planned, scans: Sequence[DeltaScan | ParquetScan], gates: Gates, asked: dict[str, Any]
) -> tuple[Section, ...]:
    """The scans of one table at one version are explained by one pass over its metadata."""
    tables: dict[tuple[str, int], list[DeltaScan]] = {}
    for scan in scans:
        if isinstance(scan, DeltaScan):
            tables.setdefault((scan.location, scan.version), []).append(scan)
    reports = {id(scan): report for group in tables.values() for scan, report in _explained(planned, group, asked)}
    sections: list[Section] = []
    for scan in scans:
        if isinstance(scan, DeltaScan):
            report = reports[id(scan)]
            sections.append(DeltaSection(scan, replace(report, assertions=_judged(report, gates))))
        else:
            sections.append(ParquetSection(scan, _judged_by_spark(scan, gates)))
    return tuple(sections)


def _explained(planned: Planned, scans: list[DeltaScan], asked: dict[str, Any]) -> list[tuple[DeltaScan, Report]]:
    first = scans[0]
    # This process reads a local log faster; what only Spark can reach, Spark reads.
    engine = {} if _is_here(first.location) else {"spark": planned.spark}
    explainer, _ = opened(first.location, [], At(first.version), {**asked, **engine})
    planner = explainer.planner
    with planner.engine.awake():
        questions = [question_of(scan, planner) for scan in scans]
        found = planner.patterns(questions)
        reports = [explainer.report(question, patterns) for question, patterns in zip(questions, found, strict=True)]
        if not asked["explain_why"]:
            return list(zip(scans, reports, strict=True))
        return [
            (scan, advised(planned, planner, scan, question, report))
            for scan, question, report in zip(scans, questions, reports, strict=True)
        ]


def _is_here(location: str) -> bool:
    return os.path.isdir(os.path.join(location, "_delta_log"))


def _judged(report: Report, gates: Gates) -> tuple[Assertion, ...]:
    undecided = [clause.clause.text for clause in report.clauses if not clause.is_attributable]
    return judge(gates, report.numbers, undecided, has_predicate=report.predicate is not None)


def _judged_by_spark(scan: ParquetScan, gates: Gates) -> tuple[Assertion, ...]:
    """Files and bytes by Spark's own listing; what needs statistics cannot be met without reading them."""
    if scan.files is None or scan.bytes is None:
        uncounted = Assertion("listed", False, {}, "the files of a cached scan of plain Parquet are not counted")
        return (uncounted,) if any(demanded(gates)) else ()
    kept = Amount(scan.files, scan.bytes, 0, scan.files)
    total = Amount(scan.total_files or scan.files, scan.total_bytes or scan.bytes, 0, scan.files)
    unread = "the statistics of plain Parquet files are not read yet"
    return judged(gates, Measured(total, kept, scan.files, None, scan.filters, unread))
