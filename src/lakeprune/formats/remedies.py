"""What a user can run to make a table prune better: statements in the SQL of the format's own engine.

A snapshot brings them, so that reports paste them without knowing a format. None where there is no such statement.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.predicate.tree import Column
from lakeprune.values.names import quote_name


class Exclusion(Struct, frozen=True):
    """Why writers do not collect statistics of a column, and the statement that has them do so."""

    setting: str  # as the table has it
    position: int | None  # of the column, counted from 1, where the setting counts columns
    message: str
    statement: str


class LackingMetrics(Struct, frozen=True):
    """Why files lack what the format's writers can record of a column, and the statements that mend it."""

    cause: str  # stable: metrics_mode, beyond_first_columns, older_files, truncation
    setting: str  # as the table has it; empty where nothing is set
    position: int | None  # of the column, counted from 1, where that is the cause
    message: str
    statements: str
    length: int = 0  # of bounds that are truncated, in characters


class Remedies(Struct, frozen=True):
    """Those of a format that has none of its own."""

    facts: SnapshotFacts

    @property
    def table(self) -> str:
        """The table as Spark SQL names it by its location."""
        return f"{self.facts.format}.{quote_name(self.facts.location)}"

    @property
    def target_bytes(self) -> int:
        """The size that files have after they were merged or ordered."""
        return 1 << 30

    def cluster_by(self, column: str, where: str | None) -> str | None:  # noqa: ARG002
        """Have the files ordered by a column; `where` names the partitions that need it, None for all."""
        return None

    def compact(self, where: str | None) -> str | None:  # noqa: ARG002
        """Have small files merged."""
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

    @property
    def nan_advice(self) -> str:
        """What is to be known of NaN in files that do not say whether they hold it."""
        return "write these files anew with a writer that counts NaN"

    @property
    def deletes_are(self) -> str:
        """What hides rows of a file."""
        return "deletion vectors"

    def lacking(self, column: Column, *, counts: bool) -> LackingMetrics | None:  # noqa: ARG002
        """Why bounds (`counts`: null counts) of a column are missing; None where the format has no metrics of its own."""
        return None

    def longer_bounds(self, column: Column) -> LackingMetrics | None:  # noqa: ARG002
        """Why bounds of a text are truncated; None where the format has no setting for it."""
        return None

    def partition_by_range(self, column: Column, low: Any, high: Any, partitions: int) -> str | None:  # noqa: ARG002
        """Have files partitioned by a column whose values lie between these ends, into about so many ranges."""
        return None

    def rewrite_manifests(self) -> str | None:
        """Have the manifests ordered by partition."""
        return None

    def purge_deleted_rows(self) -> str | None:
        """Have files written anew without the rows that deletion vectors hide."""
        return None
