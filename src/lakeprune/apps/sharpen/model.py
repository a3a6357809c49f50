"""What sharpening a DataFrame gave: the frame to use, what was added to each scan, and what could not be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Added(Struct, frozen=True):
    """A scan that reads fewer files now. `conditions` stand beside the query's own; `files` are as the connector plans them.

    Several `branches` are a scan that was divided by partition values, because no condition says what its OR asks for: each has
    its conditions, no two read the same file, and together they give the scan's rows.
    """

    table: str
    branches: tuple[tuple[str, ...], ...]
    files_before: int
    files_after: int

    @property
    def conditions(self) -> tuple[str, ...]:
        """Every condition that was added, once."""
        return tuple(dict.fromkeys(condition for branch in self.branches for condition in branch))


class Refused(Struct, frozen=True):
    """What stays as it was. `condition` is the clause it is about, None where it is about the whole scan or query."""

    table: str | None
    condition: str | None
    why: str


class Sharpening(Struct, frozen=True):
    """`frame` gives the rows of the DataFrame that was sharpened; it is that DataFrame itself where nothing was added."""

    frame: DataFrame
    added: tuple[Added, ...]
    refused: tuple[Refused, ...]

    def __repr__(self) -> str:
        scans = [f"{one.table}: {one.files_before} -> {one.files_after} files" for one in self.added]
        return f"<Sharpening of {'; '.join(scans)}>" if scans else "<Sharpening: nothing to add>"
