"""Statements that change the rows of one condition: what UPDATE and DELETE share.

In: a condition, a target. Out: the answers that planning.py asks for. Reads the undecided files on Spark; writes only in `write`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from lakeprune.apps.statements.candidates import Decides
from lakeprune.apps.statements.model import Candidate, Certainty, Fate, Operation, Outcome, Touched, effects_of, total
from lakeprune.apps.statements.plan import StatementText
from lakeprune.apps.statements.statement import Addition, Checked, executed_text
from lakeprune.apps.statements.strengthen import added_conditions, strengthened
from lakeprune.errors import UsageError
from lakeprune.predicate.schema import Role
from lakeprune.predicate.walk import columns_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeprune.apps.statements.assignments import Assignment
    from lakeprune.apps.statements.spark_target import Target
    from lakeprune.formats.delta.spark_scan import DeltaScan


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

    def analyse(self, target: Target, executed: str) -> None:
        """Refuse what Spark or Delta would refuse, or what would not mean the same twice."""
        raise NotImplementedError

    def run(self, spark: SparkSession, location: str, condition: str) -> None:
        """Do it, through Delta."""
        raise NotImplementedError

    def check(self, target: Target) -> CheckedCondition:
        from lakeprune.apps.statements.assignments import check_columns
        from lakeprune.apps.statements.spark_target import check_writable, mind_padding

        planner = target.planner
        question, executed = planner.ask(self.where), executed_text(self.where, planner.profile)
        columns = columns_of(question.bound)
        mind_padding(target, {column.path[0].lower() for column in columns}, reads_padded=self.reads_padded)
        check_columns(self.assignments, planner.facts.schema, planner.facts.computed_columns)
        check_writable(target)
        self.analyse(target, executed)
        assignments = tuple((assignment.target, assignment.expression) for assignment in self.assignments)
        # Delta, too, decides by metadata what is about partition columns only, and takes whole files.
        is_partition_only = all(column.role is Role.PARTITION for column in columns)
        return CheckedCondition(
            self,
            target,
            StatementText(self.operation, self.where, executed, assignments),
            question,
            decides=Decides.WHOLE if is_partition_only else Decides.COUNTED,
            conjuncts=tuple((clause.text, clause.rewritten) for clause in question.plan.clauses),
            read_columns=tuple(".".join(column.path) for column in columns),
        )


class CheckedCondition(Checked, frozen=True):
    again: ByCondition

    def count(self, candidates: Sequence[Candidate]) -> Outcome:
        from lakeprune.apps.statements.spark_rows import count_rows

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
        self.again.run(spark, self.target.location, condition)


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
