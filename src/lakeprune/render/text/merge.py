"""The lines that a MERGE has of its own in the text of the seven steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.printable import printable, shortened
from lakeprune.report.amount import counted, files_text

if TYPE_CHECKING:
    from lakeprune.apps.statements.merge.model import MergePart, Obstacle


def source(part: MergePart) -> Iterator[str]:
    """The source and its keys."""
    yield f"source: {counted(part.source_rows, 'row')}, read once and kept: these are the rows that are merged"
    if part.added_columns:
        named = ", ".join(map(printable, part.added_columns))
        yield f"schema: if a row changes, the table gets {counted(len(part.added_columns), 'new column')}: {named}"
    for key in part.keys:
        about = "" if key.is_listed else "about "
        nulls = f", {key.nulls} NULL" if key.nulls else ""
        yield f"key {shortened(key.text)}: {about}{counted(key.distinct, 'value')}{nulls}"


def obstacles(part: MergePart) -> Iterator[str]:
    """What keeps files from being skipped, and what would help."""
    for obstacle in part.obstacles:
        yield f"note: {shortened(obstacle.message)}"
        if obstacle.fix is not None:
            yield f"  {printable(obstacle.fix)}{_saving(obstacle)}"


def _saving(obstacle: Obstacle) -> str:
    if obstacle.files_before is None or obstacle.files_after is None:
        return ""
    return f": Delta would scan {files_text(obstacle.files_after)} instead of {obstacle.files_before}"
