"""Requests to an object store: listings and reads, nothing else. The only file that imports obstore.

In: names below the table's directory. Out: entries and bytes. Every request is counted, has a time limit and a limited number of
retries; what fails for good becomes a TableError without the client's words, which may hold secrets.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

import obstore
from obstore.exceptions import BaseError, NotFoundError, PreconditionError, UnknownConfigurationKeyError
from obstore.store import AzureStore, GCSStore, S3Store

from lakeprune.errors import TableError
from lakeprune.tables.object_location import ObjectLocation, Store
from lakeprune.tables.storage import Entry
from lakeprune.tables.store_failures import store_failure, wrong_settings
from lakeprune.tables.store_options import ClientSettings

_CLASSES: dict[Store, Any] = {Store.S3: S3Store, Store.AZURE: AzureStore, Store.GCS: GCSStore}
_PAGE = {Store.S3: 1000, Store.AZURE: 5000, Store.GCS: 1000}  # entries that one listing request gives


class ObjectClient:
    def __init__(self, location: ObjectLocation, settings: ClientSettings) -> None:
        self.location = location
        self.requests = 0
        self.bytes = 0
        self._settings = settings
        self._lock = Lock()
        retry = {
            "max_retries": settings.max_retries,
            "retry_timeout": timedelta(seconds=settings.retry_timeout),
            "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=2), "base": 2},
        }
        try:
            self._store = _CLASSES[location.store](
                location.bucket, prefix=location.prefix or None, config=settings.configuration, retry_config=retry
            )
        except UnknownConfigurationKeyError as error:
            raise wrong_settings(str(error), settings) from None
        except (BaseError, ValueError, TypeError) as error:
            raise wrong_settings(str(error), settings) from None

    def entries(self, directory: str, after: str) -> Iterator[Entry]:
        """The files directly in a directory with names above `after`, in the store's order: by name, in almost every store."""
        offset = f"{directory}/{after}" if after else None
        with self._failing(f"listing {directory}"):
            seen = 0
            for chunk in obstore.list(self._store, directory, offset=offset, chunk_size=_PAGE[self.location.store]):
                for meta in chunk:
                    if seen % _PAGE[self.location.store] == 0:
                        self._count(0)
                    seen += 1
                    name = meta["path"].removeprefix(f"{directory}/")
                    yield Entry(name, meta["size"], _micros(meta["last_modified"]), meta["e_tag"])
            if seen == 0:
                self._count(0)

    def read(self, path: str, limit: int) -> bytes | None:
        """A small object, None when there is none or it is longer."""
        with self._failing(f"reading {path}"):
            self._count(0)
            try:
                answer = obstore.get(self._store, path)
            except (NotFoundError, FileNotFoundError):
                return None
            if answer.meta["size"] > limit:
                return None
            content = bytes(answer.bytes())
            self._count(len(content), requests=0)
            return content

    def read_range(self, path: str, entry: Entry, start: int, end: int) -> bytes:
        """Bytes `start` to `end` of an object that was listed; LP335 when it is not the listed one any more."""
        with self._failing(f"reading {path}"):
            self._count(0)
            options: Any = {"if_match": entry.etag and f'"{bare(entry.etag)}"'}
            if (start, end) != (0, entry.size):
                options["range"] = (start, end)
            try:
                answer = obstore.get(self._store, path, options=options)
                content = bytes(answer.bytes())
            except (PreconditionError, NotFoundError, FileNotFoundError):
                raise self._changed(path) from None
            self._count(len(content), requests=0)
            if len(content) != end - start or bare(answer.meta["e_tag"]) not in (bare(entry.etag), ""):
                raise self._changed(path)
            return content

    def _changed(self, path: str) -> TableError:
        what, why = "a file of the log changed while the table was read", "it was replaced or removed since it was listed"
        return TableError("LP335", what, where=f"{self.location.shown}/{path}", why=why, fix="explain the table again")

    def _count(self, size: int, *, requests: int = 1) -> None:
        with self._lock:
            self.requests += requests
            self.bytes += size

    @contextmanager
    def _failing(self, what: str) -> Iterator[None]:
        try:
            yield
        except (BaseError, OSError) as error:
            # Not `from error`: its words would be in every traceback.
            raise store_failure(str(error), what, self.location, self._settings) from None


def bare(etag: str | None) -> str:
    """An etag without its quotes, which Azure leaves out of listings."""
    return (etag or "").strip('"')


def _micros(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)
