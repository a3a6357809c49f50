"""The reader gate: whether this table may be read at all, and what it declares.

In: protocol and configuration. Out: `TableFeatures`, or TableRefused naming what is not known. A reader feature changes what the
log means, so an unknown one is never read past; writer features concern writers and are only listed.
"""

from __future__ import annotations

from lakeprune.errors import TableRefused
from lakeprune.formats.delta.actions import Metadata, Protocol
from lakeprune.formats.snapshot import Note, TableFeatures

READER_VERSION = 3
CATALOG_FEATURES = frozenset({"catalogManaged", "catalogOwned-preview"})
READER_FEATURES = CATALOG_FEATURES | {
    "columnMapping",
    "deletionVectors",
    "timestampNtz",
    "v2Checkpoint",
    "typeWidening",
    "typeWidening-preview",
    "variantType",
    "variantType-preview",
    "variantShredding",
    "variantShredding-preview",
    "vacuumProtocolCheck",
}
WRITER_FEATURES = READER_FEATURES | {
    "appendOnly",
    "invariants",
    "checkConstraints",
    "changeDataFeed",
    "generatedColumns",
    "allowColumnDefaults",
    "identityColumns",
    "rowTracking",
    "domainMetadata",
    "clustering",
    "icebergCompatV1",
    "icebergCompatV2",
    "icebergCompatV3",
    "icebergWriterCompatV1",
    "inCommitTimestamp",
    "checkpointProtection",
    "materializePartitionColumns",
    "collations",  # columns it concerns carry their collation in the schema, and binary bounds are not used for them
    "collations-preview",
}


def check_reader(protocol: Protocol) -> None:
    """Raise LP310 when the table asks for more than this version understands."""
    if protocol.reader_version > READER_VERSION or protocol.reader_version < 1:
        raise TableRefused(
            "LP310",
            f"the table asks for reader version {protocol.reader_version}",
            why=f"versions 1 to {READER_VERSION} are understood",
        )
    unknown = sorted(set(protocol.reader_features) - READER_FEATURES)
    if unknown:
        raise TableRefused(
            "LP310",
            f"the table needs the reader feature {', '.join(unknown)}",
            why="a reader that does not know a feature may misread the log",
            fix="use a version of lakeprune that knows it",
        )


def declared_features(protocol: Protocol, metadata: Metadata, clustering: tuple[str, ...] | None) -> TableFeatures:
    configuration = metadata.configuration
    return TableFeatures(
        reader_version=protocol.reader_version,
        writer_version=protocol.writer_version,
        reader_features=protocol.reader_features,
        clustering_columns=clustering,
        column_mapping_mode=mapping_mode(metadata),
        deletion_vectors_enabled=configuration.get("delta.enableDeletionVectors", "").lower() == "true",
        in_commit_timestamps=configuration.get("delta.enableInCommitTimestamps", "").lower() == "true",
        unrecognized_writer_features=tuple(sorted(set(protocol.writer_features) - WRITER_FEATURES)),
    )


def mapping_mode(metadata: Metadata) -> str:
    mode = metadata.configuration.get("delta.columnMapping.mode", "none").lower()
    if mode not in ("none", "id", "name"):
        raise TableRefused("LP310", f"the table uses column mapping mode {mode!r}", why="none, id and name are understood")
    return mode


def feature_notes(protocol: Protocol) -> list[Note]:
    managed = sorted(CATALOG_FEATURES & {*protocol.reader_features, *protocol.writer_features})
    if not managed:
        return []
    return [
        Note("catalog_managed", "a catalog manages this table: the log alone may be stale, newer commits may exist only there")
    ]
