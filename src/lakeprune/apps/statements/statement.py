"""What every statement is: the seven steps are taken by planning.py and execution.py, and ask this of each statement.

One folder per statement has its `Statement`, as it was asked for, and its `Checked`, on one version of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from msgspec import Struct

from lakeprune.apps.statements.candidates import Decides
from lakeprune.apps.statements.model import Candidate, Operation, Outcome
from lakeprune.apps.statements.plan import StatementText
from lakeprune.planning.question import Question
from lakeprune.planning.session import SessionOptions
from lakeprune.predicate.clock import pinned
from lakeprune.predicate.read.sql.tokens import tokenize
from lakeprune.predicate.tree import Profile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeprune.apps.statements.merge.model import MergePart
    from lakeprune.apps.statements.planning import PlannedStatement
    from lakeprune.apps.statements.spark_target import Target
    from lakeprune.formats.delta.spark_scan import DeltaScan
    from lakeprune.planning.opening import Table


class StatementOptions(SessionOptions, total=False):
    """The options of every statement, named like the command's flags: guards, strengthening, how the condition is read."""

    max_rewrite_bytes: int
    max_files: int
    max_rows: int
    require_partition_filter: bool
    strengthen: bool


class Request(Struct, frozen=True):
    """Where a statement runs, and with which options."""

    table: Table
    spark: SparkSession
    options: Mapping[str, Any]


class Statement(Protocol):
    """A statement as it was asked for."""

    @property
    def operation(self) -> Operation: ...
    def check(self, target: Target) -> Checked:
        """Step 1: refuse what cannot work on this version of the table, before its data is read."""


class Addition(Struct, frozen=True):
    """Conditions to be added together: `scanned` is how a scan of the table alone writes them, `executed` the statement."""

    scanned: tuple[str, ...]
    executed: tuple[str, ...]


class Checked(Struct, frozen=True):
    """A statement that is possible on one version of its table. Its condition is TRUE on every row that it changes there."""

    always_scans: ClassVar[bool] = False  # whether Delta is asked what it scans even when nothing changes
    again: Statement  # to be planned on another version
    target: Target
    text: StatementText
    question: Question  # step 2: what metadata is asked
    decides: Decides
    read_columns: tuple[str, ...]

    def count(self, candidates: Sequence[Candidate]) -> Outcome:
        """Steps 3 to 5: one Spark job over the undecided files, and what the statement does by its counts."""
        raise NotImplementedError

    def scan(self, beside: Sequence[str]) -> DeltaScan:
        """What Delta itself scans to find the rows, with these conditions beside the statement's own."""
        raise NotImplementedError

    def additions(self) -> Iterable[Addition]:
        """What may stand beside the condition in step 6: TRUE on every row on which the condition is."""
        raise NotImplementedError

    def part(self, files_scanned: int | None) -> MergePart | None:  # noqa: ARG002  # of Delta, with whatever is added
        """What only a MERGE has."""
        return None

    def write(self, spark: SparkSession, condition: str) -> None:
        """Step 6: run it through Delta, in this session."""
        raise NotImplementedError


def planned(statement: Statement, table: Table, spark: SparkSession, options: Mapping[str, Any]) -> PlannedStatement:
    """The plan of a statement, by its options; what needs Spark is imported now."""
    from lakeprune.apps.statements.planning import plan_statement

    return plan_statement(statement, Request(table, spark, options))


def executed_text(condition: str, profile: Profile) -> str:
    """A condition as it is executed: without comments, which other parsers may end elsewhere, and with its clock pinned."""
    return pinned(tokenize(condition).uncommented(), profile)
