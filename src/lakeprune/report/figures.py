"""The numbers of a report under the names that its JSON document has, and under short ones.

In: the attribution. Out: `Figures`, which a `Report` is. A number is computed here once; the document takes it from here.
"""

from __future__ import annotations

from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.planning.session import Session
from lakeprune.report.amount import bytes_pruned, percent
from lakeprune.report.attribution import Attribution
from lakeprune.report.document import Document


class Figures(Document, frozen=True):
    """What was asked of which table, and how much of it is left to read."""

    table: str
    predicate: str | None
    facts: SnapshotFacts
    session: Session
    numbers: Attribution

    @property
    def format(self) -> str:
        """The format of the table: "delta", "iceberg" or "parquet"."""
        return self.facts.format

    @property
    def version(self) -> int | None:
        """The version that was explained; None for what has no versions."""
        return self.facts.version

    @property
    def total_files(self) -> int:
        """Files of the table at this version."""
        return self.numbers.total.files

    @property
    def kept_files(self) -> int:
        """Files that must be read; `final_files` in the document."""
        return self.numbers.kept.files

    @property
    def dropped_files(self) -> int:
        """Files that need not be read."""
        return self.total_files - self.kept_files

    @property
    def pruning_pct(self) -> float:
        """The share of files that need not be read, in percent; `total_pruning_pct` in the document."""
        return percent(self.dropped_files, self.total_files)

    @property
    def total_bytes(self) -> int:
        """Bytes of the files whose size is known."""
        return self.numbers.total.bytes

    @property
    def kept_bytes(self) -> int:
        """Bytes that must be read; `final_bytes` in the document."""
        return self.numbers.kept.bytes

    @property
    def bytes_pruning_pct(self) -> float:
        """The share of bytes that need not be read; a lower bound where some sizes are not known."""
        return bytes_pruned(self.numbers.total, self.numbers.kept)

    @property
    def total_rows(self) -> int:
        """Live rows of the files whose rows are known."""
        return self.numbers.total.rows

    @property
    def kept_rows(self) -> int:
        """Live rows in the files that must be read; `final_rows` in the document."""
        return self.numbers.kept.rows

    @property
    def full_files(self) -> int:
        """Files of those to read in which every row satisfies the predicate."""
        return self.numbers.full.files

    @property
    def full_rows(self) -> int:
        """Live rows of `full_files`."""
        return self.numbers.full.rows

    @property
    def final_files(self) -> int:
        """`kept_files` under the name of the document."""
        return self.kept_files

    @property
    def final_bytes(self) -> int:
        """`kept_bytes` under the name of the document."""
        return self.kept_bytes

    @property
    def final_rows(self) -> int:
        """`kept_rows` under the name of the document."""
        return self.kept_rows

    @property
    def total_pruning_pct(self) -> float:
        """`pruning_pct` under the name of the document."""
        return self.pruning_pct
