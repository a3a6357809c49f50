"""Which columns a Delta writer collects statistics for, as the table's properties say.

`delta.dataSkippingStatsColumns` lists them; without it the first `delta.dataSkippingNumIndexedCols` leaf columns count (32 unless
set, -1 for all), in the order of the schema and without partition columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.predicate.schema import Role, Schema, leaf_paths
from lakeprune.values.names import name_parts

LISTED = "delta.dataSkippingStatsColumns"
COUNTED = "delta.dataSkippingNumIndexedCols"
DEFAULT = 32
_NAME = re.compile(r"(?:`(?:[^`]|``)*`|[^`.,])+(?:\.(?:`(?:[^`]|``)*`|[^`.,])+)*")


class Indexing(Struct, frozen=True):
    """The properties that apply; `listed` is the list as written, None when columns are counted."""

    schema: Schema
    listed: str | None
    counted: int

    @property
    def setting(self) -> str:
        """The property and its value, as set."""
        return f"{LISTED} = {self.listed}" if self.listed is not None else f"{COUNTED} = {self.counted}"

    def includes(self, path: tuple[str, ...]) -> bool:
        """Whether writers collect statistics for the column."""
        if self.listed is not None:
            listed = {tuple(part.strip().lower() for part in name_parts(name.strip())) for name in _NAME.findall(self.listed)}
            wanted = tuple(part.lower() for part in path)
            return any(wanted[:length] in listed for length in range(1, len(wanted) + 1))
        position = self.position(path)
        return position is None or self.counted < 0 or position <= self.counted

    def position(self, path: tuple[str, ...]) -> int | None:
        """The place of a leaf column, counted from 1; None for what is not a leaf, and when columns are listed."""
        return _positions(self.schema).get(path) if self.listed is None else None

    def including(self, path: tuple[str, ...], name: str) -> tuple[str, str]:
        """The property and the value it must have for one more column."""
        if self.listed is None:
            return COUNTED, str(self.position(path))
        return LISTED, ",".join(part for part in (self.listed.strip(), name) if part)


@lru_cache(maxsize=8)
def _positions(schema: Schema) -> Mapping[tuple[str, ...], int]:
    """The places of all leaf columns, for tables with many thousands of them."""
    leaves = [leaf for leaf in leaf_paths(schema.fields) if leaf[0].role is Role.DATA]
    return {tuple(field.name for field in leaf): place for place, leaf in reversed(list(enumerate(leaves, 1)))}


def indexing_of(facts: SnapshotFacts) -> Indexing:
    stated = facts.configuration.get(COUNTED, "").strip()
    counted = int(stated) if re.fullmatch(r"-?\d{1,9}", stated) else DEFAULT
    return Indexing(facts.schema, facts.configuration.get(LISTED), counted)
