"""The application behind `verify --audit-stats`: do the recorded statistics of a table hold for its rows?

In: a table, a session that has Delta. Out: an `Audit`. Reads the columns that have statistics, never writes. What is wrong is a
value, not an exception.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from lakeprune.apps.explain.explain import opened
from lakeprune.apps.verify.audit_model import UNKNOWN_WRITER, Audit, FaultyFiles, StatisticsFault
from lakeprune.apps.verify.model import NAMED
from lakeprune.apps.verify.sampled import Sampled, share_of
from lakeprune.engines.engine import EngineError
from lakeprune.errors import TableError
from lakeprune.planning.opening import At
from lakeprune.planning.planner import Planner
from lakeprune.predicate.schema import Field, Role
from lakeprune.predicate.tree import Column, Profile
from lakeprune.programs.audit import Fault, FoundFault, compare, recorded_statistics
from lakeprune.programs.sample import in_sample
from lakeprune.report.listing import shown
from lakeprune.values.types import Family, Kind

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import SparkSession

    from lakeprune.planning.opening import Table


def audit(
    table: Table,
    *,
    spark: SparkSession,
    version: int | None = None,
    timestamp: str | datetime | None = None,
    sample: float | None = None,
    **options: Any,
) -> Audit:
    """Whether the statistics that the table's log records hold for the rows of its files."""
    share = share_of(sample)
    explainer, _ = opened(table, [], At(version, timestamp), {**options, "spark": spark})
    with explainer.planner.engine.awake():
        return audited(explainer.planner, spark, share)


def audited(planner: Planner, spark: SparkSession, share: float | None) -> Audit:
    """The audit of a table that is open."""
    from lakeprune.apps.verify.spark_truth import Rows
    from lakeprune.apps.verify.spark_values import values_view

    started = time.perf_counter()
    evaluation, facts = planner.evaluation, planner.facts
    files = sum(
        pattern.files for pattern in planner.patterns([planner.ask(None)])[0]
    )  # which also refuses a log that disagrees with its own checksum
    try:
        columns = list(data_columns(facts.schema.fields))
        recorded = recorded_statistics(evaluation, columns, in_sample("path", share or 1))
        rows = Rows(facts.location, facts.version, "UTC", None if share is None else recorded.paths())
        with values_view(spark, rows, recorded.columns) as view:
            keyed = f"(SELECT *, {evaluation.snapshot.file_key(evaluation.engine, 'url')} AS file FROM {view})"
            if strangers := recorded.strangers(keyed):
                raise unmatched(strangers, facts.location)
            compared = compare(recorded, keyed)
            checked, wrong = compared.files()
            counts = compared.counts() if wrong else []
            named = compared.named(NAMED) if wrong else []
        writers = evaluation.snapshot.writers(evaluation.engine, sorted({fault.path for fault in named}))
    except EngineError as error:
        raise evaluation.snapshot.failure(error) from error
    return Audit(
        table=facts.location,
        version=facts.version,
        files=files,
        columns=tuple(".".join(column.path) for column in recorded.columns.values()),
        sampled=None if share is None else Sampled(share, files, checked),
        checked_files=checked,
        wrong_files=wrong,
        counts=tuple(FaultyFiles(_name(count.column), count.fault, count.files) for count in counts),
        faults=tuple(_told(fault, writers.get(fault.path, UNKNOWN_WRITER), planner.profile) for fault in named),
        elapsed_ms=round((time.perf_counter() - started) * 1000),
    )


def data_columns(fields: tuple[Field, ...], above: tuple[Field, ...] = ()) -> Iterator[Column]:
    """The columns that can have statistics: those outside of arrays and maps, which themselves have a null count."""
    for field in fields:
        path = (*above, field)
        if path[0].role is Role.PARTITION:
            continue
        if field.type.kind is Kind.STRUCT:
            yield from data_columns(field.children, path)
        else:
            distrust = next((part.statistics_unusable for part in path if part.statistics_unusable), None)
            yield Column(
                tuple(part.name for part in path), tuple(part.physical for part in path), field.type, Role.DATA, distrust
            )


def unmatched(files: int, location: str) -> TableError:
    """Files of the scan that the log does not know."""
    what = f"{files} files that Delta Spark reads are not among the files of the log"
    return TableError("LP341", what, where=location, why="their paths could not be matched, so nothing can be said about them")


def _told(found: FoundFault, writer: str, profile: Profile) -> StatisticsFault:
    recorded, held = (_value(text, found, profile) for text in (found.recorded, found.found))
    return StatisticsFault(found.path, _name(found.column), found.fault, recorded, held, writer)


def _value(text: str | None, found: FoundFault, profile: Profile) -> Any:
    """A bound as a user would write it; a count as a number."""
    if text is None:
        return None
    if found.column is None or found.fault in (Fault.NULLS, Fault.NAN):
        return int(text)
    value: Any = text
    match found.column.type.family:
        case Family.INTEGER:
            value = int(text)
        case Family.REAL:
            value = float(text)
        case Family.DECIMAL:
            value = Decimal(text)
        case Family.BOOLEAN:
            value = text == "true"
    return shown(value, found.column, profile)


def _name(column: Column | None) -> str | None:
    return None if column is None else ".".join(column.path)
