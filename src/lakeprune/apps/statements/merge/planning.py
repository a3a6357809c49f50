"""Planning of a MERGE: steps 1 to 5, and the condition of step 6.

In: a table, a source, ON, clauses, a session. Out: a `StatementPlan`. The source is read once and held; of the target metadata is
read, then the candidate files. Writes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from lakeprune.apps.statements.candidates import Counting, find_candidates
from lakeprune.apps.statements.guards import guards_of, judge
from lakeprune.apps.statements.merge.clauses import ClauseKind
from lakeprune.apps.statements.merge.effects import ambiguous_rows, effects_of, rows_deleted_twice, touched_files
from lakeprune.apps.statements.merge.keys import delta_condition, key_tree
from lakeprune.apps.statements.merge.model import MergeKey, MergePart
from lakeprune.apps.statements.merge.obstacles import Seen, obstacles_of
from lakeprune.apps.statements.merge.on import TARGET, conjuncts_of
from lakeprune.apps.statements.merge.reading import AskedMerge, MergeRead, read_merge
from lakeprune.apps.statements.merge.spark_ambiguity import Pairing, naming_the_key, refusal
from lakeprune.apps.statements.merge.spark_counts import Counts, count_merge
from lakeprune.apps.statements.merge.spark_merge import run_merge
from lakeprune.apps.statements.merge.strengthening import scan_with, strengthening_of
from lakeprune.apps.statements.model import Candidate, Operation, amount_of
from lakeprune.apps.statements.options import OPTIONS
from lakeprune.apps.statements.plan import Skipping, Statement, StatementPlan, Strengthening
from lakeprune.apps.statements.spark_target import open_target
from lakeprune.engines.spark.failures import unlogged
from lakeprune.engines.spark.files import read_files
from lakeprune.errors import PredicateError, UsageError
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.planning.session import SessionOptions, among
from lakeprune.predicate.condition import Condition
from lakeprune.predicate.passes.rebuild import all_of
from lakeprune.predicate.tree import TRUE, Expr
from lakeprune.predicate.write.show import show
from lakeprune.render.printable import shortened
from lakeprune.report.amount import Amount
from lakeprune.report.attribution import total_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def plan_merge(asked: AskedMerge, version: int | None = None) -> StatementPlan:
    """The plan at the latest version, or at an older one that a commit is checked against."""
    if not isinstance(asked.on, str) or not asked.on.strip():
        raise UsageError("LP251", "ON is missing, or no text", fix="give an SQL condition as text:  t.id = s.id")
    if unknown := sorted(asked.options.keys() - OPTIONS):
        known = ", ".join(sorted(OPTIONS | {kind.value for kind in ClauseKind}))
        raise TypeError(f"merge() has no option {unknown[0]!r}; it has {known}")
    started = time.perf_counter()
    reading = among(asked.options, SessionOptions)
    guards_of(asked.options)
    target = open_target(asked.table, asked.spark, reading, version)
    with target.planner.engine.awake(), unlogged():
        return _planned(read_merge(asked, target), started)


def _planned(read: MergeRead, started: float) -> StatementPlan:
    asked, target, planner = read.asked, read.target, read.target.planner
    question = _question(read)
    total = total_of(planner.patterns([question])[0])
    candidates = find_candidates(planner, question, Counting.NEEDED)
    counts = count_merge(target, read.source, read.on, read.clauses, candidates)
    _check_ambiguity(read, counts, candidates)
    touched = touched_files(read.clauses, candidates, counts, uses_vectors=target.uses_vectors(Operation.MERGE))
    effects = effects_of(touched, counts)
    strengthening = strengthening_of(read, len(candidates))
    again = replace(asked, source=read.source, options={**asked.options, "now": target.moment})
    return StatementPlan(
        table=planner.facts.location,
        version=target.version,
        statement=Statement(Operation.MERGE, asked.on, read.on),
        skipping=Skipping(total, Amount(0, 0, 0), amount_of(candidates), False, _clauses(read)),
        read_columns=_read_columns(read) if candidates else (),
        touched=touched,
        effects=effects,
        strengthening=strengthening,
        guards=judge(guards_of(asked.options), effects, question.plan),
        elapsed_ms=round((time.perf_counter() - started) * 1000),
        target=target,
        again=lambda version: plan_merge(again, version),
        write=lambda spark, on: _write(read, spark, on),
        merge=_part(read, strengthening),
    )


def _question(read: MergeRead) -> Question:
    """What metadata is asked: everything that the statement and the source say about the target alone."""
    planner = read.target.planner
    parts = [planner.bound(Condition(found.key.text, key_tree(found))) for found in read.bounds]
    parts += [bound for text in read.alone if (bound := _bound(planner, text)) is not None]
    tree = all_of(parts) if parts else TRUE
    return planner.ask_bound(Condition(read.on, tree), tree)


def _bound(planner: Planner, condition: str) -> Expr | None:
    """The condition as lakeprune reads it; None for what only Spark reads, which excludes no file."""
    try:
        return planner.bound(condition)
    except PredicateError:
        return None


def _check_ambiguity(read: MergeRead, counts: Counts, candidates: Sequence[Candidate]) -> None:
    refused, lossy = ambiguous_rows(read.clauses, counts), _rows_of_a_lossy_delete(read, counts)
    if refused or lossy:
        rows = read_files(read.target.spark, read.target.location, read.target.version, [file.path for file in candidates])
        what = f"{refused or lossy} target row(s) match more than one source row"
        if refused:
            raise refusal(_pairing(read, read.on), rows, f"{what}, which Delta's MERGE refuses")
        why = "with the change data feed Delta's MERGE then loses other rows"
        raise refusal(_pairing(read, read.on), rows, f"{what}, and {why}", "LP444")


def _rows_of_a_lossy_delete(read: MergeRead, counts: Counts) -> int:
    """Delta 4.4 with the change data feed and without deletion vectors: a row deleted twice costs rows that were to be copied."""
    has_feed = read.target.planner.facts.configuration.get("delta.enableChangeDataFeed", "").lower() == "true"
    return rows_deleted_twice(read.clauses, counts) if has_feed and not read.target.uses_vectors(Operation.MERGE) else 0


def _write(read: MergeRead, spark: SparkSession, on: str) -> None:
    location, rows = read.target.location, read.source.rows
    naming_the_key(_pairing(read, on), lambda: run_merge(spark, location, rows, on, read.clauses))


def _pairing(read: MergeRead, executed: str) -> Pairing:
    return Pairing(read.target, read.source, read.on, executed, read.sorted_on.keys)


def _part(read: MergeRead, strengthening: Strengthening) -> MergePart:
    scanned = strengthening.scanned or strengthening.as_written
    assert scanned is not None, "a MERGE always asks Delta, which tells what the obstacles cost"
    bounds = [delta_condition(found, None, read.zone) for found in read.bounds]
    seen = Seen(
        read.target,
        read.source,
        read.clauses,
        read.sorted_on,
        read.facts,
        scanned.files,
        lambda condition: scan_with(read, (*bounds, condition)).files,
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
    return MergePart(read.source.told, read.facts.rows, texts, read.added, keys, obstacles_of(seen))


def _clauses(read: MergeRead) -> tuple[tuple[str, str | None], ...]:
    keys = tuple((found.key.text, shortened(show(key_tree(found), read.zone))) for found in read.bounds)
    return (*keys, *((text, None) for text in read.alone))


def _read_columns(read: MergeRead) -> tuple[str, ...]:
    conjuncts = (*conjuncts_of(read.on), *(conjunct for condition in read.conditions for conjunct in condition))
    named = {name for conjunct in conjuncts for name in conjunct.names}
    fields = read.target.planner.facts.schema.fields
    return tuple(field.name for field in fields if field.name.lower() in named)
