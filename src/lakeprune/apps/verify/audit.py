"""The application behind `verify --audit-stats`: do the recorded statistics of a table hold for its rows?

In: a table, a session that has Delta. Out: an `Audit`. Reads the columns that have statistics, never writes. What is wrong is a
value, not an exception.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from lakeprune.apps.explain.explain import opened
from lakeprune.apps.verify.audit_model import UNKNOWN_WRITER, Audit, StatisticsFault
from lakeprune.apps.verify.model import NAMED
from lakeprune.apps.verify.sampled import Sampled, share_of
from lakeprune.planning.opening import At, delta_version
from lakeprune.planning.planner import Planner
from lakeprune.predicate.schema import Role, leaf_paths
from lakeprune.predicate.tree import Column, Profile
from lakeprune.programs.audit import Fault, FoundFault, compare, name_of, recorded_statistics
from lakeprune.programs.sample import in_sample
from lakeprune.report.listing import shown
from lakeprune.values.types import Family

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import SparkSession

    from lakeprune.planning.opening import Table

_FROM_TEXT: dict[Family | None, Callable[[str], Any]] = {
    Family.INTEGER: int,
    Family.REAL: float,
    Family.DECIMAL: Decimal,
    Family.BOOLEAN: "true".__eq__,
}


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
    with explainer.planner.engine.awake(), explainer.planner.reading():
        return audited(explainer.planner, spark, share)


def audited(planner: Planner, spark: SparkSession, share: float | None) -> Audit:
    """The audit of a table that is open."""
    from lakeprune.apps.verify.spark_truth import rows_to_check
    from lakeprune.apps.verify.spark_values import values_found

    started = time.perf_counter()
    version = delta_version(planner, "an audit of statistics")
    # Which also refuses a log that disagrees with its own checksum.
    files = sum(pattern.files for pattern in planner.patterns([planner.ask(None)])[0])
    columns = [Column.at(path) for path in leaf_paths(planner.facts.schema.fields) if path[0].role is Role.DATA]
    recorded = recorded_statistics(planner.evaluation, columns, in_sample("path", share))
    rows = rows_to_check(spark, recorded.logged, version, "UTC", share)
    with values_found(rows, recorded.columns, recorded.logged) as found:
        compared = compare(recorded, found)
        checked, wrong = compared.files()
        counts, named = (compared.counts(), compared.named(NAMED)) if wrong else ([], [])
    writers = planner.snapshot.writers(planner.engine, sorted({fault.path for fault in named}))
    return Audit(
        table=planner.facts.location,
        version=version,
        files=files,
        columns=tuple(".".join(column.path) for column in recorded.columns.values()),
        sampled=None if share is None else Sampled(share, files, checked),
        checked_files=checked,
        wrong_files=wrong,
        counts=tuple(counts),
        faults=tuple(_fault(each, writers.get(each.path, UNKNOWN_WRITER), planner.profile) for each in named),
        elapsed_ms=round((time.perf_counter() - started) * 1000),
    )


def _fault(found: FoundFault, writer: str, profile: Profile) -> StatisticsFault:
    """The fault with bounds as a user would write them, and counts as numbers."""

    def value(text: str | None) -> Any:
        if text is None:
            return None
        if found.column is None or found.fault in (Fault.NULLS, Fault.NAN):
            return int(text)
        return shown(_FROM_TEXT.get(found.column.type.family, str)(text), found.column, profile)

    return StatisticsFault(found.path, name_of(found.column), found.fault, value(found.recorded), value(found.found), writer)
