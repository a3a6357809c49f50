"""Plain Parquet files, as the registry knows them."""

from __future__ import annotations

from lakeprune.engines.engine import Engine
from lakeprune.formats.format import At
from lakeprune.formats.parquet.open_parquet import open_parquet
from lakeprune.formats.snapshot import Snapshot
from lakeprune.storage.storage import Storage


class ParquetFormat:
    name = "parquet"

    def open(self, storage: Storage, engine: Engine, at: At) -> Snapshot:
        return open_parquet(storage, engine, at)


FORMAT = ParquetFormat()
