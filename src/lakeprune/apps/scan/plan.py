"""The application behind `plan`: a table and a predicate in, the pruned scan as data out.

In: a table, a predicate, a projection, a limit. Out: a `ScanPlan`. What acts on rows assumes nothing, so NaN may hide anywhere.
Never opens a data file, never writes.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from lakeprune.apps.scan.changes import first_version, over_changes, span_of
from lakeprune.apps.scan.files import PlannedFiles
from lakeprune.apps.scan.model import Pushdown, ScanClause, ScanPlan, TableIdentity, Totals
from lakeprune.apps.scan.partition_filters import Filters, question_of
from lakeprune.apps.scan.projection import leaves, needed_beside, overridden, projected, scan_column, typed_column
from lakeprune.errors import UsageError
from lakeprune.formats.snapshot import Snapshot, SnapshotFacts
from lakeprune.planning.opening import At, open_planner
from lakeprune.planning.planner import Planner, read_all
from lakeprune.planning.question import Question
from lakeprune.planning.session import Session, SessionOptions, among, check_options, for_rows, profile_of
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import And, Clause, Opaque
from lakeprune.predicate.walk import columns_of
from lakeprune.programs.patterns import Pattern
from lakeprune.programs.scan import Asked
from lakeprune.skipping.fact import PROVEN
from lakeprune.skipping.verdict import Verdict
from lakeprune.storage.access import AccessOptions

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Unpack

    from pyspark.sql import SparkSession

    from lakeprune.planning.opening import Table


SORTED = 100_000  # files: more are given as the engine reads them, for sorting them would take most of the time and memory


class Options(SessionOptions, AccessOptions, total=False):
    """How the table is opened and the predicate read, and what the scan is to give."""

    version: int
    timestamp: str | datetime
    ref: str
    spark: SparkSession  # reads the metadata instead of this process
    catalog: str  # of PyIceberg's, where the table is a name
    columns: Sequence[str] | None
    limit: int | None
    groups: int | None
    schema: Mapping[str, str]  # types that override, by column
    partition_filters: Filters  # beside `where`, as deltalake takes them
    changes: bool  # of the change data feed instead of the table; both ends of the span belong to it
    from_version: int
    to_version: int
    from_timestamp: str | datetime
    to_timestamp: str | datetime


def plan(table: Table, where: str | None = None, **options: Unpack[Options]) -> ScanPlan:
    """The scan of the rows of a table that satisfy `where`: which files, and what is left to filter in each."""
    started = time.perf_counter()
    given: dict[str, Any] = dict(options)
    check_options("plan", given, Options)
    _check(given)
    profile, session = profile_of(**among(for_rows(given, "a plan"), SessionOptions))
    (condition,) = read_all([where], profile)
    span = span_of(given)
    at = At(given.get("version"), given.get("timestamp"), given.get("ref")) if span is None else span.last
    access = among(given, AccessOptions)
    planner = open_planner(table, at, profile, access=access, spark=given.get("spark"), catalog=given.get("catalog"))
    with planner.engine.awake():
        if span is not None:
            planner = over_changes(planner, span)
        return planned(planner, question_of(planner, condition, given.get("partition_filters")), session, given, started)


def planned(
    planner: Planner, question: Question, session: Session, given: Mapping[str, Any], started: float | None = None
) -> ScanPlan:
    """The plan of a question that an opened table is asked."""
    started = time.perf_counter() if started is None else started
    facts = planner.facts
    fields, types = projected(facts, given.get("columns")), overridden(facts, given.get("schema"))
    partitions = tuple(typed_column(field, types) for field in facts.schema.fields if field.role is Role.PARTITION)
    limit = given.get("limit")
    asked = Asked(partitions, leaves(fields), limit, given.get("groups"))
    source = PlannedFiles(planner, question, asked, tuple(field.name for field in fields))
    (patterns,) = planner.patterns([question])
    kept = [pattern for pattern in patterns if pattern.signature.verdict is not Verdict.DROP]
    left, totals = _left(question, kept), _totals(patterns, kept)
    if limit is not None or planner.snapshot.groups() is not None:  # patterns also carry what groups of files leave open
        found = source.counts()
        rows = None if found.files_without_rows else found.rows
        left = found.residual
        pruned = totals.files_total - found.files
        totals = Totals(totals.files_total, found.files, pruned, totals.bytes_total, found.bytes, rows)
    source = replace(source, asked=replace(asked, is_sorted=totals.files_scanned <= SORTED), count=totals.files_scanned)
    assert totals.files_scanned + totals.files_pruned == totals.files_total, "every file is read or pruned"
    clauses = tuple(
        ScanClause(clause.text, _pushdown(question, k, is_left=left[k]), clause.predicate, written)
        for k, (clause, written) in enumerate(zip(question.plan.clauses, question.conjuncts, strict=True))
    )
    filtered = [column for clause in clauses if clause.pushdown is not Pushdown.EXACT for column in columns_of(clause.written)]
    beside = needed_beside(facts, fields, filtered)
    values = [field for field in facts.schema.fields if field.role is Role.PARTITION]
    return ScanPlan(
        table=identity_of(planner.snapshot),
        session=session,
        predicate=question.text,
        columns=tuple(scan_column(facts, field, types) for field in fields),
        filter_columns=tuple(scan_column(facts, field, types) for field in beside),
        partition_columns=tuple(scan_column(facts, field, types) for field in values),
        clauses=clauses,
        limit=limit,
        groups=given.get("groups"),
        totals=totals,
        elapsed_ms=round((time.perf_counter() - started) * 1000),
        source=source,
        planner=planner,
    )


def identity_of(snapshot: Snapshot) -> TableIdentity:
    """Which table at which version this is."""
    facts = snapshot.facts
    columns = [[field.name, field.physical, _declared(facts, field.name), str(field.type)] for field in facts.schema.fields]
    digest = hashlib.sha256(msgspec.json.encode([columns, facts.partition_columns])).hexdigest()[:16]
    location = facts.location if "://" in facts.location else os.path.abspath(os.path.expanduser(facts.location))
    return TableIdentity(facts.format, location, facts.version, facts.table_id, digest, first_version(snapshot))


def _declared(facts: SnapshotFacts, name: str) -> str:
    return facts.declared[name].type if name in facts.declared else ""


def _left(question: Question, kept: Sequence[Pattern]) -> tuple[bool, ...]:
    """Per clause, whether some file has it left to filter."""
    clauses = range(len(question.plan.clauses))
    return tuple(any(pattern.signature.outcomes[k].not_true for pattern in kept) for k in clauses)


def _totals(patterns: Sequence[Pattern], kept: Sequence[Pattern]) -> Totals:
    files, scanned = (sum(pattern.files for pattern in several) for several in (patterns, kept))
    every = None if any(pattern.files_without_bytes for pattern in patterns) else sum(pattern.bytes for pattern in patterns)
    rows = None if any(pattern.files_without_rows for pattern in kept) else sum(pattern.rows for pattern in kept)
    return Totals(files, scanned, files - scanned, every, sum(pattern.bytes for pattern in kept), rows)


def _pushdown(question: Question, clause: int, *, is_left: bool) -> Pushdown:
    if not is_left:
        return Pushdown.EXACT
    plan = question.plan
    is_unused = plan.bits[plan.positions[clause].can_true].fact == PROVEN
    return Pushdown.UNSUPPORTED if is_unused or _is_opaque(plan.clauses[clause]) else Pushdown.INEXACT


def _is_opaque(clause: Clause) -> bool:
    """Whether nothing is used of it but that its columns must not be NULL."""
    match clause.predicate:
        case Opaque() | And((Opaque(), *_)):
            return True
        case _:
            return False


def _check(given: Mapping[str, Any]) -> None:
    for name, least in (("limit", 0), ("groups", 1)):
        number = given.get(name)
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or not least <= number < 2**31):
            raise UsageError("LP218", f"{name} is {number!r}", fix=f"give a whole number, {least} or more")
