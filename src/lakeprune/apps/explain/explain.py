"""The application behind `explain`: predicates in, one report each out, from one read of the metadata.

In: a table and predicates. Out: reports. An unreadable table and a wrong predicate are exceptions, a failed gate is a value.
The text of a predicate is read before the table is opened, so that a typo is reported even when the table is missing.
Never opens a data file, never writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from lakeprune.apps.explain.opening import DEFAULTS, Options, opened
from lakeprune.apps.explain.reports import Reports
from lakeprune.apps.signature import takes
from lakeprune.errors import UsageError
from lakeprune.planning.opening import At
from lakeprune.planning.session import NAN_POLICIES
from lakeprune.report.model import Report

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Unpack

    from lakeprune.planning.opening import Table


@takes(Options)
def explain(
    table: Table,
    where: str | None = None,
    *,
    version: int | None = None,
    timestamp: str | datetime | None = None,
    ref: str | None = None,
    **options: Unpack[Options],
) -> Report:
    """What `where` must read of the table, and why; without a predicate, the table's totals.

    `table` is a path, a URL of an object store, a deltalake `DeltaTable`, whose loaded version is taken, a PyIceberg `Table`, or
    with `catalog` a name. `ref` is a branch or tag of an Iceberg table.
    """
    if where is not None:
        _check_text(where, "the predicate")
    (report,) = _explained(table, [where], At(version, timestamp, ref), dict(options))
    return report


@takes(Options)
def explain_many(
    table: Table,
    wheres: Sequence[str],
    *,
    version: int | None = None,
    timestamp: str | datetime | None = None,
    ref: str | None = None,
    **options: Unpack[Options],
) -> Reports:
    """One report per predicate, in order, from one read of the metadata and one pass over it."""
    if isinstance(wheres, str):
        raise UsageError("LP218", "one predicate was given where a list is wanted", fix="give a list, or use `explain`")
    if not isinstance(wheres, Iterable):
        raise UsageError(
            "LP218", f"the predicates are of type {type(wheres).__name__}", fix="give a list of SQL conditions as text"
        )
    if isinstance(wheres, Mapping | AbstractSet):
        what = f"the predicates are a {type(wheres).__name__}, and reports come in the order of a list"
        fix = "give a list, such as list(wheres.values())" if isinstance(wheres, Mapping) else "give a list"
        raise UsageError("LP218", what, fix=fix)
    predicates = list(wheres)
    for number, where in enumerate(predicates, 1):
        _check_text(where, f"predicate {number} of {len(predicates)}")
    return Reports(_explained(table, predicates, At(version, timestamp, ref), dict(options)))


def _explained(table: Table, wheres: Sequence[str | None], at: At, options: dict[str, Any]) -> list[Report]:
    explainer, conditions = opened(table, wheres, at, {**DEFAULTS, **options})
    # A program may keep a thousand reports: each must not keep a database with its threads.
    with explainer.planner.engine.awake():
        return explainer.reports(conditions) if conditions else []


def _check_text(where: object, what: str) -> None:
    if not isinstance(where, str):
        raise UsageError("LP218", f"{what} is of type {type(where).__name__}", fix="give an SQL condition as text")


__all__ = ["NAN_POLICIES", "explain", "explain_many"]
