"""What only a MERGE has, as its part of the JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeprune.apps.statements.merge.model import MergePart

if TYPE_CHECKING:
    from lakeprune.apps.statements import document as shape


def merge_document(part: MergePart) -> shape.Merge:
    """The part as Python values."""
    return {
        "source": part.source,
        "source_rows": part.source_rows,
        "clauses": list(part.clauses),
        "added_columns": list(part.added_columns),
        "keys": [
            {
                "text": key.text,
                "column": key.column,
                "distinct": key.distinct,
                "listed": key.is_listed,
                "nulls": key.nulls,
                "condition": key.condition,
            }
            for key in part.keys
        ],
        "obstacles": [
            {
                "kind": obstacle.kind.value,
                "message": obstacle.told,
                "fix": obstacle.fix,
                "files_before": obstacle.files_before,
                "files_after": obstacle.files_after,
            }
            for obstacle in part.obstacles
        ],
    }
