"""The manifests of a snapshot: from its manifest list, or named in the metadata itself by old writers.

In: a snapshot of the metadata. Out: `Manifest` for each, with its spec, counts and partition summaries where they are recorded.
Nothing is concluded from counts that are missing (T85). An encrypted manifest is refused.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

from msgspec import Struct

from lakeprune.errors import TableRefused
from lakeprune.formats.iceberg.avro.wanted import Name, Wanted
from lakeprune.formats.iceberg.avro_file import AvroFile, read_avro
from lakeprune.formats.iceberg.locate import Paths
from lakeprune.formats.iceberg.metadata import SnapshotEntry, check_not_encrypted
from lakeprune.formats.reads import Reads

DATA, DELETES = 0, 1
_FIELDS = (
    (500, "manifest_path"),
    (501, "manifest_length"),
    (502, "partition_spec_id"),
    (517, "content"),
    (515, "sequence_number"),
    (503, "added_snapshot_id"),
    (504, "added_files_count"),
    (505, "existing_files_count"),
    (506, "deleted_files_count"),
    (512, "added_rows_count"),
    (513, "existing_rows_count"),
    (507, "partitions"),
    (519, "key_metadata"),
)
_TYPES: dict[str, type] = {"manifest_path": str, "partitions": list, "key_metadata": bytes}  # the others are numbers
_WANTED = tuple(Wanted((Name(number, name),)) for number, name in _FIELDS)


class Summary(Struct, frozen=True):
    """What a manifest list records of one partition field: over all files of the manifest."""

    contains_null: bool
    contains_nan: bool | None  # None: not recorded
    lower: bytes | None
    upper: bytes | None


class Manifest(Struct, frozen=True):
    path: str  # as recorded
    length: int | None
    spec_id: int | None  # None: its own header records it
    content: int
    sequence_number: int
    snapshot_id: int | None
    added: int | None  # files; None where it is not recorded
    existing: int | None
    deleted: int | None
    rows: int | None  # of live files
    summaries: tuple[Summary, ...] | None  # one per field of the spec

    @property
    def files(self) -> int | None:
        """The live files in it."""
        return None if self.added is None or self.existing is None else self.added + self.existing


def manifests_of(snapshot: SnapshotEntry, paths: Paths) -> tuple[list[Manifest], Reads]:
    """The manifests of the snapshot with a live file in them, and what was read for that."""
    if snapshot.manifest_list is None:
        named = [Manifest(path, None, None, DATA, 0, None, None, None, None, None, None) for path in snapshot.manifests]
        return named, Reads()
    started = perf_counter()
    check_not_encrypted(snapshot, snapshot.manifest_list)
    file = read_avro(paths, snapshot.manifest_list, "manifest list")
    columns = file.columns(_WANTED)
    for (_, name), values in zip(_FIELDS, columns, strict=True):
        if not set(map(type, values)) <= {_TYPES.get(name, int), type(None)}:
            raise file.damaged(f"the field {name} of an entry is of another type than Iceberg's")
    try:
        found = [_manifest(*row) for row in zip(*columns, strict=True)]
    except (AttributeError, TypeError) as error:
        raise file.damaged("a partition summary is not what Iceberg writes") from error
    _check(found, file)
    return [manifest for manifest in found if manifest.files != 0], Reads(1, len(file.data), perf_counter() - started)


def _manifest(*row: Any) -> Manifest:
    path, length, spec, content, sequence, snapshot, added, existing, deleted, added_rows, existing_rows, summaries, key = row
    if key is not None:
        raise TableRefused("LP310", "a manifest is encrypted", where=path, why="encrypted metadata is not read")
    return Manifest(
        path,
        length,
        spec,
        content or DATA,
        sequence or 0,
        snapshot,
        _count(added),
        _count(existing),
        _count(deleted),
        None if added_rows is None or existing_rows is None else added_rows + existing_rows,
        None if summaries is None else tuple(map(_summary, summaries)),
    )


def _count(number: int | None) -> int | None:
    return None if number is None or number < 0 else number


def _summary(recorded: dict[str, Any]) -> Summary:
    null, nan = recorded.get("contains_null"), recorded.get("contains_nan")
    bounds = [recorded.get(name) for name in ("lower_bound", "upper_bound")]
    if not all(isinstance(bound, bytes | None) for bound in bounds):
        raise TypeError("a bound is not made of bytes")
    return Summary(null is not False, nan, *bounds)


def _check(found: list[Manifest], file: AvroFile) -> None:
    for manifest in found:
        if not isinstance(manifest.path, str) or manifest.content not in (DATA, DELETES):
            raise file.damaged("an entry has no path, or is of a kind that is not known")
