"""What a table format is to the rest of the program: a name, a title, and how its tables are opened."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from lakeprune.engines.engine import Engine
from lakeprune.errors import TableError
from lakeprune.formats.snapshot import Snapshot
from lakeprune.storage.storage import Storage

SQL_NAMES = ("delta", "parquet")  # formats whose tables Spark SQL names by their place: delta.`path`


class At(Struct, frozen=True):
    """The version, the time (microseconds since 1970) or the branch or tag asked for; the latest version when none is given."""

    version: int | None = None
    timestamp: int | None = None
    ref: str | None = None

    def is_latest(self) -> bool:
        return self.version is None and self.timestamp is None and self.ref is None


class Format(Protocol):
    @property
    def name(self) -> str:
        """In documents: `delta`."""

    def open(self, storage: Storage, engine: Engine, at: At) -> Snapshot:
        """The table there. Raises NotThisFormat when what lies there is of another kind, TableError when it cannot be read."""


def refuse_ref(at: At, what: str, where: str) -> None:
    """LP367 for a format without branches and tags; `what` begins the message."""
    if at.ref is not None:
        fix = "leave it out; --at-version and --at-timestamp are for tables that have versions"
        raise TableError("LP367", f"{what} no branches and tags, which --at-ref asks for", where=where, fix=fix)


class NotThisFormat(TableError):
    """What lies at the location is not of this format. It is raised when no other format recognises it either."""
