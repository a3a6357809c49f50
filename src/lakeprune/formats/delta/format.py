"""Delta Lake, as the registry knows it."""

from __future__ import annotations

from lakeprune.engines.engine import Engine
from lakeprune.formats.delta.open_delta import open_delta
from lakeprune.formats.format import At
from lakeprune.formats.snapshot import Snapshot
from lakeprune.storage.storage import Storage


class DeltaFormat:
    name = "delta"

    def open(self, storage: Storage, engine: Engine, at: At) -> Snapshot:
        return open_delta(storage, engine, at)


FORMAT = DeltaFormat()
