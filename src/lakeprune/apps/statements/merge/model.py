"""What a planned MERGE has beyond what every statement has: source, clauses, keys, what stands in the way. Values only."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct, field


class ObstacleKind(Enum):
    """What keeps target files from being skipped, or what the keys of the source should not be."""

    NOT_MATCHED_BY_SOURCE = "not_matched_by_source"
    NO_LAYOUT_KEY = "no_layout_key"
    UNUSABLE_CONJUNCT = "unusable_conjunct"
    UNUSABLE_VALUES = "unusable_values"
    NULL_KEYS = "null_keys"
    REPEATED_KEYS = "repeated_keys"


class Obstacle(Struct, frozen=True):
    """What keeps target files from being skipped; the numbers are target files that Delta scans without and with the fix."""

    kind: ObstacleKind
    message: str
    fix: str | None = None
    files_before: int | None = None
    files_after: int | None = None


class MergeKey(Struct, frozen=True):
    """An equality of ON that bounds the target; `condition` is what the source's values imply for it, null when nothing."""

    text: str
    column: str
    distinct: int
    is_listed: bool = field(name="listed")  # else `distinct` is an estimate, and only the least and the greatest value are known
    nulls: int
    condition: str | None


class MergePart(Struct, frozen=True):
    """What only a MERGE has. `added_columns` are those that the table gets when a row changes."""

    source: str
    source_rows: int
    clauses: tuple[str, ...]
    added_columns: tuple[str, ...]
    keys: tuple[MergeKey, ...]
    obstacles: tuple[Obstacle, ...]
