"""A MERGE on one version of its table: checked, its source read once, and what both say about the target alone.

In: a `Merge` and a target. Out: a `CheckedMerge`, which answers what planning.py asks. Reads the source, then the candidate files
joined with it; writes only in `write`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from lakeprune.apps.statements.assignments import Assignment, check_columns
from lakeprune.apps.statements.candidates import Decides
from lakeprune.apps.statements.merge import effects, spark_checks, spark_merge
from lakeprune.apps.statements.merge.clauses import Action, MergeClause, Rows
from lakeprune.apps.statements.merge.keys import KeyValues, delta_condition, key_tree, question_of
from lakeprune.apps.statements.merge.model import MergeKey, MergePart
from lakeprune.apps.statements.merge.obstacles import obstacles_of
from lakeprune.apps.statements.merge.on import TARGET, MergeOn, conjuncts_of
from lakeprune.apps.statements.merge.spark_counts import count_merge
from lakeprune.apps.statements.merge.spark_names import Names, column_of
from lakeprune.apps.statements.merge.spark_source import Source, SourceFacts, measure, source_of
from lakeprune.apps.statements.model import Candidate, Operation, Outcome
from lakeprune.apps.statements.plan import Clause, StatementText
from lakeprune.apps.statements.spark_target import Target, check_writable
from lakeprune.apps.statements.statement import Addition, Checked, executed_text
from lakeprune.errors import StatementError
from lakeprune.formats.delta.spark_scan import DeltaScan
from lakeprune.planning.session import has_instants
from lakeprune.predicate.clock import pinned
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Profile
from lakeprune.predicate.write.show import show

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeprune.apps.statements.merge.merge import Merge


class CheckedMerge(Checked, frozen=True, kw_only=True):
    always_scans = True  # what the obstacles cost is counted in files that Delta scans
    again: Merge  # with the rows of the source that were read
    source: Source
    clauses: tuple[MergeClause, ...]  # with their clocks pinned
    names: Names
    on: MergeOn
    facts: SourceFacts
    bounds: tuple[KeyValues, ...]  # the keys whose values bound the target
    on_target: tuple[str, ...]  # conditions on the target alone that Delta finds in the statement as it is written
    added_columns: tuple[str, ...]  # that the table gets

    def count(self, candidates: Sequence[Candidate]) -> Outcome:
        counts = count_merge(self.target, self.source, self.text.executed, self.clauses, candidates)
        self._check_ambiguity(counts, candidates)
        uses_vectors = self.target.uses_vectors(Operation.MERGE)
        return effects.outcome_of(self.clauses, candidates, counts, uses_vectors=uses_vectors)

    def scan(self, beside: Sequence[str]) -> DeltaScan:
        """By the conditions on the target alone: Delta derives nothing from the source."""
        return self.target.scan(" AND ".join(f"({part})" for part in (*self.on_target, *beside)) or "TRUE")

    def additions(self) -> Iterator[Addition]:
        # Partition values first: by them alone Delta tells that somebody else's commit does not concern this one.
        for found in sorted(self.bounds, key=lambda found: found.key.column.role is not Role.PARTITION):
            yield Addition((delta_condition(found, None, self.zone),), (delta_condition(found, TARGET, self.zone),))

    def part(self, files_scanned: int | None) -> MergePart:
        assert files_scanned is not None, "a MERGE always asks Delta"
        texts = tuple(clause.text for clause in self.again.clauses)
        keys = tuple(map(self._key, self.facts.keys))
        obstacles = obstacles_of(self, files_scanned)
        return MergePart(self.source.name, self.facts.rows, texts, self.added_columns, keys, obstacles)

    def write(self, spark: SparkSession, condition: str) -> None:
        spark_merge.run_merge(spark, self, condition)

    @property
    def zone(self) -> str:
        return self.target.planner.profile.zone

    def files_with(self, condition: str) -> int:
        """How many files Delta would scan with every key and this condition beside ON."""
        return self.scan([*(delta_condition(found, None, self.zone) for found in self.bounds), condition]).files

    def _key(self, found: KeyValues) -> MergeKey:
        condition = delta_condition(found, TARGET, self.zone) if found in self.bounds else None
        return MergeKey(found.key.text, found.key.name, found.distinct, found.listed is not None, found.nulls, condition)

    def _check_ambiguity(self, counts: effects.Counts, candidates: Sequence[Candidate]) -> None:
        refused, lossy = effects.ambiguous_rows(self.clauses, counts)
        if not refused and not (lossy and self._loses_rows()):
            return
        what = f"{refused or lossy} target row(s) match more than one source row"
        why = "which Delta's MERGE refuses" if refused else "and with the change data feed Delta's MERGE then loses other rows"
        rows, code = self.target.rows_of(candidates), "LP443" if refused else "LP444"
        raise spark_merge.refusal(self, rows, f"{what}, {why}", executed=self.text.executed, code=code)

    def _loses_rows(self) -> bool:
        """Delta 4.4 with the change data feed and without deletion vectors loses rows to be copied where one is deleted twice."""
        has_feed = self.target.planner.facts.configuration.get("delta.enableChangeDataFeed", "").lower() == "true"
        return has_feed and not self.target.uses_vectors(Operation.MERGE)


def checked_merge(statement: Merge, target: Target) -> CheckedMerge:
    """The statement, refused where it cannot work, with its source read."""
    facts, profile = target.planner.facts, target.planner.profile
    clauses = tuple(_pinned(clause, profile) for clause in statement.clauses)
    for clause in clauses:
        computed = facts.computed_columns if clause.action is Action.UPDATE else {}
        check_columns(_of_table(clause, target), facts.schema, computed)
    kinds = effects.rows_of(clauses)
    check_writable(target, only_inserts=kinds == {Rows.SOURCE_ONLY})
    executed = executed_text(statement.on, profile)
    source = source_of(statement.source, target)
    added_columns = spark_checks.check_merge(target, source, executed, clauses)

    conjuncts = conjuncts_of(executed)
    conditions = [() if clause.condition is None else conjuncts_of(clause.condition) for clause in clauses]
    named = {name for parts in (conjuncts, *conditions) for conjunct in parts for name in conjunct.names}
    names = Names(target, source)
    on, measured = _measured(source, names.sort(conjuncts))
    bounds: tuple[KeyValues, ...] = ()
    on_target: list[str] = []
    if Rows.TARGET_ONLY not in kinds:  # else every target row counts
        bounds = tuple(found for found in measured.keys if found.refusal is None)
        on_target = [conjunct.unaliased for conjunct in on.target_only]
    if kinds == {Rows.MATCHED} and (more := names.on_target(conditions)):
        on_target.append(more)
    keys = [(found.key.text, key_tree(found)) for found in bounds]
    read = (*(Clause(text, show(tree, profile.zone)) for text, tree in keys), *(Clause(text, None) for text in on_target))
    question = question_of(target.planner, executed, [tree for _, tree in keys], on_target)
    is_zoned = has_instants(question.condition, question.plan)
    return CheckedMerge(
        again=replace(statement, source=source),
        target=target,
        text=StatementText(Operation.MERGE, statement.on, executed, profile.zone, clauses=read, is_zoned=is_zoned),
        question=question,
        decides=Decides.NOTHING,
        read_columns=tuple(field.name for field in facts.schema.fields if field.name.lower() in named),
        source=source,
        clauses=clauses,
        names=names,
        on=on,
        facts=measured,
        bounds=bounds,
        on_target=tuple(on_target),
        added_columns=added_columns,
    )


def _measured(source: Source, on: MergeOn) -> tuple[MergeOn, SourceFacts]:
    """The values of the keys. Keys that cannot be computed for every row (a cast that fails) bound nothing: that is reported."""
    try:
        return on, measure(source, on.keys, on.source_only)
    except StatementError as error:
        why = f"it cannot be computed for every row of the source ({error.why})"
        unusable = (*on.unusable, *((key.text, why) for key in on.keys))
        return replace(on, keys=(), unusable=unusable), measure(source, ())


def _pinned(clause: MergeClause, profile: Profile) -> MergeClause:
    condition = None if clause.condition is None else pinned(clause.condition, profile)
    assignments = None if clause.assignments is None else tuple(map(_of_target, clause.assignments))
    return replace(clause, condition=condition, assignments=assignments)


def _of_target(assignment: Assignment) -> Assignment:
    """`t.a = 1` sets a."""
    path = assignment.column
    return replace(assignment, column=path[1:]) if len(path) > 1 and path[0].lower() == TARGET else assignment


def _of_table(clause: MergeClause, target: Target) -> tuple[Assignment, ...]:
    """The assignments to columns that the table has. Whether Delta adds the others is for its own analysis."""
    given = clause.assignments or ()
    return tuple(a for a in given if column_of(target, a.column) is not None) if spark_checks.may_evolve(target) else given
