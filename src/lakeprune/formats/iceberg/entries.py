"""The live files of a snapshot as columns, read from its manifests.

In: manifests, and what is wanted of each file. Out: a `Part` per manifest; `Rows` are several of them as `Entries`, lists of one
length with one value per file. Entries that are marked as deleted are gone; sequence numbers are inherited as the specification
says. A manifest with fewer entries than its list records is damaged: the rest would be lost silently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, compress
from typing import Any

from msgspec import Struct

from lakeprune.formats.iceberg.avro.wanted import Name, Wanted
from lakeprune.formats.iceberg.avro_file import AvroFile, read_avro
from lakeprune.formats.iceberg.locate import Paths
from lakeprune.formats.iceberg.manifest_list import Manifest
from lakeprune.formats.iceberg.tuples import UNREADABLE
from lakeprune.formats.iceberg.widened import Widened

EXISTING, ADDED, DELETED = 0, 1, 2
_FILE = Name(2, "data_file")
_OWN = {"status": 0, "snapshot_id": 1, "sequence_number": 3}
_INHERITED = ("sequence_number", "snapshot_id")
_FILE_FIELDS = {
    "content": 134,
    "file_path": 100,
    "file_format": 101,
    "record_count": 103,
    "file_size_in_bytes": 104,
    "referenced_data_file": 143,
    "equality_ids": 135,
    "content_offset": 144,
    "content_size_in_bytes": 145,
}
METRICS = {
    "value_counts": 109,
    "null_value_counts": 110,
    "nan_value_counts": 137,
    "lower_bounds": 125,
    "upper_bounds": 128,
}
_PARTITION = Name(102, "partition")
_NULL = type(None)
_TYPES: dict[str, set[type]] = {
    "status": {int},
    "snapshot_id": {int, _NULL},
    "sequence_number": {int, _NULL},
    "content": {int, _NULL},  # old writers have data files only
    "file_path": {str},
    "file_format": {str, _NULL},
    "record_count": {int, _NULL},
    "file_size_in_bytes": {int},
    "referenced_data_file": {str, _NULL},
    "equality_ids": {list, _NULL},
    "content_offset": {int, _NULL},
    "content_size_in_bytes": {int, _NULL},
}
_METRIC_TYPES: dict[str, set[type]] = {name: {bytes if name.endswith("bounds") else int, _NULL} for name in METRICS}


class Metric(Struct, frozen=True):
    """One map of metrics at one column."""

    kind: str
    field_id: int


class Tuple(Struct, frozen=True):
    """A value of the partition tuple: by the field's id, and its name where old writers left ids out."""

    field_id: int
    name: str
    widened: Widened | None = None  # its values may be of an earlier type, which the header tells


Item = str | Metric | Tuple  # a field of an entry by its name, a metric, or a value of its tuple
Entries = Mapping[Item, list[Any]]


class Part(Struct, frozen=True):
    """The live files of one manifest, and how many bytes were read for them."""

    columns: dict[Item, list[Any]]
    size: int


class Rows(Mapping[Item, list[Any]]):
    """The files of several manifests, one after the other; a column is put together when it is asked for."""

    def __init__(self, parts: Sequence[Entries]) -> None:
        self._parts = parts
        self._known: dict[Item, list[Any]] = {}

    def __getitem__(self, item: Item) -> list[Any]:
        if item not in self._known:
            columns = [part[item] for part in self._parts]
            self._known[item] = columns[0] if len(columns) == 1 else list(chain.from_iterable(columns))
        return self._known[item]

    def __iter__(self) -> Iterator[Item]:
        return iter(self._parts[0] if self._parts else ())

    def __len__(self) -> int:
        return len(self._parts[0]) if self._parts else 0


def read_entries(
    paths: Paths, manifests: Sequence[Manifest], items: Mapping[int, Sequence[Item]], default_spec: int
) -> list[Part]:
    """These items of every live file of each manifest, with its spec in "spec_id".

    Items are given per spec, for a tuple is one of its spec; what a spec does not have is None for its files.
    """
    wanted = list(dict.fromkeys(item for several in items.values() for item in several))
    found = []
    paths.storage.bring([paths.find(manifest.path) for manifest in manifests])
    for manifest in manifests:
        # Avro does not record how many blocks a file has. Where counts do not show a loss, the length must.
        file = read_avro(paths, manifest.path, "manifest", manifest.length if manifest.files is None else None)
        spec = _spec_of(manifest, file, default_spec)
        if spec not in items:
            raise file.damaged(f"it is of partition spec {spec}, which the table's metadata does not have")
        columns = _live(file, manifest, list(dict.fromkeys(("status", *items[spec]))))
        nothing = [None] * len(columns["status"])
        columns["spec_id"] = [spec] * len(nothing)
        found.append(Part({item: columns.get(item) or nothing for item in (*wanted, "spec_id")}, len(file.data)))
    return found


def _live(file: AvroFile, manifest: Manifest, items: Sequence[Item]) -> dict[Item, list[Any]]:
    columns = dict(zip(items, file.columns([_wanted(item) for item in items]), strict=True))
    statuses = columns["status"]
    _check_types(file, columns)
    for item in items:
        if isinstance(item, Tuple) and not file.has(_wanted(item)):
            columns[item] = [UNREADABLE] * len(statuses)  # a value that is not recorded is not NULL
        elif isinstance(item, Tuple) and item.widened is not None:
            columns[item] = item.widened.values(columns[item], file.primitive(_wanted(item)))
    recorded = manifest.files
    kinds = set(statuses)
    if not kinds <= {EXISTING, ADDED, DELETED}:
        raise file.damaged("an entry is neither existing, added nor deleted")
    for item, numbers in columns.items():
        if item in _INHERITED and None in numbers:
            columns[item] = _inherited(item, numbers, statuses, manifest)
    if DELETED in kinds:
        is_live = [status != DELETED for status in statuses]
        columns = {item: list(compress(values, is_live)) for item, values in columns.items()}
    if recorded is not None and len(columns["status"]) < recorded:
        raise file.damaged(f"it has {len(columns['status'])} live entries, and its list records {recorded}")
    return columns


def _inherited(item: Item, numbers: list[Any], statuses: list[Any], manifest: Manifest) -> list[Any]:
    """The numbers of entries, and of the manifest where an entry has none; only an added file is of the manifest's sequence."""
    if item == "snapshot_id":
        return [manifest.snapshot_id if number is None else number for number in numbers]
    return [
        number if number is not None else manifest.sequence_number if status == ADDED else 0
        for number, status in zip(numbers, statuses, strict=True)
    ]


def _check_types(file: AvroFile, columns: Mapping[Item, list[Any]]) -> None:
    """A field of another type than the specification's, or a required one that is missing, is damage: nothing is guessed."""
    for item, values in columns.items():
        if isinstance(item, Tuple):
            continue
        name, types = (item.kind, _METRIC_TYPES) if isinstance(item, Metric) else (item, _TYPES)
        if not set(map(type, values)) <= types[name]:
            raise file.damaged(f"the field {name} of an entry is missing, or of another type than Iceberg's")


def _spec_of(manifest: Manifest, file: AvroFile, default: int) -> int:
    if manifest.spec_id is not None:
        return manifest.spec_id
    recorded = file.header.metadata.get("partition-spec-id", b"")
    return int(recorded) if recorded.isdigit() else default


def _wanted(item: Item) -> Wanted:
    match item:
        case Metric(kind, field_id):
            return Wanted((_FILE, Name(METRICS[kind], kind)), field_id)
        case Tuple(field_id, name, _):
            return Wanted((_FILE, _PARTITION, Name(field_id, name)))
        case _ if item in _OWN:
            return Wanted((Name(_OWN[item], item),))
        case _:
            return Wanted((_FILE, Name(_FILE_FIELDS[item], item)))
