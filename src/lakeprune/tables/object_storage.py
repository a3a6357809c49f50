"""A table in an object store: its log is listed there, fetched once, and read here.

In: a location and how to reach it. Out: a `Storage`. Only `_delta_log` is ever listed or read. A file is fetched when it is first
asked for, together with everything announced, and kept by what the store says it is (log_cache.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from lakeprune.errors import TableError, UsageError
from lakeprune.tables.fetch import Fetcher
from lakeprune.tables.log_cache import LogCache, default_directory
from lakeprune.tables.object_client import ObjectClient
from lakeprune.tables.object_location import ObjectLocation, object_location
from lakeprune.tables.storage import Entry, Storage, Traffic
from lakeprune.tables.store_options import ENDPOINTS, Access, ClientSettings, client_settings

_EXPRESS = "--x-s3"  # buckets that list in no order


def open_object_storage(location: str, access: Mapping[str, Any]) -> ObjectStorage:
    """The storage of a table in S3, Azure or GCS; `access` has the fields of `Access`."""
    place, how = object_location(location), Access(**access)
    settings = client_settings(place, how)
    return ObjectStorage(place, ObjectClient(place, settings), _cache(place, settings, how), how)


class ObjectStorage(Storage):
    def __init__(self, place: ObjectLocation, client: ObjectClient, cache: LogCache, access: Access) -> None:
        self.location = place.shown
        self.root = place.shown.rstrip("/")
        self._client = client
        self._cache = cache
        self._fetcher = Fetcher(client, cache, access.progress)
        self._is_sorted = not place.bucket.endswith(_EXPRESS)
        self._listed: dict[str, Entry] = {}  # every file seen so far, by path
        self._directories: set[str] = set()
        self._here: dict[str, str] = {}  # where each file lies on this machine

    def list_from(self, directory: str, name: str) -> list[Entry] | None:
        # Above every version come sidecars and the like, of which there may be thousands.
        entries = self._client.entries(directory, name if self._is_sorted else "", self._is_above_versions)
        files = [entry for entry in entries if "/" not in entry.name]
        self._listed.update({f"{directory}/{entry.name}": entry for entry in files})
        self._directories.add(directory)
        if not entries and not name:
            return None
        return sorted((entry for entry in files if entry.name >= name), key=lambda entry: entry.name)

    def _is_above_versions(self, entry: Entry) -> bool:
        return self._is_sorted and "/" in entry.name and entry.name > ":"

    def size(self, path: str) -> int | None:
        entry = self._entry(path)
        return None if entry is None else entry.size

    def read_if_there(self, path: str, limit: int) -> bytes | None:
        return self._client.read(path, limit)

    def open(self, path: str) -> BinaryIO:
        (place,) = self.engine_paths([path])
        return open(place, "rb")  # the caller closes it

    def engine_paths(self, paths: Sequence[str]) -> tuple[str, ...]:
        for path in paths:
            if self._entry(path) is None:
                raise TableError("LP304", "a file of the log does not exist", where=self.place(path))
        self.bring(paths)
        return tuple(self._here[path] for path in paths)

    def bring(self, paths: Sequence[str]) -> None:
        wanted = [(path, entry) for path in paths if path not in self._here and (entry := self._entry(path)) is not None]
        if not wanted:
            return
        before = self._client.requests
        self._here.update(self._fetcher.fetch(wanted))
        if self._client.requests > before:
            self._cache.make_room()

    def place(self, path: str) -> str:
        return f"{self.root}/{path}"

    def place_of(self, engine_path: str) -> str:
        return next((self.place(path) for path, here in self._here.items() if here == engine_path), engine_path)

    def traffic(self) -> Traffic:
        return Traffic(self._client.requests, self._client.bytes, self._fetcher.cached_files, self._fetcher.cached_bytes)

    def close(self) -> None:
        self._cache.close()

    def _entry(self, path: str) -> Entry | None:
        directory, _, _ = path.rpartition("/")
        if path not in self._listed and directory not in self._directories:
            self.list_from(directory, "")
        return self._listed.get(path)


def _cache(place: ObjectLocation, settings: ClientSettings, access: Access) -> LogCache:
    endpoint = next((settings.configuration[name] for name in ENDPOINTS if name in settings.configuration), "")
    account = place.account or settings.configuration.get("account_name", "")
    table = f"{place.store.value}\n{endpoint}\n{account}\n{place.bucket}\n{place.prefix}"
    if access.no_cache:
        return LogCache(None, table, access.cache_size)
    if access.cache_dir is not None:
        return LogCache(os.path.abspath(os.path.expanduser(access.cache_dir)), table, access.cache_size)
    try:
        return LogCache(default_directory(), table, access.cache_size)
    except UsageError:
        return LogCache(None, table, access.cache_size)  # a home that cannot be written is no reason not to answer
