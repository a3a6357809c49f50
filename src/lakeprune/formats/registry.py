"""The table formats, in the order in which they are tried. A new one is a folder beside this file and one line here.

In: a location, an engine, optionally a version or a time. Out: the snapshot, or a TableError that says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from lakeprune.engines.engine import Engine
from lakeprune.errors import UsageError
from lakeprune.formats.format import At, Format, NotThisFormat
from lakeprune.formats.snapshot import Snapshot
from lakeprune.storage.storage import Storage, open_storage

# Modules with a FORMAT, imported when they are tried: a format that nobody uses costs nothing.
FORMATS = ["lakeprune.formats.delta.format", "lakeprune.formats.iceberg.format", "lakeprune.formats.parquet.open_parquet"]
_NOTHING_GIVEN: Mapping[str, Any] = MappingProxyType({})


def open_table(location: str, engine: Engine, at: At = At(), access: Mapping[str, Any] = _NOTHING_GIVEN) -> Snapshot:  # noqa: B008  # frozen
    """The table at a location; `access` says how an object store is reached: the fields of `AccessOptions`."""
    storage = engine.storage(location)
    if storage is None:
        storage = open_storage(location, access)
    elif given := sorted(access.keys() - {"progress"}):
        what = f"{given[0]} is for reading an object store from here, and {engine.name} reads {storage.location} itself"
        raise UsageError("LP228", what, fix="tell Spark instead: --conf spark.hadoop.KEY=VALUE")
    try:
        return _opened(storage, engine, at)
    except BaseException:
        storage.close()
        raise


def _opened(storage: Storage, engine: Engine, at: At) -> Snapshot:
    refusals = []
    for module in FORMATS:
        format_: Format = import_module(module).FORMAT
        try:
            return format_.open(storage, engine, at)
        except NotThisFormat as error:
            refusals.append(error)
    raise refusals[0]
