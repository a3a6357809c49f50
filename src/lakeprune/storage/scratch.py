"""A directory for one run: made when it is first needed, removed by `close`, or with its owner, or at the end of the program."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref


class Scratch:
    def __init__(self) -> None:
        self._directory: str | None = None
        self._remove: weakref.finalize[..., Scratch] | None = None

    def directory(self) -> str:
        if self._directory is None:
            self._directory = tempfile.mkdtemp(prefix="lakeprune-")
            self._remove = weakref.finalize(self, shutil.rmtree, self._directory, ignore_errors=True)
        return self._directory

    def place(self, path: str) -> str:
        """Where a file of this name may be written."""
        return os.path.join(self.directory(), path.replace("/", "-"))

    def close(self) -> None:
        if self._remove is not None:
            self._remove()
