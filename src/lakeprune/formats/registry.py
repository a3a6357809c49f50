"""Opening a table: from a location to a `Snapshot`. A new table format adds its line here.

In: a location, an engine, optionally a version or a time. Out: the snapshot, or a TableError that says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from lakeprune.engines.engine import Engine
from lakeprune.errors import UsageError
from lakeprune.formats.snapshot import Snapshot
from lakeprune.storage.storage import open_storage

_NOTHING_GIVEN: Mapping[str, Any] = MappingProxyType({})


def open_table(
    location: str,
    engine: Engine,
    *,
    version: int | None = None,
    timestamp: int | None = None,
    access: Mapping[str, Any] = _NOTHING_GIVEN,
) -> Snapshot:
    """The table at a location, at its latest version unless a version or a time (microseconds since 1970) is given.

    `access` says how an object store is reached: the fields of `Access` in store_options.py.
    """
    from lakeprune.formats.delta.open_delta import Asked, open_delta

    storage = engine.storage(location)
    if storage is None:
        storage = open_storage(location, access)
    elif given := sorted(access.keys() - {"progress"}):
        what = f"{given[0]} is for reading an object store from here, and {engine.name} reads {storage.location} itself"
        raise UsageError("LP228", what, fix="tell Spark instead: --conf spark.hadoop.KEY=VALUE")
    try:
        return open_delta(storage, engine, Asked(version, timestamp))
    except BaseException:
        storage.close()
        raise
