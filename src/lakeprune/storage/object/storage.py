"""A table in an object store: its metadata is listed there, fetched once, and read here.

In: a location and how to reach it. Out: a `Storage`. A file is fetched when it is first asked for, together with everything
announced, and kept by what the store says it is (cache.py).
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO, cast

from msgspec.structs import replace

from lakeprune.errors import TableError, UsageError
from lakeprune.storage import partial_parquet
from lakeprune.storage.access import Access
from lakeprune.storage.cache import FileCache, default_directory
from lakeprune.storage.fetch import Fetcher, Piece, whole
from lakeprune.storage.object.client import ObjectClient
from lakeprune.storage.object.location import ObjectLocation, object_location
from lakeprune.storage.object.options import ENDPOINTS, ClientSettings, client_settings
from lakeprune.storage.partial_parquet import PartialParquet, bring, bring_footers, open_partially
from lakeprune.storage.storage import ChunksOf, Column, ColumnUse, Entry, Storage, Traffic, is_elsewhere

_FILES = (".json", ".json.gz")  # how a location ends that is a file: a store has no directories to ask
MOST_CONCURRENT = 1024
_EXPRESS = "--x-s3"  # buckets that list in no order


def open_object_storage(location: str, access: Mapping[str, Any]) -> ObjectStorage:
    """The storage of a table in S3, Azure or GCS; `access` has the fields of `Access`."""
    place, how = object_location(location), Access(**access)
    _check_concurrency(how.concurrency)
    settings = client_settings(place, how)
    root, pattern = _root(place)
    scratch = Scratch()
    cache = _cache(root, settings, how, scratch)
    client = ObjectClient(root, settings)
    storage = ObjectStorage(client, Fetcher(client, cache, how.progress, how.concurrency), scratch)
    storage.location, storage.pattern = place.shown, pattern
    return storage


def _check_concurrency(number: object) -> None:
    if type(number) is not int or not 1 <= number <= MOST_CONCURRENT:
        raise UsageError("LP231", f"{number} requests at once are not possible", fix=f"give --concurrency 1 to {MOST_CONCURRENT}")


def _root(place: ObjectLocation) -> tuple[ObjectLocation, str | None]:
    """Where a storage is rooted: at the directory; of a file at the bucket, anywhere in which may lie what it names.

    >>> root, pattern = _root(object_location("s3://lake/t/metadata/v1.metadata.json"))
    >>> root.shown, root.prefix, pattern
    ('s3://lake', '', 't/metadata/v1.metadata.json')
    """
    if not place.prefix.endswith(_FILES):
        return place, None
    scheme, _, rest = place.shown.partition("://")
    return replace(place, prefix="", shown=f"{scheme}://{rest.partition('/')[0]}"), place.prefix


class ObjectStorage(Storage):
    def __init__(self, client: ObjectClient, fetcher: Fetcher, scratch: Scratch) -> None:
        self.location = client.location.shown
        self.root = self.location.rstrip("/")
        self._client = client
        self._fetcher = fetcher
        self._scratch = scratch
        self._is_sorted = not client.location.bucket.endswith(_EXPRESS)
        self._listed: dict[str, Entry] = {}  # every file seen so far, by path
        self._directories: set[str] = set()
        self._here: dict[str, str] = {}  # where each file lies on this machine
        self._partial: list[PartialParquet] = []
        self._footers: dict[str, str] = {}  # where files lie of which only the footers were fetched
        self._opened: dict[str, PartialParquet] = {}  # these files, by where they lie

    def entries(self, directory: str, name: str, before: str | None) -> list[Entry] | None:
        # Files of subdirectories are listed too, of which there may be thousands: a listing in order ends at `before`.
        end = before if self._is_sorted else None
        entries = self._client.entries(directory, name if self._is_sorted else "", end)
        files = [entry for entry in entries if "/" not in entry.name]
        self._listed.update({f"{directory}/{entry.name}": entry for entry in files})
        self._directories.add(directory)
        return files if entries or name else None

    def size(self, path: str) -> int | None:
        entry = self._entry(path)
        return None if entry is None else entry.size

    def read_if_there(self, path: str, limit: int) -> bytes | None:
        return self._client.read(path, limit)

    def open(self, path: str) -> BinaryIO:
        (place,) = self.engine_paths([path])
        return open(place, "rb")  # the caller closes it

    def open_data(self, path: str, size: int) -> BinaryIO:
        from lakeprune.storage.object.range_file import RangeFile

        return cast("BinaryIO", RangeFile(self._client, path, size))

    def engine_paths(self, paths: Sequence[str]) -> tuple[str, ...]:
        self._fetch([whole(path, self._present(path)) for path in paths if path not in self._here])
        return tuple(self._here[path] for path in paths)

    def parquet_paths(self, paths: Sequence[str], chunks_of: ChunksOf, use: Callable[[Column], ColumnUse]) -> tuple[str, ...]:
        files = [whole(path, self._present(path)) for path in paths if path not in self._here]
        large = [file for file in files if _is_large_parquet(file.path, file.entry) and not self._fetcher.is_cached(file)]
        partials = [PartialParquet(file, self._scratch.place(file.path)) for file in large]
        opened = open_partially(partials, self._fetcher, chunks_of, use)
        self._partial += opened
        self._here.update({partial.file.path: partial.place for partial in opened})
        return self.engine_paths(paths)

    def signed_urls(self, paths: Sequence[str], seconds: int) -> list[str] | None:
        return self._client.signed(paths, seconds)

    def read_range(self, path: str, size: int, start: int, end: int) -> bytes:
        return self._client.read_range(path, Entry(path, size, 0), start, end)

    has_whole_files = False

    def footer_paths(self, files: Sequence[tuple[str, int]]) -> list[str | None]:
        # Data files are written once: what a table records of them identifies them, and no listing has to.
        new = {path: size for path, size in files if not is_elsewhere(path) and path not in self._footers}
        pieces = [whole(path, Entry(path, size, 0)) for path, size in new.items()]
        opened = [PartialParquet(piece, self._scratch.place(f"{len(self._footers)}-{n}")) for n, piece in enumerate(pieces)]
        bring_footers(opened, self._fetcher)
        self._footers.update({partial.file.path: partial.place for partial in opened})
        self._opened.update({partial.place: partial for partial in opened})
        return [self._footers.get(path) for path, _ in files]

    def bring_bytes(self, pieces: Sequence[tuple[str, int, int]]) -> None:
        partials = [(self._opened[place], start, end) for place, start, end in pieces]
        bring(self._fetcher, [(partial, partial.bytes(start, end)) for partial, start, end in partials])

    def need(self, is_needed: Callable[[Column], bool]) -> None:
        bring(self._fetcher, [(partial, partial.missing(is_needed)) for partial in self._partial])

    def bring(self, paths: Sequence[str]) -> None:
        missing = {path: entry for path in paths if path not in self._here and (entry := self._entry(path)) is not None}
        # Of large Parquet files perhaps only some columns are needed: `parquet_paths` decides.
        self._fetch([whole(path, entry) for path, entry in missing.items() if not _is_large_parquet(path, entry)])

    def _fetch(self, wanted: list[Piece]) -> None:
        if not wanted:
            return
        self._here.update({piece.path: place for piece, place in self._fetcher.fetch(wanted).items()})

    def with_places(self, message: str) -> str:
        for path, here in (*self._here.items(), *self._footers.items()):
            message = message.replace(here, self.place(path))
        return message

    def traffic(self) -> Traffic:
        return Traffic(self._client.requests, self._client.bytes, self._fetcher.cached_files, self._fetcher.cached_bytes)

    def close(self) -> None:
        self._scratch.close()

    def _present(self, path: str) -> Entry:
        entry = self._entry(path)
        if entry is None:
            raise TableError("LP304", "a metadata file does not exist", where=self.place(path))
        return entry

    def _entry(self, path: str) -> Entry | None:
        directory, _, _ = path.rpartition("/")
        if path not in self._listed and directory not in self._directories:
            self.list_from(directory, "")
        return self._listed.get(path)


class Scratch:
    """A directory for one run: made when first needed, removed by `close`, or with its owner, or at the end of the program."""

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


def _cache(place: ObjectLocation, settings: ClientSettings, access: Access, scratch: Scratch) -> FileCache:
    endpoint = next((settings.configuration[name] for name in ENDPOINTS if name in settings.configuration), "")
    account = place.account or settings.configuration.get("account_name", "")
    table = f"{place.store.value}\n{endpoint}\n{account}\n{place.bucket}\n{place.prefix}"
    if access.no_cache:
        return FileCache(scratch.directory(), table, access.cache_size)
    if access.cache_dir is not None:
        return FileCache(os.path.abspath(os.path.expanduser(access.cache_dir)), table, access.cache_size)
    try:
        return FileCache(default_directory(), table, access.cache_size)
    except UsageError:
        return FileCache(scratch.directory(), table, access.cache_size)  # a home that cannot be written must not stop an answer


def _is_large_parquet(path: str, entry: Entry) -> bool:
    return path.endswith(".parquet") and entry.size >= partial_parquet.WORTH_IT
