"""Which columns a Delta writer collects statistics for, as the table's properties say.

`delta.dataSkippingStatsColumns` names them; without it the first `delta.dataSkippingNumIndexedCols` leaf columns count (32 unless
set, -1 for all), in the order of the schema and without partition columns.
"""

from __future__ import annotations

import re

from msgspec import Struct

from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.predicate.schema import Role, leaf_paths

NAMED = "delta.dataSkippingStatsColumns"
COUNTED = "delta.dataSkippingNumIndexedCols"
DEFAULT = 32
_NAME = re.compile(r"(?:`(?:[^`]|``)*`|[^`.,])+(?:\.(?:`(?:[^`]|``)*`|[^`.,])+)*")


class Indexing(Struct, frozen=True):
    """The properties that apply; `named` is the list as written, None when columns are counted."""

    named: str | None
    counted: int

    @property
    def setting(self) -> str:
        """The property and its value, as set."""
        return f"{NAMED} = {self.named}" if self.named is not None else f"{COUNTED} = {self.counted}"


def indexing_of(facts: SnapshotFacts) -> Indexing:
    named = facts.configuration.get(NAMED)
    stated = facts.configuration.get(COUNTED, "").strip()
    return Indexing(named, int(stated) if re.fullmatch(r"-?\d{1,9}", stated) else DEFAULT)


def position_of(path: tuple[str, ...], facts: SnapshotFacts) -> int | None:
    """The place of a leaf column, counted from 1; None for what is not a leaf."""
    leaves = (leaf for leaf in leaf_paths(facts.schema.fields) if leaf[0].role is Role.DATA)
    names = (tuple(field.name for field in leaf) for leaf in leaves)
    return next((number for number, leaf in enumerate(names, 1) if leaf == path), None)


def is_indexed(path: tuple[str, ...], facts: SnapshotFacts) -> bool:
    """Whether writers are told to collect statistics for the column."""
    indexing = indexing_of(facts)
    if indexing.named is not None:
        listed = {_parts(name) for name in _NAME.findall(indexing.named)}
        wanted = tuple(part.lower() for part in path)
        return any(wanted[:length] in listed for length in range(1, len(wanted) + 1))
    position = position_of(path, facts)
    return position is None or indexing.counted < 0 or position <= indexing.counted


def _parts(name: str) -> tuple[str, ...]:
    """A listed name as a path.

    >>> _parts(" a.`b.c` ")
    ('a', 'b.c')
    """
    found = re.findall(r"`((?:[^`]|``)*)`|([^`.]+)", name.strip())
    return tuple((quoted.replace("``", "`") or plain).strip().lower() for quoted, plain in found)
