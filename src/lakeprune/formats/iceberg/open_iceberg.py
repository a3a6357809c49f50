"""Opening an Iceberg table: from a folder or a metadata file to an `IcebergSnapshot`.

In: a storage, an engine, the snapshot, reference or time asked for. Out: a snapshot. The metadata file and the manifest list are
read here, manifests later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lakeprune.engines.engine import Engine
from lakeprune.formats.format import At
from lakeprune.formats.iceberg.declared import declared_columns
from lakeprune.formats.iceberg.files import Files
from lakeprune.formats.iceberg.initial_defaults import InitialDefaults
from lakeprune.formats.iceberg.ladder import evidence_of
from lakeprune.formats.iceberg.locate import metadata_file, paths_of
from lakeprune.formats.iceberg.manifest_list import manifests_of
from lakeprune.formats.iceberg.metadata import SnapshotEntry, TableMetadata, parse_metadata
from lakeprune.formats.iceberg.name_mapping import PROPERTY, NameMapping, name_mapping
from lakeprune.formats.iceberg.schema import data_type, iceberg_schema
from lakeprune.formats.iceberg.snapshot import IcebergSnapshot, Origin, StoredColumns
from lakeprune.formats.iceberg.spark_entries import SparkEntries, entries_by_engine
from lakeprune.formats.iceberg.specs import as_shown, identity_columns, specs_of
from lakeprune.formats.iceberg.travel import schema_at, snapshot_at
from lakeprune.formats.reads import Reads
from lakeprune.formats.snapshot import Note, SnapshotFacts, TableFeatures
from lakeprune.predicate.schema import Role
from lakeprune.storage.storage import Storage
from lakeprune.values.types import DataType

_LINEAGE_VERSION = 3
_NO_SNAPSHOT = Note("no_snapshot", "the table has no snapshot: nothing was ever written to it")
_NO_NAMES = Note(
    "name_mapping_not_understood", f"the table's {PROPERTY} is not a name mapping: data files without field ids prove nothing"
)


def open_iceberg(storage: Storage, engine: Engine, asked: At) -> IcebergSnapshot:
    """The table at that snapshot. Raises NotThisFormat when no Iceberg table lies there."""
    path = metadata_file(storage)
    metadata = parse_metadata(storage.read(path), storage.place(path))
    paths = paths_of(storage, metadata.location, path)
    snapshot = snapshot_at(metadata, asked, storage.location)
    manifests, reads = manifests_of(snapshot, paths) if snapshot else ([], Reads())
    # A manifest that the metadata names itself has its spec in its own header, which is read later: it may be of any.
    every = [spec.spec_id for spec in metadata.partition_specs] or [metadata.default_spec_id]
    used = [every if manifest.spec_id is None else [manifest.spec_id] for manifest in manifests]
    declared = schema_at(metadata, asked, snapshot)
    specs = specs_of(metadata, [spec for several in used for spec in several] or [metadata.default_spec_id], declared)
    if not engine.takes_columns:
        specs = as_shown(specs)
    data_specs = [
        specs[spec] for several, manifest in zip(used, manifests, strict=True) if manifest.content == 0 for spec in several
    ]
    identity = identity_columns(data_specs or specs.values())
    schema = iceberg_schema(declared, identity, metadata.place, has_lineage=metadata.format_version >= _LINEAGE_VERSION)
    names = name_mapping(metadata.properties)
    partitioned = frozenset(field.source_id for fields in data_specs for field in fields if field.is_identity and field.source_id)
    stored = StoredColumns(names, InitialDefaults(metadata.format_version, declared, partitioned))
    facts = SnapshotFacts(
        "iceberg",
        "Iceberg table",
        evidence_of(data_specs),
        storage.location,
        None if snapshot is None else snapshot.snapshot_id,
        schema,
        tuple(field.name for field in schema.fields if field.role is Role.PARTITION),
        TableFeatures(),
        metadata.properties,
        has_hidden_partitions=any(not field.is_identity for fields in data_specs for field in fields) or len(set(data_specs)) > 1,
        schema_id=declared.get("schema-id", 0),
        table_id=metadata.table_uuid,
        declared=declared_columns(declared, metadata.schemas),
        has_partition_values_in_files=True,
        written_at=(None if snapshot is None else snapshot.timestamp_ms) or None,
        notes=_notes(metadata, snapshot, names),
    )
    types = dict(_types(declared))
    times = {each.snapshot_id: each.timestamp_ms for each in metadata.snapshots}
    origin = Origin(paths, path, None if snapshot is None else snapshot.manifest_list, _version_of(asked, snapshot))
    if engine.takes_columns or snapshot is None or not manifests:
        files = Files(paths, manifests, specs, types, metadata.default_spec_id)
        return IcebergSnapshot(facts, files, stored, times, origin, reads)
    columns = dict(_types(metadata.schema(None)))
    entries = entries_by_engine(engine, paths, path, metadata, snapshot, columns)
    return IcebergSnapshot(facts, SparkEntries(entries, paths, manifests, specs, types), stored, times, origin)


def _notes(metadata: TableMetadata, snapshot: SnapshotEntry | None, names: NameMapping | None) -> tuple[Note, ...]:
    is_in_vain = names is None and PROPERTY in metadata.properties
    return (*(() if snapshot else (_NO_SNAPSHOT,)), *((_NO_NAMES,) if is_in_vain else ()))


def _version_of(asked: At, snapshot: SnapshotEntry | None) -> str | None:
    """What Iceberg's runtime calls the version that was asked for. By its name a branch has the current schema, as here."""
    if asked.is_latest() or snapshot is None:
        return None
    return str(snapshot.snapshot_id) if asked.ref is None else asked.ref


def _types(struct: Mapping[str, Any]) -> Iterator[tuple[int, DataType]]:
    """The types of all columns and of fields in structs, by their ids."""
    for field in struct.get("fields", ()):
        yield int(field["id"]), data_type(field["type"])
        if isinstance(field["type"], Mapping):
            yield from _types(field["type"])
