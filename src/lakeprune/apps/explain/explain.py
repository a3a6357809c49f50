"""The application behind `explain`: predicates in, one report each out, from one read of the metadata.

In: a table and predicates. Out: reports. An unreadable table and a wrong predicate are exceptions, a failed gate is a value.
The text of a predicate is read before the table is opened, so that a typo is reported even when the table is missing.
Never opens a data file, never writes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakeprune.apps.explain.explainer import Explainer
from lakeprune.errors import UsageError
from lakeprune.planning.opening import At, open_planner
from lakeprune.planning.planner import read_all
from lakeprune.planning.session import NAN_POLICIES, SessionOptions, among, profile_of
from lakeprune.report.gates import Gates, gates_of
from lakeprune.report.model import Report
from lakeprune.storage.access import AccessOptions

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Unpack

    from pyspark.sql import SparkSession

    from lakeprune.planning.opening import Table
    from lakeprune.predicate.condition import Condition


class Options(SessionOptions, Gates, AccessOptions, total=False):
    """How a predicate is read, the gates, how an object store is reached; named like the command's flags."""

    spark: SparkSession  # reads the metadata instead of this process
    explain_why: bool


def explain(
    table: Table,
    where: str | None = None,
    *,
    version: int | None = None,
    timestamp: str | datetime | None = None,
    **options: Unpack[Options],
) -> Report:
    """What `where` must read of the table, and why; without a predicate, the table's totals.

    `table` is a path, a URL of an object store or a deltalake `DeltaTable`, whose loaded version is taken.
    """
    if where is not None:
        _check_text(where, "the predicate")
    (report,) = _explained(table, [where], At(version, timestamp), dict(options))
    return report


def explain_many(
    table: Table,
    wheres: Sequence[str],
    *,
    version: int | None = None,
    timestamp: str | datetime | None = None,
    **options: Unpack[Options],
) -> list[Report]:
    """One report per predicate, in order, from one read of the metadata and one pass over it."""
    if isinstance(wheres, str):
        raise UsageError("LP218", "one predicate was given where a list is wanted", fix="give a list, or use `explain`")
    predicates = list(wheres)
    for number, where in enumerate(predicates, 1):
        _check_text(where, f"predicate {number} of {len(predicates)}")
    return _explained(table, predicates, At(version, timestamp), dict(options))


def _explained(table: Table, wheres: Sequence[str | None], at: At, options: dict[str, Any]) -> list[Report]:
    explainer, conditions = opened(table, wheres, at, options)
    # A program may keep a thousand reports: each must not keep a database with its threads.
    with explainer.planner.engine.awake():
        return explainer.reports(conditions) if conditions else []


def opened(
    table: Table, wheres: Sequence[str | None], at: At, options: dict[str, Any]
) -> tuple[Explainer, list[Condition | None]]:
    """The table, ready to be asked, and the predicates as they were read: first these, then the table."""
    started = time.perf_counter()
    if unknown := sorted(options.keys() - Options.__annotations__.keys()):
        raise TypeError(f"explain() has no option {unknown[0]!r}; it has {', '.join(sorted(Options.__annotations__))}")
    profile, session = profile_of(**among(options, SessionOptions))
    conditions = read_all(wheres, profile)
    planner = open_planner(table, at, profile, access=among(options, AccessOptions), spark=options.get("spark"))
    return Explainer(planner, session, gates_of(options), started, bool(options.get("explain_why"))), conditions


def _check_text(where: object, what: str) -> None:
    if not isinstance(where, str):
        raise UsageError("LP218", f"{what} is of type {type(where).__name__}", fix="give an SQL condition as text")


__all__ = ["NAN_POLICIES", "explain", "explain_many"]
