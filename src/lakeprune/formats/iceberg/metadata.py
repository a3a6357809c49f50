"""The metadata file of an Iceberg table: schemas, partition specs, snapshots and references.

In: the bytes of a `*.metadata.json`, also compressed with gzip. Out: `TableMetadata` with the fields that are used here. A format
version that is not known, or metadata that is encrypted, is refused by name: what it means would be guessed.
"""

from __future__ import annotations

from typing import Any

from msgspec import DecodeError, Struct, field
from msgspec.json import decode
from msgspec.structs import replace

from lakeprune.errors import TableError, TableRefused

FORMAT_VERSIONS = (1, 2, 3)
LARGEST = 1 << 30
_GZIP = b"\x1f\x8b"


class PartitionField(Struct, frozen=True, rename="kebab"):
    name: str
    transform: str
    source_id: int | None = None
    source_ids: tuple[int, ...] = ()  # of a transform of several columns
    field_id: int | None = None  # left out by old writers


class PartitionSpec(Struct, frozen=True, rename="kebab"):
    spec_id: int
    fields: tuple[PartitionField, ...] = ()


class SnapshotEntry(Struct, frozen=True, rename="kebab"):
    snapshot_id: int
    timestamp_ms: int = 0
    sequence_number: int = 0
    manifest_list: str | None = None
    manifests: tuple[str, ...] = ()  # version 1 may list them here
    schema_id: int | None = None
    key_id: str | None = None  # of an encrypted manifest list
    summary: dict[str, str] = {}


class Reference(Struct, frozen=True, rename="kebab"):
    snapshot_id: int
    type: str = "branch"


class LogEntry(Struct, frozen=True, rename="kebab"):
    snapshot_id: int
    timestamp_ms: int


class TableMetadata(Struct, frozen=True, rename="kebab"):
    format_version: int
    location: str = ""
    table_uuid: str | None = None
    schema_: dict[str, Any] | None = field(default=None, name="schema")  # version 1
    schemas: tuple[dict[str, Any], ...] = ()
    current_schema_id: int = 0
    partition_spec: tuple[PartitionField, ...] | None = None  # version 1
    partition_specs: tuple[PartitionSpec, ...] = ()
    default_spec_id: int = 0
    properties: dict[str, str] = {}
    current_snapshot_id: int | None = None
    snapshots: tuple[SnapshotEntry, ...] = ()
    snapshot_log: tuple[LogEntry, ...] = ()
    refs: dict[str, Reference] = {}
    place: str = ""  # what the file is called in messages; set when it is read

    def snapshot(self, snapshot_id: int) -> SnapshotEntry | None:
        return next((each for each in self.snapshots if each.snapshot_id == snapshot_id), None)

    def schema(self, schema_id: int | None) -> dict[str, Any]:
        """The schema of that id, the current one without."""
        wanted = self.current_schema_id if schema_id is None else schema_id
        found = next((each for each in self.schemas if each.get("schema-id", 0) == wanted), None)
        if found is None:
            found = self.schema_
        if found is None:
            raise not_understood(self.place, f"the table's metadata has no schema {wanted}")
        return found

    def spec(self, spec_id: int) -> PartitionSpec:
        for spec in self.partition_specs:
            if spec.spec_id == spec_id:
                return spec
        if self.partition_spec is not None and not self.partition_specs:
            return PartitionSpec(spec_id, self.partition_spec)
        raise not_understood(self.place, f"the table's metadata has no partition spec {spec_id}")


class _Version(Struct, rename="kebab"):
    format_version: int


def parse_metadata(data: bytes, place: str) -> TableMetadata:
    """The metadata in these bytes; `place` is what the file is called in messages."""
    if data[:2] == _GZIP:
        data = _inflated(data, place)
    if len(data) > LARGEST:
        raise not_understood(place, "the table's metadata is too large", f"it has {len(data):,} bytes, {LARGEST:,} are the limit")
    try:
        version = decode(data, type=_Version).format_version
        _check_version(version, place)
        metadata = decode(data, type=TableMetadata)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = str(error) if isinstance(error, DecodeError) else "it is not text, or nested without end"
        raise not_understood(place, "the table's metadata cannot be understood", why) from error
    return replace(metadata, place=place)


def not_understood(place: str, what: str, why: str | None = None) -> TableError:
    """LP362 for the metadata file at `place`."""
    fix = "restore the file, or give an earlier metadata file of the table"
    return TableError("LP362", what, where=place, why=why, fix=fix)


def check_not_encrypted(snapshot: SnapshotEntry, place: str) -> None:
    if snapshot.key_id is not None:
        what = f"the manifest list of snapshot {snapshot.snapshot_id} is encrypted"
        why = f"it needs the key {snapshot.key_id}; encrypted metadata is not read"
        raise TableRefused("LP310", what, where=place, why=why)


def _check_version(version: int, place: str) -> None:
    if version not in FORMAT_VERSIONS:
        what = f"the table has format version {version} of Iceberg"
        raise TableRefused(
            "LP310", what, where=place, why=f"versions {FORMAT_VERSIONS[0]} to {FORMAT_VERSIONS[-1]} are understood"
        )


def _inflated(data: bytes, place: str) -> bytes:
    import zlib

    inflate = zlib.decompressobj(31)
    try:
        unpacked = inflate.decompress(data, LARGEST)
    except zlib.error as error:
        raise not_understood(place, "the table's metadata cannot be decompressed", str(error)) from error
    if not inflate.eof:
        why = f"it is cut off, or larger than {LARGEST:,} bytes"
        raise not_understood(place, "the table's metadata cannot be decompressed", why)
    return unpacked
