"""Apache Iceberg, as the registry knows it."""

from __future__ import annotations

from lakeprune.engines.engine import Engine
from lakeprune.formats.format import At
from lakeprune.formats.iceberg.open_iceberg import open_iceberg
from lakeprune.formats.snapshot import Snapshot
from lakeprune.storage.storage import Storage


class IcebergFormat:
    name = "iceberg"

    def open(self, storage: Storage, engine: Engine, at: At) -> Snapshot:
        return open_iceberg(storage, engine, at)


FORMAT = IcebergFormat()
