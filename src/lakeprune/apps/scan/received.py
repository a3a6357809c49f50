"""A plan that came as JSON: its files as it names them, its table opened again when somebody reads its rows.

In: the document that `ScanPlan.to_json` made, perhaps in another process. Out: a `ScanPlan`. A document of another version of the
schema, a plan of another table, and a table that is not at the plan's version any more are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from lakeprune.apps.scan.changes import Span, over_changes
from lakeprune.apps.scan.document import PlanClause, PlanFile, PlanHead
from lakeprune.apps.scan.files import check_arrow, completed
from lakeprune.apps.scan.model import ScanClause, ScanColumn, ScanPlan, TableIdentity
from lakeprune.apps.scan.plan import identity_of
from lakeprune.apps.scan.statistics import ScanStatistics
from lakeprune.engines.engine import EngineError
from lakeprune.errors import TableError, UsageError
from lakeprune.formats.delta.schema import data_type
from lakeprune.planning.opened import OpenedTable
from lakeprune.planning.opening import At, engine_of, open_planner
from lakeprune.planning.session import check_options, profile_of
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Opaque
from lakeprune.programs.scan import Asked
from lakeprune.programs.scan_forms import sql_of_lines
from lakeprune.storage.access import AccessOptions

if TYPE_CHECKING:
    import pyarrow as pa

_NOT_OPENED = Reason(ReasonCode.NOT_EVALUATED, "the table of the plan was not opened")


class Received(PlanHead, frozen=True, kw_only=True):
    files: list[Raw]


class ReceivedFiles(Struct, frozen=True):
    """The files as they stand in a document."""

    raw: list[Raw]
    found: ScanStatistics
    partitions: tuple[ScanColumn, ...]

    def at_once(self) -> AbstractContextManager[ReceivedFiles]:
        return nullcontext(self)

    def arrow(self) -> pa.Table:
        check_arrow()
        partitions = tuple(_column(each.name, each.type, Role.PARTITION) for each in self.partitions)
        names = {column.path[0] for column in partitions}
        statistics = tuple(_column(each.name, each.type, Role.DATA) for each in self.found.columns if each.name not in names)
        engine = engine_of(None)
        with engine.awake():
            lines = engine.columns(["number", "line"], ["BIGINT", "STRING"], [list(range(len(self.raw))), list(self.lines())])
            try:
                return completed(engine.arrow(sql_of_lines(engine.dialect, lines, Asked(partitions, statistics))))
            except EngineError as error:
                raise _not_a_plan(str(error)) from error

    def lines(self) -> Iterator[str]:
        return (bytes(line).decode() for line in self.raw)

    def statistics(self) -> ScanStatistics:
        return self.found


def received(text: str | bytes) -> ScanPlan:
    """The plan that a document describes; its table is not opened."""
    try:
        document = msgspec.json.decode(text, type=Received)
    except (msgspec.MsgspecError, UnicodeDecodeError, TypeError) as error:
        raise _not_a_plan(str(error)) from error
    known = ScanPlan.schema_version
    if document.schema_version.partition(".")[0] != known.partition(".")[0]:
        what = f"the plan has schema version {document.schema_version}, and this lakeprune reads {known}"
        raise UsageError("LP274", what, fix="plan and read with the same lakeprune")
    if (document.limit is not None and document.limit < 0) or (document.groups is not None and document.groups < 1):
        raise _not_a_plan(f"its limit is {document.limit}, and it has {document.groups} groups")
    _check_files(document)
    totals = document.totals
    if len(document.files) != totals.files_scanned or totals.files_scanned + totals.files_pruned != totals.files_total:
        raise _not_a_plan(f"it has {len(document.files)} files, and its totals say {totals.files_scanned}")
    return ScanPlan(
        table=document.table,
        session=document.session,
        predicate=document.predicate,
        columns=document.columns,
        filter_columns=document.filter_columns,
        partition_columns=document.partition_columns,
        clauses=tuple(_unopened(clause) for clause in document.clauses),
        limit=document.limit,
        groups=document.groups,
        totals=totals,
        elapsed_ms=document.elapsed_ms,
        source=ReceivedFiles(document.files, document.statistics, document.partition_columns),
        planner=None,
    )


def opened(plan: ScanPlan, table: Any, access: Mapping[str, Any]) -> ScanPlan:
    """The plan with its table open; TableError where the table is not the one that was planned."""
    check_options("from_json", access, AccessOptions)
    profile, _ = profile_of(plan.session.timezone, plan.session.now, plan.session.nan_policy)
    where = plan.table.location if table is None else table
    is_open = isinstance(table, OpenedTable)
    at = At(None if is_open or plan.table.format == "parquet" else plan.table.version)
    if plan.table.format == "iceberg" and not is_open:
        # Of its newest snapshot a table has the newest columns, of an older one those of its time; both have the same number.
        newest = open_planner(where, At(), profile, access=access)
        at = At() if newest.facts.version == plan.table.version else at
    try:
        planner = open_planner(where, at, profile, access=access)
    except TableError as error:
        if error.code == "LP312" and not is_open:  # a table that lacks the version may be another one
            check_same_table(plan.table, identity_of(open_planner(where, At(), profile, access=access).snapshot))
        raise
    if plan.table.since is not None:
        with planner.engine.awake():
            planner = over_changes(planner, Span(plan.table.since, None, at))
    check_same(plan.table, identity_of(planner.snapshot))
    question = planner.ask(plan.predicate)
    if [clause.text for clause in plan.clauses] != [clause.text for clause in question.plan.clauses]:
        raise _not_a_plan("its clauses are not those of its predicate")
    clauses = tuple(
        ScanClause(clause.text, clause.pushdown, found.predicate, written)
        for clause, found, written in zip(plan.clauses, question.plan.clauses, question.conjuncts, strict=True)
    )
    return replace(plan, planner=planner, clauses=clauses)


def check_same_table(planned: TableIdentity, found: TableIdentity) -> None:
    """LP371 where a table is another one than was planned; LP372 where Parquet files are not those any more."""
    if (planned.format, planned.table_id) != (found.format, found.table_id) or (
        planned.table_id is None and planned.location != found.location
    ):
        if planned.format == found.format == "parquet" and planned.location == found.location:
            raise TableError("LP372", "the files changed since they were planned", where=found.location, fix="plan again")
        raise TableError(
            "LP371",
            "the plan is of another table",
            where=found.location,
            why=f"it was made for {planned.location}, which has the id {planned.table_id}, not {found.table_id}",
            fix="plan this table, or give the location of the other",
        )


def check_same(planned: TableIdentity, found: TableIdentity) -> None:
    """LP371 where a table is another one than was planned, LP372 where it is not as it was."""
    check_same_table(planned, found)
    if planned.version != found.version:
        what = f"the plan is of version {planned.version}, and the table is open at {found.version}"
        raise TableError("LP372", what, where=found.location, fix="plan again, or open the table at that version")
    if planned.schema_digest != found.schema_digest:
        why = "versions of one number with different columns: the table was restored or written anew"
        raise TableError(
            "LP372", "the table has other columns than it was planned with", where=found.location, why=why, fix="plan again"
        )


def _check_files(document: Received) -> None:
    """LP274 for a file that is not one of a plan, or whose residual names a clause that is not there; one is held at a time."""
    decoder, clauses = msgspec.json.Decoder(PlanFile), range(len(document.clauses))
    for number, raw in enumerate(document.files):
        try:
            file = decoder.decode(raw)
        except msgspec.MsgspecError as error:
            raise _not_a_plan(f"file {number}: {error}") from error
        if not all(place in clauses for place in file.residual):
            raise _not_a_plan(f"file {number}: its residual is {file.residual}, and there are {len(clauses)} clauses")


def _unopened(clause: PlanClause) -> ScanClause:
    unknown = Opaque(clause.text, _NOT_OPENED)
    return ScanClause(clause.text, clause.pushdown, unknown, unknown)


def _column(name: str, kind: str, role: Role) -> Column:
    return Column((name,), (name,), data_type(kind), role)


def _not_a_plan(why: str) -> UsageError:
    return UsageError("LP274", "this is not the JSON of a plan", why=why, fix="give what `to_json` or `--format json` made")
