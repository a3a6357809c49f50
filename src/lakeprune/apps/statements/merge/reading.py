"""Step 1 of a MERGE: the statement checked, its source read, and what both say about the target alone.

In: a MERGE as it was asked for, an opened target. Out: a `MergeRead`, from which everything else is planned. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.apps.statements.assignments import Assignment, check_columns
from lakeprune.apps.statements.merge.clauses import Action, MergeClause, Rows
from lakeprune.apps.statements.merge.effects import rows_of
from lakeprune.apps.statements.merge.keys import KeyValues
from lakeprune.apps.statements.merge.on import TARGET, Conjunct, MergeOn, Unusable, conjuncts_of
from lakeprune.apps.statements.merge.spark_checks import check_merge, may_evolve
from lakeprune.apps.statements.merge.spark_keys import SourceFacts, measure
from lakeprune.apps.statements.merge.spark_on import alone_in, column_of, read_on
from lakeprune.apps.statements.merge.spark_source import Source, in_session, open_source
from lakeprune.apps.statements.spark_target import Target, check_writable
from lakeprune.errors import StatementError
from lakeprune.predicate.clock import pinned
from lakeprune.predicate.read.sql.tokens import tokenize
from lakeprune.predicate.tree import Profile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeprune.planning.opening import Table


class AskedMerge(Struct, frozen=True):
    """A MERGE as it was asked for, to be planned once or again. `source` is what was given, then the rows that are held."""

    table: Table
    source: Any
    on: str
    spark: SparkSession
    clauses: tuple[MergeClause, ...]
    options: Mapping[str, Any]


class MergeRead(Struct, frozen=True):
    """Steps 1 and 2: the statement with its clock pinned, its source, and what both say about the target alone."""

    asked: AskedMerge
    target: Target
    source: Source
    on: str
    clauses: tuple[MergeClause, ...]
    conditions: tuple[tuple[Conjunct, ...], ...]  # of the clauses
    sorted_on: MergeOn
    facts: SourceFacts
    alone: tuple[str, ...]  # conditions on the target that Delta finds in the statement as it is written
    added: tuple[str, ...]  # columns that the table gets

    @property
    def bounds(self) -> tuple[KeyValues, ...]:
        """The keys whose values bound the target; none where every target row counts."""
        if Rows.TARGET_ONLY in rows_of(self.clauses):
            return ()
        return tuple(found for found in self.facts.keys if found.refusal is None)

    @property
    def zone(self) -> str:
        return self.target.planner.profile.zone


def read_merge(asked: AskedMerge, target: Target) -> MergeRead:
    """The statement, refused where it cannot work, with its source held."""
    facts, profile = target.planner.facts, target.planner.profile
    clauses = tuple(_pinned(clause, profile) for clause in asked.clauses)
    for clause in clauses:
        computed = facts.computed_columns if clause.kind.action is Action.UPDATE else {}
        check_columns(_of_table(clause, target), facts.schema, computed)
    check_writable(target, only_inserts=rows_of(clauses) == {Rows.SOURCE_ONLY})
    on = pinned(_uncommented(asked.on), profile)
    held = asked.source
    source = replace(held, rows=in_session(held.rows, target.spark)) if isinstance(held, Source) else open_source(held, target)
    added = check_merge(target, source, on, clauses)
    sorted_on, measured = _measured(source, read_on(target, source, on))
    kinds = rows_of(clauses)
    conditions = tuple(() if clause.condition is None else conjuncts_of(clause.condition) for clause in clauses)
    alone = [] if Rows.TARGET_ONLY in kinds else [conjunct.unaliased for conjunct in sorted_on.target_only]
    if kinds == {Rows.MATCHED} and (more := alone_in(target, source, conditions)):
        alone.append(more)
    return MergeRead(asked, target, source, on, clauses, conditions, sorted_on, measured, tuple(alone), added)


def _measured(source: Source, on: MergeOn) -> tuple[MergeOn, SourceFacts]:
    """The values of the keys. Keys that cannot be computed for every row (a cast that fails) bound nothing: that is reported."""
    try:
        return on, measure(source, on.keys, on.source_only)
    except StatementError as error:
        why = f"it cannot be computed for every row of the source ({error.why})"
        unusable = (*on.unusable, *(Unusable(key.text, why) for key in on.keys))
        return replace(on, keys=(), unusable=unusable), measure(source, ())


def _pinned(clause: MergeClause, profile: Profile) -> MergeClause:
    condition = None if clause.condition is None else pinned(clause.condition, profile)
    assignments = clause.assignments
    if assignments is not None:
        assignments = tuple(_of_target(assignment) for assignment in assignments)
    return MergeClause(clause.kind, condition, assignments)


def _of_table(clause: MergeClause, target: Target) -> tuple[Assignment, ...]:
    """The assignments to columns that the table has. Whether Delta adds the others is for its own analysis."""
    given = clause.assignments or ()
    return tuple(a for a in given if column_of(target, a.column) is not None) if may_evolve(target) else given


def _of_target(assignment: Assignment) -> Assignment:
    """`t.a = 1` sets a."""
    path = assignment.column
    return replace(assignment, column=path[1:]) if len(path) > 1 and path[0].lower() == TARGET else assignment


def _uncommented(text: str) -> str:
    tokens = tokenize(text)
    return tokens.uncommented(0, len(tokens.items))
