"""A shared table as a storage: the server's answer, written down as the log that it is.

In: `profile.share#share.schema.table`. Out: a `Storage` with one checkpoint, so that a shared table is read like any Delta table,
by the partition values and statistics that the server sends. Signed URLs are not written down, and no data file can be opened.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Sequence

from lakeprune.storage.local import LocalStorage
from lakeprune.storage.sharing.answer import Answer, ask
from lakeprune.storage.sharing.client import SharingClient
from lakeprune.storage.sharing.profile import read_profile, shared_name


class SharedStorage(LocalStorage):
    """The metadata of a shared table, in a directory of this run."""

    has_whole_files = False

    def __init__(self, location: str) -> None:
        self.name = shared_name(location)
        self.client = SharingClient(read_profile(self.name.profile))
        self._folder = tempfile.mkdtemp(prefix="lakeprune-shared-")
        try:
            self.answer = ask(self.client, self.name)
            _write_log(self._folder, self.answer)
            super().__init__(self._folder)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self.location = location

    def footer_paths(self, files: Sequence[tuple[str, int]]) -> list[str | None]:
        """Footers lie behind signed URLs, and are not read."""
        return [None for _ in files]

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def _write_log(folder: str, answer: Answer) -> None:
    """A log that begins with a checkpoint of this version, which Delta allows to be JSON."""
    log = os.path.join(folder, "_delta_log")
    os.mkdir(log)
    checkpoint = os.path.join(log, f"{answer.version:020d}.checkpoint.{uuid.uuid4()}.json")
    with open(checkpoint, "w", encoding="utf-8") as out:
        out.writelines(
            json.dumps(action, separators=(",", ":")) + "\n"
            for action in (
                {"checkpointMetadata": {"version": answer.version}},
                {"protocol": answer.protocol},
                {"metaData": {"configuration": {}, **answer.metadata}},
                *({"add": file.add} for file in answer.files),
            )
        )
