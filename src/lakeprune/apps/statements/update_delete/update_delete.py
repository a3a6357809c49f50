"""UPDATE and DELETE: `lakeprune.update` and `lakeprune.delete` plan them; nothing changes until the plan is executed.

Both change the rows of one condition. What they do on Spark is in spark_steps.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from lakeprune.apps.signature import takes
from lakeprune.apps.statements.assignments import Assignment, assignments_of, check_columns
from lakeprune.apps.statements.candidates import Decides
from lakeprune.apps.statements.model import Candidate, Certainty, Fate, Operation, Outcome, Touched, effects_of, total
from lakeprune.apps.statements.plan import Clause, SetColumn, StatementText
from lakeprune.apps.statements.statement import Addition, Checked, StatementOptions, executed_text, planned
from lakeprune.apps.statements.strengthen import added_conditions, strengthened
from lakeprune.errors import UsageError
from lakeprune.planning.session import check_options, has_instants
from lakeprune.predicate.schema import Role
from lakeprune.predicate.walk import columns_of

if TYPE_CHECKING:
    from typing import Unpack

    from pyspark.sql import SparkSession

    from lakeprune.apps.statements.planning import PlannedStatement
    from lakeprune.apps.statements.spark_target import Target
    from lakeprune.formats.delta.spark_scan import DeltaScan
    from lakeprune.planning.opening import Table

_MOST_FILES = "guard: files that are rewritten, removed or get a deletion vector"


@takes(StatementOptions, max_files=_MOST_FILES)
def update(
    table: Table, set_: str | Mapping[str, str], *, where: str, spark: SparkSession, **options: Unpack[StatementOptions]
) -> PlannedStatement:
    """What `UPDATE table SET set_ WHERE where` would do: the files it touches, the rows it changes and copies, what it costs.

    `set_` is SQL (`"a = 1, b = b + 1"`) or a mapping (`{"a": "1", "b": "b + 1"}`). Options are the guards (`max_files`,
    `max_rows`, `max_rewrite_bytes`, `require_partition_filter`), `strengthen`, and how the condition is read (`timezone`,
    `now`, `nan_policy`). The time zone is the session's unless given. Nothing changes before `.execute()`.
    """
    check_options("update", options, StatementOptions)
    return planned(Update(where, assignments_of(set_)), table, spark, options)


@takes(StatementOptions, max_files=_MOST_FILES)
def delete(table: Table, *, where: str, spark: SparkSession, **options: Unpack[StatementOptions]) -> PlannedStatement:
    """What `DELETE FROM table WHERE where` would do; the options are those of `update`. Nothing changes before `.execute()`."""
    check_options("delete", options, StatementOptions)
    return planned(Delete(where), table, spark, options)


class ByCondition(Struct, frozen=True):
    """A statement about the rows for which a condition is TRUE."""

    operation: ClassVar[Operation]
    changes: ClassVar[str]  # the number of the effects that it sets
    whole: ClassVar[Fate]  # of a file in which every row matches
    reads_padded: ClassVar[bool]  # whether Delta reads CHAR columns with their blanks here
    where: str
    assignments: tuple[Assignment, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.where, str):
            what = f"the condition is of type {type(self.where).__name__}"
            raise UsageError("LP251", what, fix="give an SQL condition as text")

    def check(self, target: Target) -> CheckedCondition:
        from lakeprune.apps.statements.spark_target import check_writable, mind_padding
        from lakeprune.apps.statements.update_delete.spark_steps import check_statement

        planner = target.planner
        question, executed = planner.ask(self.where), executed_text(self.where, planner.profile)
        columns = columns_of(question.bound)
        mind_padding(target, {column.path[0].lower() for column in columns}, reads_padded=self.reads_padded)
        check_columns(self.assignments, planner.facts.schema, planner.facts.computed_columns)
        check_writable(target)
        check_statement(target, executed, self.assignments)
        # Delta, too, decides by metadata what is about partition columns only, and takes whole files.
        is_partition_only = all(column.role is Role.PARTITION for column in columns)
        text = StatementText(
            self.operation,
            self.where,
            executed,
            planner.profile.zone,
            tuple(SetColumn(assignment.target, assignment.expression) for assignment in self.assignments),
            tuple(Clause(clause.text, clause.rewritten) for clause in question.plan.clauses),
            is_partition_only,
            has_instants(question.condition, question.plan),
        )
        decides = Decides.WHOLE if is_partition_only else Decides.COUNTED
        return CheckedCondition(self, target, text, question, decides, tuple(".".join(column.path) for column in columns))


class Update(ByCondition, frozen=True):
    operation = Operation.UPDATE
    changes = "updated"
    whole = Fate.REWRITE
    reads_padded = True


class Delete(ByCondition, frozen=True):
    operation = Operation.DELETE
    changes = "deleted"
    whole = Fate.REMOVE
    reads_padded = False


class CheckedCondition(Checked, frozen=True):
    again: ByCondition

    def count(self, candidates: Sequence[Candidate]) -> Outcome:
        from lakeprune.apps.statements.update_delete.spark_steps import count_rows

        undecided = [file for file in candidates if file.certainty is Certainty.UNDECIDED]
        counted = count_rows(self.target, self.text.executed, undecided)
        in_part = Fate.VECTOR if self.target.uses_vectors(self.again.operation) else Fate.REWRITE
        return outcome_of(self.again, candidates, counted, in_part)

    def scan(self, beside: Sequence[str]) -> DeltaScan:
        if self.decides is Decides.WHOLE:
            from lakeprune.formats.delta.spark_scan import NO_SCAN

            return NO_SCAN
        return self.target.scan(strengthened(self.text.executed, beside) if beside else self.text.executed)

    def additions(self) -> Iterator[Addition]:
        planner = self.target.planner
        if added := added_conditions(self.question.parts, planner.facts, planner.profile):
            yield Addition(added, added)

    def write(self, spark: SparkSession, condition: str) -> None:
        from lakeprune.apps.statements.update_delete.spark_steps import run_statement

        run_statement(spark, self.target.location, condition, self.again.assignments)


def outcome_of(
    statement: ByCondition, candidates: Sequence[Candidate], counted: Mapping[str, tuple[int, int]], in_part: Fate
) -> Outcome:
    """The candidates that have a match, each with what becomes of it: by its (live, matching) rows, or by metadata alone."""
    touched = []
    for file in candidates:
        is_full = file.certainty is Certainty.FULL
        live, matching = (file.live, file.live) if is_full else counted.get(file.key, (0, 0))
        if is_full or matching:
            fate = statement.whole if live == matching else in_part
            touched.append(Touched(file.path, file.key, file.size, live, matching, fate))
    changed = {statement.changes: total([file.matching for file in touched])}
    return Outcome(tuple(touched), effects_of(touched, **changed), is_empty=not touched)
