"""What Iceberg's writers record of a column, as the table's properties say.

`write.metadata.metrics.column.NAME` decides for one column, `write.metadata.metrics.default` for all others. Without a default
the first leaf columns (`write.metadata.metrics.max-inferred-column-defaults`, 100 unless set) have `truncate(16)`, others `none`.
"""

from __future__ import annotations

import re

from msgspec import Struct

from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.predicate.schema import leaf_paths
from lakeprune.predicate.tree import Column

_PREFIX = "write.metadata.metrics"
DEFAULT = f"{_PREFIX}.default"
INFERRED = f"{_PREFIX}.max-inferred-column-defaults"
DEFAULT_INFERRED = 100
DEFAULT_LENGTH = 16
_TRUNCATE = re.compile(r"truncate\((\d{1,9})\)", re.ASCII)


class Mode(Struct, frozen=True):
    """What is recorded of a column, and which setting says so."""

    name: str  # none, counts, truncate(16), full
    setting: str  # the property and its value, as written; empty where nothing is set
    position: int | None = None  # of a column beyond those that have metrics by default, counted from 1

    @property
    def has_counts(self) -> bool:
        return self.name != "none"

    @property
    def has_bounds(self) -> bool:
        return self.name not in ("none", "counts")

    @property
    def length(self) -> int | None:
        """The characters that a bound of text has at most; None without a limit."""
        found = _TRUNCATE.fullmatch(self.name)
        return int(found[1]) if found else None


def property_of(column: Column) -> str:
    """The property that decides for one column."""
    return f"{_PREFIX}.column.{'.'.join(column.path)}"


def mode_of(facts: SnapshotFacts, column: Column) -> Mode:
    """What a writer that reads the properties now records of a column."""
    for name in (property_of(column), DEFAULT):
        if (given := facts.configuration.get(name)) is not None:
            return Mode(given.strip().lower(), f"{name} = {given}")
    given = facts.configuration.get(INFERRED, "")
    most = int(given) if given.strip().isdecimal() else DEFAULT_INFERRED
    position = next(
        (n for n, path in enumerate(leaf_paths(facts.schema.fields), 1) if path[-1].physical == column.physical[-1]), 0
    )
    if position > most:
        return Mode("none", f"{INFERRED} = {most}", position)
    return Mode(f"truncate({DEFAULT_LENGTH})", "")
