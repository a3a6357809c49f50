"""The lines of an answer, in both formats of the protocol.

In: what a version declares, and its files. Out: objects of one line each. Plain readers get the parquet format: logical names and
no internal settings. The delta format passes the log's own actions on, physical names and statistics as recorded, with URLs in
place of paths; tags and settings that concern writers stay here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from lakeprune.apps.sharing.server.capabilities import LOG_ONLY, ResponseFormat
from lakeprune.apps.sharing.server.tables import Totals
from lakeprune.apps.sharing.server.urls import Signer
from lakeprune.apps.sharing.server.vectors import vector_path, with_url
from lakeprune.formats.delta.actions import Declared
from lakeprune.programs.select import Container

Line = dict[str, Any]
BATCH = 512  # files whose URLs are made at once
_CDF = "delta.enableChangeDataFeed"
_READERS = ("delta.columnMapping.", "delta.enableChangeDataFeed", "delta.enableDeletionVectors", "delta.enableTypeWidening")
_FIELD_METADATA = ("comment", "delta.columnMapping.", "delta.typeChanges", "__CHAR_VARCHAR_TYPE_STRING")
encode = msgspec.json.Encoder().encode


class Described(Struct, frozen=True):
    """A version as lines describe it; `totals` are those of the recipient, None where they are not known."""

    declared: Declared
    version: int
    totals: Totals | None


class Lines(Protocol):
    """How one format writes its lines."""

    def protocol(self, described: Described) -> Line: ...
    def metadata(self, described: Described) -> Line: ...
    def files(self, containers: Iterable[Container], described: Described, signer: Signer) -> Iterator[Line]: ...


def lines_of(form: ResponseFormat) -> Lines:
    return ParquetLines() if form is ResponseFormat.PARQUET else DeltaLines()


class ParquetLines(Struct, frozen=True):
    def protocol(self, described: Described) -> Line:  # noqa: ARG002  # plain tables all have the same
        return {"protocol": {"minReaderVersion": 1}}

    def metadata(self, described: Described) -> Line:
        return {"metaData": self.described(described)}

    def described(self, described: Described) -> Line:
        recorded = described.declared.metadata
        has_feed = recorded.configuration.get(_CDF, "").lower() == "true"
        return {
            **_named(described),
            "format": {"provider": "parquet"},
            "schemaString": schema_text(recorded.schema_text, ("comment",)),
            "partitionColumns": list(recorded.partition_columns),
            "configuration": {"enableChangeDataFeed": "true"} if has_feed else {},
            **_numbers(described),
        }

    def files(self, containers: Iterable[Container], described: Described, signer: Signer) -> Iterator[Line]:  # noqa: ARG002
        for batch in _batches(containers):
            urls = signer.urls([(each.path, each.size) for each in batch])
            for each, url in zip(batch, urls, strict=True):
                statistics = None if each.record is None else each.record.statistics
                file: Line = {
                    "url": url,
                    "id": signer.file_id(each.path),
                    "partitionValues": msgspec.Raw(each.partition.encode()),
                    "size": each.size,
                    **({} if statistics is None else {"stats": statistics}),
                    "expirationTimestamp": signer.expires_ms,
                }
                yield {"file": file}


class DeltaLines(Struct, frozen=True):
    def protocol(self, described: Described) -> Line:
        recorded = described.declared.protocol
        lists = {"readerFeatures": recorded.reader_features, "writerFeatures": recorded.writer_features}
        features = {
            name: [feature for feature in listed if feature not in LOG_ONLY]
            for (name, listed), has_list in zip(
                lists.items(), (recorded.reader_version >= 3, recorded.writer_version >= 7), strict=True
            )
            if has_list
        }
        versions = {"minReaderVersion": recorded.reader_version, "minWriterVersion": recorded.writer_version}
        return {"protocol": {"deltaProtocol": {**versions, **features}}}

    def metadata(self, described: Described) -> Line:
        recorded = described.declared.metadata
        action: Line = {
            **_named(described),
            "format": {"provider": "parquet", "options": {}},
            "schemaString": schema_text(recorded.schema_text, _FIELD_METADATA),
            "partitionColumns": list(recorded.partition_columns),
            "configuration": {key: value for key, value in recorded.configuration.items() if key.startswith(_READERS)},
            **({} if recorded.created is None else {"createdTime": recorded.created}),
        }
        return {"metaData": {"deltaMetadata": action, **_numbers(described)}}

    def files(self, containers: Iterable[Container], described: Described, signer: Signer) -> Iterator[Line]:
        physical = physical_names(described.declared)
        for batch in _batches(containers):
            urls = signer.urls([(each.path, each.size) for each in batch])
            for each, url in zip(batch, urls, strict=True):
                record = each.record
                assert record is not None, "files of an answer are selected with their records"
                values = json.loads(each.partition)
                add: Line = {
                    "path": url,
                    "partitionValues": {physical.get(name, name): value for name, value in values.items()},
                    "size": each.size,
                    "modificationTime": record.modified or 0,
                    "dataChange": False,
                    **({} if record.statistics is None else {"stats": record.statistics}),
                }
                vector_file = None
                if record.vector is not None:
                    descriptor = json.loads(record.vector)
                    add["deletionVector"] = with_url(descriptor, signer.url)
                    vector_file = vector_path(descriptor)
                yield delta_file({"add": add}, signer.file_id(each.path), signer, vector_file)


def delta_file(action: Line, file_id: str, signer: Signer, vector_file: str | None, **more: int) -> Line:
    """The line of a file in delta format; Spark needs an id for a deletion vector that lies in a file."""
    vector = {} if vector_file is None else {"deletionVectorFileId": signer.file_id(vector_file)}
    file = {"id": file_id, **vector, **more, "expirationTimestamp": signer.expires_ms, "deltaSingleAction": action}
    return {"file": file}


def physical_names(declared: Declared) -> dict[str, str]:
    """The names of columns in files, where they are others."""
    fields = json.loads(declared.metadata.schema_text or '{"fields": []}').get("fields", ())
    return {
        field["name"]: (field.get("metadata") or {}).get("delta.columnMapping.physicalName", field["name"]) for field in fields
    }


def schema_text(recorded: str | None, kept: tuple[str, ...]) -> str:
    """A schema without the metadata of its fields, except for what readers use."""
    return json.dumps(_stripped(json.loads(recorded or '{"type": "struct", "fields": []}'), kept), separators=(",", ":"))


def _stripped(node: Any, kept: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_stripped(each, kept) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: about for name, about in (value or {}).items() if name.startswith(kept)}
        if key == "metadata"
        else _stripped(value, kept)
        for key, value in node.items()
    }


def _named(described: Described) -> Line:
    recorded = described.declared.metadata
    words = {"id": recorded.table_id or "", "name": recorded.name, "description": recorded.description}
    return {key: value for key, value in words.items() if value is not None}


def _numbers(described: Described) -> Line:
    totals = described.totals
    return {"version": described.version, **({} if totals is None else {"size": totals.bytes, "numFiles": totals.files})}


def _batches(containers: Iterable[Container]) -> Iterator[list[Container]]:
    rest = iter(containers)
    while batch := list(islice(rest, BATCH)):
        yield batch
