"""Planning of a MERGE: steps 1 to 5, and the condition of step 6.

In: a table, a source, ON, clauses, a session. Out: a `StatementPlan`. The source is read once and held; of the target metadata is
read, then the candidate files. Writes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakeprune.dml.assignments import Assignment, check_columns
from lakeprune.dml.candidates import Counting, find_candidates
from lakeprune.dml.guards import guards_of, judge
from lakeprune.dml.merging.clauses import Action, ClauseKind, MergeClause, Rows
from lakeprune.dml.merging.conjuncts import TARGET, words_of
from lakeprune.dml.merging.effects import ambiguous_rows, effects_of, rows_of, touched_files
from lakeprune.dml.merging.keys import KeyValues, delta_condition, own_condition
from lakeprune.dml.merging.model import MergeKey, MergePart
from lakeprune.dml.merging.obstacles import Seen, obstacles_of
from lakeprune.dml.merging.spark_checks import check_merge
from lakeprune.dml.merging.spark_counts import Counts, count_merge, example_of_ambiguity
from lakeprune.dml.merging.spark_keys import SourceFacts, measure
from lakeprune.dml.merging.spark_merge import run_merge
from lakeprune.dml.merging.spark_reading import Reading, Unusable, alone_in, read_on
from lakeprune.dml.merging.spark_source import Source, in_session, open_source
from lakeprune.dml.model import Candidate, Operation, amount_of
from lakeprune.dml.options import OPTIONS, READING
from lakeprune.dml.plan import Skipping, Statement, StatementPlan, Strengthening
from lakeprune.dml.spark_target import Target, check_writable, open_target, speaking
from lakeprune.dml.strengthen import strengthened
from lakeprune.engines.spark_delta_scan import DeltaScan, scan_of
from lakeprune.errors import PredicateError, StatementError, UsageError
from lakeprune.predicate.pin_clock import pinned
from lakeprune.predicate.sql_tokens import tokenize
from lakeprune.predicate.tree import Profile
from lakeprune.record import record, replace
from lakeprune.report.amount import Amount
from lakeprune.report.printable import shortened

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeprune.explanation import Table

_VECTORS = "spark.databricks.delta.merge.deletionVectors.persistent"


@record
class AskedMerge:
    """A MERGE as it was asked for, to be planned once or again. `source` is what was given, then the rows that are held."""

    table: Table
    source: Any
    on: str
    spark: SparkSession
    clauses: tuple[MergeClause, ...]
    options: Mapping[str, Any]


@record
class _Read:
    """Steps 1 and 2: the statement with its clock pinned, its source, and what both say about the target alone."""

    asked: AskedMerge
    target: Target
    source: Source
    on: str
    clauses: tuple[MergeClause, ...]
    reading: Reading
    facts: SourceFacts
    alone: tuple[str, ...]  # conditions on the target that Delta finds in the statement as it is written

    @property
    def bounds(self) -> tuple[KeyValues, ...]:
        """The keys whose values bound the target; none where every target row counts."""
        if Rows.TARGET_ONLY in rows_of(self.clauses):
            return ()
        return tuple(found for found in self.facts.keys if found.refusal is None)

    @property
    def zone(self) -> str:
        return self.target.job.profile.zone


def plan_merge(asked: AskedMerge, version: int | None = None) -> StatementPlan:
    """The plan at the latest version, or at an older one that a commit is checked against."""
    if not isinstance(asked.on, str) or not asked.on.strip():
        raise UsageError("LP251", "ON is missing, or no text", fix="give an SQL condition as text:  t.id = s.id")
    if unknown := sorted(asked.options.keys() - OPTIONS):
        known = ", ".join(sorted(OPTIONS | {kind.value for kind in ClauseKind}))
        raise TypeError(f"merge() has no option {unknown[0]!r}; it has {known}")
    started = time.perf_counter()
    reading = {name: value for name, value in asked.options.items() if name in READING}
    guards_of(asked.options)
    target = open_target(asked.table, asked.spark, reading, version)
    with target.job.evaluation.engine.awake():
        return _planned(_read(asked, target), started)


def _read(asked: AskedMerge, target: Target) -> _Read:
    facts, profile = target.job.evaluation.snapshot.facts, target.job.profile
    clauses = tuple(_pinned(clause, profile) for clause in asked.clauses)
    for clause in clauses:
        computed = facts.computed_columns if clause.kind.action is Action.UPDATE else {}
        check_columns(clause.assignments or (), facts.schema, computed)
    check_writable(target, only_inserts=rows_of(clauses) == {Rows.SOURCE_ONLY})
    on = pinned(_uncommented(asked.on), profile)
    held = asked.source
    source = replace(held, rows=in_session(held.rows, target.spark)) if isinstance(held, Source) else open_source(held, target)
    check_merge(target, source, on, clauses)
    reading, measured = _measured(source, read_on(target, source, on))
    kinds = rows_of(clauses)
    alone = [] if Rows.TARGET_ONLY in kinds else list(reading.target_only)
    if kinds == {Rows.MATCHED} and (more := alone_in(target, source, [clause.condition for clause in clauses])):
        alone.append(more)
    return _Read(asked, target, source, on, clauses, reading, measured, tuple(alone))


def _measured(source: Source, reading: Reading) -> tuple[Reading, SourceFacts]:
    """What the keys hold. Keys that cannot be computed for every row (a cast that fails) bound nothing, and that is said."""
    try:
        return reading, measure(source, reading.keys, reading.source_only)
    except StatementError as error:
        why = f"it cannot be computed for every row of the source ({error.why})"
        unusable = (*reading.unusable, *(Unusable(key.text, why) for key in reading.keys))
        return replace(reading, keys=(), unusable=unusable), measure(source, ())


def _planned(read: _Read, started: float) -> StatementPlan:
    asked, target, job = read.asked, read.target, read.target.job
    condition = _own_condition(read)
    plan = job.plan(condition)
    candidates = find_candidates(job, plan, Counting.NEEDED)
    (report,) = job.reports([condition])
    counts = count_merge(target, read.source, read.on, read.clauses, candidates)
    _check_ambiguity(read, counts, candidates)
    touched = touched_files(read.clauses, candidates, counts, uses_vectors=_uses_vectors(target))
    effects = effects_of(touched, counts)
    strengthening = _strengthening(read, len(candidates))
    again = replace(asked, source=read.source, options={**asked.options, "now": _moment(job.profile)})
    return StatementPlan(
        table=job.table,
        version=target.version,
        statement=Statement(Operation.MERGE, asked.on, read.on),
        skipping=Skipping(report.numbers.total, Amount(0, 0, 0), amount_of(candidates), False, _clauses(read)),
        read_columns=_read_columns(read) if candidates else (),
        touched=touched,
        effects=effects,
        strengthening=strengthening,
        guards=judge(guards_of(asked.options), effects, plan),
        elapsed_ms=round((time.perf_counter() - started) * 1000),
        target=target,
        again=lambda version: plan_merge(again, version),
        write=lambda spark, on: run_merge(spark, target.location, read.source.rows, on, read.clauses),
        merge=_part(read, strengthening),
    )


def _own_condition(read: _Read) -> str:
    """What metadata is asked: everything that the statement and the source say about the target alone."""
    parts = [own_condition(found, read.zone) for found in read.bounds]
    parts += [text for text in read.alone if _is_known(read.target, text)]
    return " AND ".join(f"({part})" for part in parts) or "TRUE"


def _is_known(target: Target, condition: str) -> bool:
    """Whether lakeprune reads it; what only Spark reads excludes no file."""
    try:
        target.job.plan(condition)
    except PredicateError:
        return False
    return True


def _check_ambiguity(read: _Read, counts: Counts, candidates: Sequence[Candidate]) -> None:
    count = ambiguous_rows(read.clauses, counts)
    if count:
        what = f"{count} target row(s) match more than one source row, which Delta's MERGE refuses"
        why = example_of_ambiguity(read.target, read.source, read.on, candidates)
        fix = "keep one source row per key (row_number() over a window, or dropDuplicates), or make ON more specific"
        raise StatementError("LP443", what, where=f"ON {read.on}", why=why, fix=fix)


def _strengthening(read: _Read, candidates: int) -> Strengthening:
    """ON with the keys of the source beside it, each that makes Delta's own plan smaller."""
    is_wanted = bool(read.asked.options.get("strengthen", True))
    as_written = _scan(read, ())
    smallest = as_written
    added: list[str] = []
    beside: list[str] = []
    for found in read.bounds if is_wanted else ():
        if smallest.files <= candidates:
            break
        alone = delta_condition(found, None, read.zone)
        scanned = _scan(read, (*beside, alone))
        if scanned.files < smallest.files:
            smallest = scanned
            beside.append(alone)
            added.append(delta_condition(found, TARGET, read.zone))
    if not added:
        return Strengthening(as_written, None, (), None, read.zone, is_wanted)
    return Strengthening(as_written, strengthened(read.on, added), tuple(added), smallest, read.zone, is_wanted)


def _scan(read: _Read, beside: Sequence[str]) -> DeltaScan:
    """What Delta scans of the target: by the conditions on the target alone, and by nothing else."""
    where = " AND ".join(f"({part})" for part in (*read.alone, *beside)) or "TRUE"
    with speaking(read.target.location):
        return scan_of(read.target.spark, read.target.location, read.target.version, where)


def _part(read: _Read, strengthening: Strengthening) -> MergePart:
    scanned = strengthening.scanned or strengthening.as_written
    bounds = [delta_condition(found, None, read.zone) for found in read.bounds]
    seen = Seen(
        read.target,
        read.source,
        read.clauses,
        read.reading,
        read.facts,
        scanned.files,
        lambda condition: _scan(read, (*bounds, condition)).files,
    )
    used = {found.key.text for found in read.bounds}
    keys = tuple(
        MergeKey(
            found.key.text,
            found.key.name,
            found.distinct,
            found.listed is not None,
            found.nulls,
            delta_condition(found, TARGET, read.zone) if found.key.text in used else None,
        )
        for found in read.facts.keys
    )
    texts = tuple(clause.text for clause in read.asked.clauses)
    return MergePart(read.source.told, read.facts.rows, texts, keys, obstacles_of(seen))


def _clauses(read: _Read) -> tuple[tuple[str, str | None], ...]:
    keys = tuple((found.key.text, shortened(own_condition(found, read.zone))) for found in read.bounds)
    return (*keys, *((text, None) for text in read.alone))


def _read_columns(read: _Read) -> tuple[str, ...]:
    named = set(words_of(read.on)).union(*(words_of(c.condition) for c in read.clauses if c.condition is not None))
    fields = read.target.job.evaluation.snapshot.facts.schema.fields
    return tuple(field.name for field in fields if field.name.lower() in named)


def _uses_vectors(target: Target) -> bool:
    if not target.job.evaluation.snapshot.facts.features.deletion_vectors_enabled:
        return False
    return str(target.spark.conf.get(_VECTORS, "true")).lower() == "true"


def _pinned(clause: MergeClause, profile: Profile) -> MergeClause:
    condition = None if clause.condition is None else pinned(clause.condition, profile)
    assignments = clause.assignments
    if assignments is not None:
        assignments = tuple(_of_target(assignment) for assignment in assignments)
    return MergeClause(clause.kind, condition, assignments)


def _of_target(assignment: Assignment) -> Assignment:
    """`t.a = 1` sets a."""
    path = assignment.column
    return replace(assignment, column=path[1:]) if len(path) > 1 and path[0].lower() == TARGET else assignment


def _moment(profile: Profile) -> str:
    """The clock where it was: planning a statement again must not change what it means."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=profile.now)).isoformat()


def _uncommented(text: str) -> str:
    tokens = tokenize(text)
    return tokens.uncommented(0, len(tokens.items))
