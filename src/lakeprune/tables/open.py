"""Opening a table: from a location to a `Snapshot`. A new table format adds its line here.

In: a location, an engine, optionally a version or a time. Out: the snapshot, or a TableError that says what is wrong with it.
"""

from __future__ import annotations

from lakeprune.engines.engine import Engine
from lakeprune.tables.snapshot import Snapshot
from lakeprune.tables.storage import open_storage


def open_table(location: str, engine: Engine, *, version: int | None = None, timestamp: int | None = None) -> Snapshot:
    """The table at a location, at its latest version unless a version or a time (microseconds since 1970) is given."""
    from lakeprune.tables.delta.open_delta import Asked, open_delta

    return open_delta(open_storage(location), engine, Asked(version, timestamp))
