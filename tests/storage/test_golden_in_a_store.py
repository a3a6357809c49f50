"""Tables that this project did not write, with checkpoints of every kind, from a store and by column: the local documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lakeprune
from lakeprune.storage import partial_parquet
from tests.formats.delta.test_golden import tables
from tests.golden import GOLDEN
from tests.storage.running import comparable
from tests.storage.servers import Server

pytestmark = [pytest.mark.golden, pytest.mark.skipif(not GOLDEN.is_dir(), reason="the golden tables are not beside the project")]

CHECKPOINTED = [path for path in tables() if any((path / "_delta_log").glob("*.checkpoint.*"))]


@pytest.mark.parametrize("server", ["gcs"], indirect=True)  # the fastest of the three
def test_every_checkpoint_gives_the_document_of_the_local_run(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial_parquet, "WORTH_IT", 3_000)
    monkeypatch.setattr(partial_parquet, "_TAIL", 1_500)
    assert len(CHECKPOINTED) > 20
    for number, path in enumerate(CHECKPOINTED):
        url = server.upload(path, f"golden-{number}", only="_delta_log")
        local, remote = _document(str(path)), _document(url, storage_options=server.options, no_cache=True)
        assert remote == local, path


def _document(location: str | Path, **options: Any) -> dict[str, Any]:
    return comparable(lakeprune.explain(location, **options).to_dict(verbose=True))
