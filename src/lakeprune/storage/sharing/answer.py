"""The answer of a sharing server: a table, and the files that it offers.

In: the lines of a query, in the parquet or the delta format. Out: protocol, metadata and files as a log has them, with signed
URLs for paths. A stream that ends without what it promised is refused: files would be missing silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from lakeprune.errors import TableError
from lakeprune.storage.sharing.client import SharingClient
from lakeprune.storage.sharing.profile import SharedName

Json = dict[str, Any]
LONGEST_OUTCOME = 1024


class OfferedFile(Struct, frozen=True):
    """One file of an answer; `add` is its action as a log would have it, with the file's id for a path."""

    url: str
    add: Json

    @property
    def size(self) -> int:
        return int(self.add["size"])


class Answer(Struct, frozen=True):
    """What a server sent for one query."""

    version: int
    protocol: Json
    metadata: Json
    files: tuple[OfferedFile, ...]
    hint_outcome: str | None  # the header in which our own server says what became of hints

    @property
    def bytes(self) -> int:
        return sum(file.size for file in self.files)


def ask(
    client: SharingClient, name: SharedName, *, json_hints: str | None = None, sql: Iterable[str] = (), limit: int | None = None
) -> Answer:
    """The files of the table's latest version, as far as the server sends them for these hints."""
    body: Json = {"predicateHints": list(sql)}
    if json_hints is not None:
        body["jsonPredicateHints"] = json_hints
    if limit is not None:
        body["limitHint"] = limit
    return _read(name, client.query(name, body))


def describe(client: SharingClient, name: SharedName) -> Answer:
    """The table without its files."""
    return _read(name, client.metadata(name))


def _read(name: SharedName, found: tuple[Mapping[str, str], Iterable[Json]]) -> Answer:
    headers, lines = found
    where = f"{name.share}.{name.schema}.{name.table}"
    try:
        return _answer(headers, list(lines))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"{type(error).__name__}: a line does not have the form of the protocol"
        raise TableError("LP393", "the answer of the server is not readable", where=where, why=why) from error


def _answer(headers: Mapping[str, str], lines: list[Json]) -> Answer:
    version = int(headers["delta-table-version"])
    if not 0 <= version < 2**63:
        raise ValueError("not a version")
    kinds = {kind: line[kind] for line in reversed(lines) for kind in ("protocol", "metaData") if kind in line}
    protocol, metadata = kinds["protocol"], kinds["metaData"]
    end = next((line["endStreamAction"] for line in lines if "endStreamAction" in line), None)
    if "includeendstreamaction=true" in headers.get("delta-sharing-capabilities", "").lower().replace(" ", "") and end is None:
        raise TableError("LP392", "the answer of the server was cut off")
    if end is not None and end.get("errorMessage"):
        raise TableError("LP392", "the server failed during its answer", why=str(end["errorMessage"])[:300])
    if end is not None and end.get("nextPageToken"):
        raise TableError("LP393", "the server sent a page, which was not asked for")
    files = [line["file"] for line in lines if "file" in line]
    said = headers.get("x-lakeprune-hints")
    outcome = None if said is None else "".join(letter if letter.isprintable() else " " for letter in said[:LONGEST_OUTCOME])
    if "deltaProtocol" in protocol:
        return Answer(version, protocol["deltaProtocol"], metadata["deltaMetadata"], tuple(map(_delta_file, files)), outcome)
    plain = {"minReaderVersion": 1, "minWriterVersion": 2}
    known = ("id", "name", "description", "format", "schemaString", "partitionColumns")
    table = {key: metadata[key] for key in known if key in metadata}
    return Answer(version, plain, {**table, "configuration": {}}, tuple(map(_parquet_file, files)), outcome)


def _delta_file(file: Json) -> OfferedFile:
    add = dict(file["deltaSingleAction"]["add"])
    url = add["path"]
    return OfferedFile(str(url), {**add, "path": str(file["id"]), "size": _size(add)})


def _parquet_file(file: Json) -> OfferedFile:
    add: Json = {
        "path": str(file["id"]),
        "partitionValues": file.get("partitionValues") or {},
        "size": _size(file),
        "modificationTime": int(file.get("timestamp") or 0),
        "dataChange": True,
    }
    if file.get("stats"):
        add["stats"] = file["stats"]
    return OfferedFile(str(file["url"]), add)


def _size(file: Json) -> int:
    size = int(file["size"])
    if size < 0:
        raise ValueError("not a size")
    return size
