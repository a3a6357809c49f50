"""What a table format is to the rest of the program: a name, a title, and how its tables are opened."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from lakeprune.engines.engine import Engine
from lakeprune.errors import TableError
from lakeprune.formats.snapshot import Snapshot
from lakeprune.storage.storage import Storage


class At(Struct, frozen=True):
    """The version or the time (microseconds since 1970) asked for; the latest version when neither is given."""

    version: int | None = None
    timestamp: int | None = None

    def is_latest(self) -> bool:
        return self.version is None and self.timestamp is None


class Format(Protocol):
    @property
    def name(self) -> str:
        """In documents: `delta`."""

    def open(self, storage: Storage, engine: Engine, at: At) -> Snapshot:
        """The table there. Raises NotThisFormat when what lies there is of another kind, TableError when it cannot be read."""


class NotThisFormat(TableError):
    """What lies at the location is not of this format. It is raised when no other format recognises it either."""
