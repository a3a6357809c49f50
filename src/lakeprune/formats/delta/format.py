"""Delta Lake, as the registry knows it. It is tried first: of a folder without a log no more than this is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeprune.engines.engine import Engine
from lakeprune.formats.delta.log_files import list_log
from lakeprune.formats.format import At
from lakeprune.storage.storage import Storage

if TYPE_CHECKING:
    from lakeprune.formats.delta.snapshot import DeltaSnapshot


class DeltaFormat:
    name = "delta"

    def open(self, storage: Storage, engine: Engine, at: At) -> DeltaSnapshot:
        files = list_log(storage, from_hint=at.is_latest() or at.ref is not None)
        from lakeprune.formats.delta.open_delta import open_delta

        return open_delta(storage, engine, at, files)


FORMAT = DeltaFormat()
