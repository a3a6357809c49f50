"""Opening the data files of a plan, and no others.

In: where a file lies, and its size as the table records it. Out: what pyarrow reads from: a path of this machine, or a file
object over ranges of an object. What cannot be read is a TableError.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from lakeprune.errors import TableError
from lakeprune.storage.storage import Storage, is_elsewhere, open_storage


class DataFiles:
    """The files of one table; `options` reach the store where they differ from those for the log."""

    def __init__(self, storage: Storage, options: Mapping[str, str]) -> None:
        self._own = storage
        self._options = dict(options)
        self._opened: dict[str, Storage] = {}

    def source(self, uri: str, size: int) -> Any:
        """What pyarrow opens."""
        local = local_path(uri)
        if local is not None:
            if not os.path.isfile(local):
                raise missing(uri)
            return local
        storage, path = self._storage_of(uri)
        return storage.open_data(path, size)

    def read(self, place: str, start: int, end: int) -> bytes:
        """Bytes of a small file: a path below the table, or a whole location."""
        uri = place if is_elsewhere(place) else f"{self._own.root}/{place}"
        local = local_path(uri)
        try:
            if local is not None:
                with open(local, "rb") as file:
                    file.seek(start)
                    return file.read(end - start)
            storage, path = self._storage_of(uri)
            with storage.open_data(path, end) as file:
                file.seek(start)
                return file.read(end - start)
        except FileNotFoundError as error:
            raise missing(uri) from error

    def close(self) -> None:
        for storage in self._opened.values():
            storage.close()

    def _storage_of(self, uri: str) -> tuple[Storage, str]:
        root = self._own.root
        if uri.startswith(f"{root}/") and not self._options:
            return self._own, uri[len(root) + 1 :]
        if not uri.startswith(f"{root}/"):
            root = uri.rpartition("/")[0]
        if root not in self._opened:
            self._opened[root] = open_storage(root, {"storage_options": self._options} if self._options else {})
        return self._opened[root], uri[len(root) + 1 :]


def local_path(uri: str) -> str | None:
    """The path of a file on this machine; None for one in a store.

    >>> local_path("file:///a%20b/c"), local_path("/a%20b"), local_path("s3://lake/x")
    ('/a b/c', '/a%20b', None)
    """
    if uri.startswith("file:"):
        return unquote(urlsplit(uri).path)
    return None if "://" in uri else uri


def missing(uri: str) -> TableError:
    return TableError(
        "LP378",
        "a data file of the plan does not exist",
        where=uri,
        why="it was removed since the plan was made, or was never there",
        fix="make the plan again; where VACUUM removed it, plan a version that still has its files",
    )
