"""Planning of a statement that has one condition: UPDATE and DELETE. Steps 1 to 5, and the condition of step 6.

In: a table, a condition, a session. Out: a `StatementPlan`. Reads metadata, then the undecided files; writes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.apps.statements.candidates import Counting, find_candidates
from lakeprune.apps.statements.guards import guards_of, judge
from lakeprune.apps.statements.model import Candidate, Certainty, Effects, Fate, Operation, Touched, amount_of, total
from lakeprune.apps.statements.options import OPTIONS
from lakeprune.apps.statements.plan import Skipping, Statement, StatementPlan, Strengthening
from lakeprune.apps.statements.strengthen import added_conditions, strengthened
from lakeprune.errors import UsageError
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.planning.session import SessionOptions, among
from lakeprune.predicate.clock import pinned
from lakeprune.predicate.read.sql.tokens import tokenize
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Expr
from lakeprune.predicate.walk import columns_of
from lakeprune.report.attribution import total_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeprune.apps.statements.assignments import Assignment
    from lakeprune.apps.statements.spark_target import Target
    from lakeprune.planning.opening import Table


class Asked(Struct, frozen=True):
    """A statement as it was asked for, to be planned once or again."""

    operation: Operation
    table: Table
    where: str
    spark: SparkSession
    options: Mapping[str, Any]
    assignments: tuple[Assignment, ...] = ()


def plan_statement(asked: Asked, version: int | None = None) -> StatementPlan:
    """The plan at the latest version, or at an older one that a commit is checked against."""
    from lakeprune.apps.statements.spark_target import open_target
    from lakeprune.engines.spark.failures import unlogged

    if not isinstance(asked.where, str):
        raise UsageError("LP251", f"the condition is of type {type(asked.where).__name__}", fix="give an SQL condition as text")
    if unknown := sorted(asked.options.keys() - OPTIONS):
        name = asked.operation.value
        raise TypeError(f"{name}() has no option {unknown[0]!r}; it has {', '.join(sorted(OPTIONS))}")
    started = time.perf_counter()
    reading = among(asked.options, SessionOptions)
    target = open_target(asked.table, asked.spark, reading, version)
    with target.planner.engine.awake(), unlogged():
        return _planned(asked, target, started)


def _planned(asked: Asked, target: Target, started: float) -> StatementPlan:
    from lakeprune.apps.statements.spark_target import mind_padding

    profile = target.planner.profile
    guards = guards_of(asked.options)
    question = target.planner.ask(asked.where)
    tokens = tokenize(asked.where)
    executed = pinned(tokens.uncommented(0, len(tokens.items)), profile)
    columns = columns_of(question.bound)
    mind_padding(target, asked.operation, {column.path[0].lower() for column in columns})
    _validate(asked, target, executed)

    is_partition_only = all(column.role is Role.PARTITION for column in columns)
    counting = Counting.GIVEN_UP if is_partition_only else Counting.NEEDED
    candidates = find_candidates(target.planner, question, counting)
    undecided = [file for file in candidates if file.certainty is Certainty.UNDECIDED]
    skipping = _skipping(target.planner, question, candidates, is_partition_only=is_partition_only)

    touched = _verified(asked.operation, target, executed, candidates)
    effects = _effects(asked.operation, touched)
    again = replace(asked, options={**asked.options, "now": target.moment})
    return StatementPlan(
        table=target.planner.facts.location,
        version=target.version,
        statement=Statement(asked.operation, asked.where, executed, tuple((a.target, a.expression) for a in asked.assignments)),
        skipping=skipping,
        read_columns=tuple(".".join(column.path) for column in columns) if undecided else (),
        touched=touched,
        effects=effects,
        strengthening=_strengthening(asked, target, question.bound, executed, skipping)
        if touched
        else _unasked(asked, profile.zone),
        guards=judge(guards, effects, question.plan),
        elapsed_ms=round((time.perf_counter() - started) * 1000),
        target=target,
        again=lambda version: plan_statement(again, version),
        write=lambda spark, condition: _write(asked, target, spark, condition),
    )


def _validate(asked: Asked, target: Target, executed: str) -> None:
    from lakeprune.apps.statements.assignments import check_columns
    from lakeprune.apps.statements.spark_analysis import check_delete, check_update
    from lakeprune.apps.statements.spark_target import check_writable

    facts = target.planner.facts
    check_columns(asked.assignments, facts.schema, facts.computed_columns)
    check_writable(target)
    if asked.operation is Operation.UPDATE:
        check_update(target, executed, asked.assignments)
    else:
        check_delete(target, executed)


def _skipping(planner: Planner, question: Question, candidates: tuple[Candidate, ...], *, is_partition_only: bool) -> Skipping:
    by_certainty = {kind: amount_of([file for file in candidates if file.certainty is kind]) for kind in Certainty}
    clauses = tuple((clause.text, clause.rewritten) for clause in question.plan.clauses)
    full, undecided = by_certainty[Certainty.FULL], by_certainty[Certainty.UNDECIDED]
    return Skipping(total_of(planner.patterns([question])[0]), full, undecided, is_partition_only, clauses)


def _verified(operation: Operation, target: Target, executed: str, candidates: tuple[Candidate, ...]) -> tuple[Touched, ...]:
    """The candidates that hold a match, each with what becomes of it."""
    from lakeprune.apps.statements.spark_rows import count_rows

    undecided = [file for file in candidates if file.certainty is Certainty.UNDECIDED]
    counted = count_rows(target, executed, undecided)
    uses_vectors = target.uses_vectors(operation)
    found = []
    for file in candidates:
        is_full = file.certainty is Certainty.FULL
        live, matching = (file.live, file.live) if is_full else counted.get(file.key, (0, 0))
        if is_full or matching:
            is_whole = live == matching
            found.append(Touched(file.path, file.key, file.size, live, matching, _fate(operation, uses_vectors, is_whole)))
    return tuple(found)


def _fate(operation: Operation, uses_vectors: bool, is_whole: bool) -> Fate:  # the two facts a fate depends on
    if is_whole:
        return Fate.REMOVE if operation is Operation.DELETE else Fate.REWRITE
    return Fate.VECTOR if uses_vectors else Fate.REWRITE


def _effects(operation: Operation, touched: tuple[Touched, ...]) -> Effects:
    by_fate = {fate: [file for file in touched if file.fate is fate] for fate in Fate}
    changed = total([file.matching for file in touched])
    copied = sum((file.live or 0) - (file.matching or 0) for file in by_fate[Fate.REWRITE])
    return Effects(
        amount_of(touched),
        amount_of(by_fate[Fate.REWRITE]),
        amount_of(by_fate[Fate.REMOVE]),
        amount_of(by_fate[Fate.VECTOR]),
        updated=changed if operation is Operation.UPDATE else 0,
        deleted=changed if operation is Operation.DELETE else 0,
        copied=copied,
    )


def _unasked(asked: Asked, zone: str) -> Strengthening:
    return Strengthening(None, None, (), None, zone, bool(asked.options.get("strengthen", True)))


def _strengthening(asked: Asked, target: Target, bound: Expr, executed: str, skipping: Skipping) -> Strengthening:
    """The condition with what it implies beside it, when Delta's own plan reads fewer files for it."""
    from lakeprune.apps.statements.spark_target import speaking
    from lakeprune.formats.delta.spark_scan import NO_SCAN, scan_of

    zone, is_wanted = target.planner.profile.zone, bool(asked.options.get("strengthen", True))
    if skipping.is_partition_only:  # Delta, too, decides it by metadata
        return Strengthening(NO_SCAN, None, (), None, zone, is_wanted)
    with speaking(target.location):
        as_written = scan_of(target.spark, target.location, target.version, executed)
    nothing = Strengthening(as_written, None, (), None, zone, is_wanted)
    if not is_wanted or as_written.files <= skipping.candidates.files:
        return nothing
    added = added_conditions(bound, target.planner.facts, target.planner.profile)
    if not added:
        return nothing
    condition = strengthened(executed, added)
    with speaking(target.location):
        scanned = scan_of(target.spark, target.location, target.version, condition)
    if scanned.files >= as_written.files:
        return nothing
    return Strengthening(as_written, condition, added, scanned, zone, is_wanted)


def _write(asked: Asked, target: Target, spark: SparkSession, condition: str) -> None:
    from lakeprune.apps.statements.spark_writer import run_delete, run_update

    if asked.operation is Operation.UPDATE:
        run_update(spark, target.location, condition, {a.target: a.expression for a in asked.assignments})
    else:
        run_delete(spark, target.location, condition)
