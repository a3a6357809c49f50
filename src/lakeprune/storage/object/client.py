"""Requests to an object store: listings and reads, nothing else. The only file that imports obstore.

In: names below the table's directory. Out: entries and bytes. Every request is counted, has a time limit and a limited number of
retries; what fails for good becomes a TableError without the client's message, which may hold secrets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, TypeVar

import obstore
from obstore.exceptions import BaseError, PreconditionError, UnknownConfigurationKeyError
from obstore.store import AzureStore, GCSStore, S3Store

from lakeprune.errors import TableError
from lakeprune.storage.object.failures import store_failure, wrong_option
from lakeprune.storage.object.location import ObjectLocation, Store
from lakeprune.storage.object.options import ClientSettings
from lakeprune.storage.storage import Entry

T = TypeVar("T")

_CLASSES: dict[Store, Any] = {Store.S3: S3Store, Store.AZURE: AzureStore, Store.GCS: GCSStore}
_BROKEN_OFF = "response body error"
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
        self._store = _store(location, settings.configuration, retry)

    def entries(self, directory: str, after: str, end: str | None) -> list[Entry]:
        """What lies below a directory with names above `after`, in the store's order, up to the first that is not below `end`."""
        return self._tried(f"listing {directory}", lambda: list(self._listed(directory, after, end)))

    def read(self, path: str, limit: int) -> bytes | None:
        """A small object, None when there is none or it is longer."""
        try:
            return self._tried(f"reading {path}", lambda: self._read(path, limit))
        except FileNotFoundError:
            return None

    def read_range(self, path: str, entry: Entry, start: int, end: int) -> bytes:
        """Bytes `start` to `end` of an object that was listed; LP335 when it is not the listed one any more."""
        try:
            content, etag = self._tried(f"reading {path}", lambda: self._read_range(path, entry, start, end))
        except (PreconditionError, FileNotFoundError):
            raise self._changed(path) from None
        if len(content) != end - start or (entry.etag is not None and bare(etag) not in (bare(entry.etag), "")):
            raise self._changed(path)
        return content

    def read_data(self, path: str, start: int, end: int) -> bytes:
        """Bytes `start` to `end` of a data file, which is written once and never listed. Raises FileNotFoundError."""
        return self._tried(f"reading {path}", lambda: self._read_range(path, Entry(path, -1, 0), start, end)[0])

    def signed(self, paths: Sequence[str], seconds: int) -> list[str]:
        """A URL for each object, by which whoever has it can read the object for so many seconds."""
        return self._tried("signing", lambda: list(obstore.sign(self._store, "GET", list(paths), timedelta(seconds=seconds))))

    def _listed(self, directory: str, after: str, end: str | None) -> Iterator[Entry]:
        page, seen = _PAGE[self.location.store], 0
        for chunk in obstore.list(self._store, directory, offset=f"{directory}/{after}" if after else None, chunk_size=page):
            for meta in chunk:
                if seen % page == 0:
                    self._count(0)
                seen += 1
                name = meta["path"].removeprefix(f"{directory}/")
                yield Entry(name, meta["size"], _micros(meta["last_modified"]), meta["e_tag"])
                if end is not None and name >= end:
                    return
        if seen == 0:
            self._count(0)

    def _read(self, path: str, limit: int) -> bytes | None:
        self._count(0)
        answer = obstore.get(self._store, path)
        if answer.meta["size"] > limit:
            return None
        return self._content(answer)

    def _read_range(self, path: str, entry: Entry, start: int, end: int) -> tuple[bytes, str | None]:
        self._count(0)
        options: Any = {} if entry.etag is None else {"if_match": f'"{bare(entry.etag)}"'}
        if (start, end) != (0, entry.size):
            options["range"] = (start, end)
        answer = obstore.get(self._store, path, options=options)
        return self._content(answer), answer.meta["e_tag"]

    def _content(self, answer: Any) -> bytes:
        content = bytes(answer.bytes())
        self._count(len(content), requests=0)
        return content

    def _changed(self, path: str) -> TableError:
        what, why = "a metadata file changed while the table was read", "it was replaced or removed since it was listed"
        return TableError("LP335", what, where=f"{self.location.shown}/{path}", why=why, fix="explain the table again")

    def _count(self, size: int, *, requests: int = 1) -> None:
        with self._lock:
            self.requests += requests
            self.bytes += size

    def _tried(self, what: str, action: Callable[[], T]) -> T:
        """Does it, again when an answer breaks off in its middle: the client itself only retries until an answer begins."""
        started, attempt = time.monotonic(), 1
        while True:
            try:
                return action()
            except (PreconditionError, FileNotFoundError):
                raise  # not a failure of the store: the caller knows what it means
            except (BaseError, OSError) as error:
                message = str(error)
            late = time.monotonic() - started > self._settings.retry_timeout
            if late or attempt > self._settings.max_retries or _BROKEN_OFF not in message:
                # Not `from` the client's error: its message would be in every traceback.
                raise store_failure(message, what, attempt, self.location, self._settings)
            time.sleep(min(2.0, 0.1 * 2**attempt))
            attempt += 1


def _store(location: ObjectLocation, configuration: dict[str, str], retry: Any) -> Any:
    make = _CLASSES[location.store]
    configuration, keys = _own_keys(configuration)
    try:
        prefix = location.prefix or None
        return make(location.bucket, prefix=prefix, config=configuration, retry_config=retry, credential_provider=keys)
    except (BaseError, ValueError, TypeError) as error:
        for name in configuration:
            rest = {other: value for other, value in configuration.items() if other != name}
            with suppress(BaseError, ValueError, TypeError):
                make(location.bucket, config=rest)
                raise wrong_option(name, is_unknown=isinstance(error, UnknownConfigurationKeyError)) from None
        raise wrong_option(None, is_unknown=False) from None


def _own_keys(configuration: dict[str, str]) -> tuple[dict[str, str], Callable[[], Any] | None]:
    """Keys of S3 that were given, as a provider: the client would mix them with a session token of the environment."""
    if not configuration.get("access_key_id") or not configuration.get("secret_access_key"):
        return configuration, None
    names = ("access_key_id", "secret_access_key", "session_token", "token")
    rest = {name: value for name, value in configuration.items() if name not in names}
    token = configuration.get("session_token") or configuration.get("token")
    keys = {"access_key_id": configuration["access_key_id"], "secret_access_key": configuration["secret_access_key"]}
    return rest, lambda: {**keys, "token": token, "expires_at": None}


def bare(etag: str | None) -> str:
    """An etag without its quotes, which Azure leaves out of listings."""
    return (etag or "").strip('"')


def _micros(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)
