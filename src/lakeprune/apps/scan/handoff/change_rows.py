"""Which rows of a file are changes, and of which kind.

In: what the plan of a change data feed says about a file. Out: its parts, each with the rows that it picks and their
`_change_type`. A file that the feed wrote itself has the kind of every row in it.

    insert   a file was added: the rows that its deletion vector leaves
    delete   a file was removed: the rows that were alive in it
    pair     a file got another deletion vector: rows that only the new one has were deleted, those that only the old one has
             are back
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Raw, Struct

from lakeprune.apps.scan.handoff.opening import DataFiles
from lakeprune.apps.scan.handoff.planned_file import PlannedFile
from lakeprune.errors import UsageError
from lakeprune.formats.deleted_rows import Positions, positions_at
from lakeprune.formats.delta.deletion_vectors import deleted_positions

_INSERT, _DELETE = "insert", "delete"


class Part(Struct, frozen=True):
    """Rows of a file: all of them, those at `only`, or those that are not `deleted`."""

    deleted: Positions | None = None
    only: Positions | None = None
    kind: str | None = None  # of the change; None where the file says it, or there is none


class _Change(Struct, frozen=True):
    change: Literal["insert", "delete", "pair"]
    vector: Raw
    before: Raw


def parts_of(file: PlannedFile, files: DataFiles) -> list[Part]:
    """The parts of a file of a change data feed; one without a row is left out."""
    if file.vector is None:
        return [Part()]
    try:
        change = msgspec.json.decode(file.vector, type=_Change)
    except msgspec.MsgspecError as error:
        what = "what changed in a file of the plan cannot be read"
        raise UsageError("LP274", what, where=file.uri, why=str(error), fix="plan again") from error
    vector, before = (_positions(descriptor, file, files) for descriptor in (change.vector, change.before))
    if change.change != "pair":
        return [Part(deleted=vector, kind=change.change)]
    now, then = (positions_at() if positions is None else positions for positions in (vector, before))
    both = (Part(only=now - then, kind=_DELETE), Part(only=then - now, kind=_INSERT))
    return [part for part in both if part.only]


def _positions(descriptor: Raw, file: PlannedFile, files: DataFiles) -> Positions | None:
    text = bytes(descriptor).decode()
    return None if text == "null" else deleted_positions(text, file.uri, files.read)
