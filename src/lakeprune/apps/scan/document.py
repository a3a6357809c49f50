"""The JSON document of a plan. Its files come last, a line each, made by the engine; a million lines never stay in memory.

In: a `ScanPlan`. Out: a `PlanDocument`, or its head alone. Values of partitions and bounds are text: bytes by their hexadecimal
digits, everything else as SQL writes it, so that no digit is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from lakeprune.apps.scan.model import Pushdown, ScanColumn, TableIdentity, Totals
from lakeprune.apps.scan.statistics import ScanStatistics
from lakeprune.planning.session import Session
from lakeprune.report.document import Envelope

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanPlan


class PlanClause(Struct, frozen=True):
    """A conjunct, and who guarantees it."""

    text: str
    pushdown: Pushdown


class FileStatistics(Struct, frozen=True):
    """As recorded, null where nothing is; a maximum that may be a truncated prefix is not given."""

    min: str | None
    max: str | None
    nulls: int | None


class PlanFile(Struct, frozen=True):
    """One file that is read. `residual` are the clauses that are left to filter in it, by their places."""

    path: str
    uri: str
    size: int
    modified: int | None
    rows: int | None
    verdict: Literal["full", "partial"]
    residual: list[int]
    vector: str | None
    group: int | None
    partition: dict[str, str | None] | UnsetType = UNSET
    stats: dict[str, FileStatistics] | UnsetType = UNSET


class PlanHead(Envelope, frozen=True):
    table: TableIdentity
    session: Session
    predicate: str | None
    columns: tuple[ScanColumn, ...]
    filter_columns: tuple[ScanColumn, ...]
    partition_columns: tuple[ScanColumn, ...]
    clauses: list[PlanClause]
    limit: int | None
    groups: int | None
    totals: Totals
    statistics: ScanStatistics


class PlanDocument(PlanHead, frozen=True, kw_only=True):
    """A scan as data. `filter_columns` are those that only the filter needs; `files_scanned + files_pruned == files_total`."""

    files: list[PlanFile]


def plan_document(plan: ScanPlan) -> PlanDocument:
    """The whole document at once, for a few files."""
    with plan.source.at_once() as found:
        plan.remember(found)
        files = msgspec.json.decode(f"[{','.join(found.lines())}]", type=list[PlanFile])
    return PlanDocument(**_head_fields(plan), files=files)


def plan_head(plan: ScanPlan) -> PlanHead:
    """The document without its files."""
    return PlanHead(**_head_fields(plan))


def _head_fields(plan: ScanPlan) -> dict[str, Any]:
    return {
        "table": plan.table,
        "session": plan.session,
        "predicate": plan.predicate,
        "columns": plan.columns,
        "filter_columns": plan.filter_columns,
        "partition_columns": plan.partition_columns,
        "clauses": [PlanClause(clause.text, clause.pushdown) for clause in plan.clauses],
        "limit": plan.limit,
        "groups": plan.groups,
        "totals": plan.totals,
        "statistics": plan.statistics,
        "elapsed_ms": plan.elapsed_ms,
        "schema_version": plan.schema_version,
        "tool_version": plan.tool_version,
    }
