"""The reader gate: whether this table may be read at all, and what it declares.

In: protocol and configuration. Out: `TableFeatures`, or TableRefused naming what is not known. A reader feature changes what the
log means, so an unknown one is never read past; writer features concern writers and are only listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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


def feature_notes(protocol: Protocol, metadata: Metadata) -> list[Note]:
    """What to know about a table that is read all the same."""
    notes = [
        Note("protocol_invalid", f"the protocol is not valid: {problem}") for problem in _protocol_problems(protocol, metadata)
    ]
    if CATALOG_FEATURES & {*protocol.reader_features, *protocol.writer_features}:
        message = "a catalog manages this table: the log alone may be stale, newer commits may exist only there"
        notes.append(Note("catalog_managed", message))
    return notes


def vector_notes(features: TableFeatures, with_vector: int, without_rows: int) -> list[Note]:
    """The same once files are counted: those with a deletion vector, and those of them whose live rows are not known."""
    notes = []
    if with_vector and not _allows(features.reader_version, features.reader_features, "deletionVectors", 3):
        message = f"the protocol is not valid: {_files(with_vector)} a deletion vector, which it does not declare"
        notes.append(Note("protocol_invalid", message))
    if without_rows:
        rows = "its rows" if without_rows == 1 else "their rows"
        message = f"{_files(without_rows)} a deletion vector and no usable row count: how many of {rows} are live is not known"
        notes.append(Note("vector_without_row_count", message))
    return notes


def _protocol_problems(protocol: Protocol, metadata: Metadata) -> Iterator[str]:
    """Where it contradicts itself: other readers may refuse the table, or read it differently."""
    sides = (
        ("reader", protocol.reader_version, protocol.reader_features, 3),
        ("writer", protocol.writer_version, protocol.writer_features, 7),
    )
    for side, version, features, least in sides:
        if features and version != least:
            yield f"it lists {side} features and asks for {side} version {version}, where only version {least} has such a list"
        if twice := sorted({feature for feature in features if features.count(feature) > 1}):
            yield f"it lists the {side} feature {', '.join(twice)} twice"
    if protocol.reader_version == 3 and protocol.writer_version < 7:
        yield f"reader version 3 needs writer version 7, not {protocol.writer_version}"
    if protocol.writer_version == 7 and (only := sorted({*protocol.reader_features} - {*protocol.writer_features})):
        yield f"{', '.join(only)} is listed for readers and not for writers"
    if mapping_mode(metadata) != "none" and not _allows(protocol.reader_version, protocol.reader_features, "columnMapping", 2):
        yield "columns are mapped, which it does not declare"


def _allows(reader_version: int | None, reader_features: Sequence[str], feature: str, since: int) -> bool:
    """Whether readers have to expect a feature: by its name, or by a version that implies it."""
    return feature in reader_features or (reader_version is not None and since <= reader_version < 3)


def _files(count: int) -> str:
    return f"{count} file has" if count == 1 else f"{count} files have"
