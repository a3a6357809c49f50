"""What a user can run to make a table prune better: statements in the SQL of the format's own engine.

A snapshot brings them, so that reports paste them without knowing a format. None where there is no such statement.
"""

from __future__ import annotations

from msgspec import Struct

from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.predicate.tree import Column


class Exclusion(Struct, frozen=True):
    """Why writers do not collect statistics of a column, and the statement that has them do so."""

    setting: str  # as the table has it
    position: int | None  # of the column, counted from 1, where the setting counts columns
    message: str
    statement: str


class Remedies(Struct, frozen=True):
    """Those of a format that has none of its own."""

    facts: SnapshotFacts

    @property
    def table(self) -> str:
        """The table as Spark SQL names it by its location."""
        return f"{self.facts.format}.`{self.facts.location.replace('`', '``')}`"

    def cluster_by(self, column: str) -> str | None:  # noqa: ARG002
        """Have the files ordered by a column."""
        return None

    def collect_statistics(self) -> str | None:
        """Have the statistics of existing files computed."""
        return None

    def how_to_collect(self, column: Column) -> str:  # noqa: ARG002
        """Advice on how files get the statistics of a column."""
        return "write these files anew with a writer that collects statistics"

    def exclusion(self, column: Column) -> Exclusion | None:  # noqa: ARG002
        """The setting that excludes a column from statistics, None when there is none."""
        return None

    def purge_deleted_rows(self) -> str | None:
        """Have files written anew without the rows that deletion vectors hide."""
        return None
