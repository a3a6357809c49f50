"""The live files of a snapshot, read when they are first needed, and as a table of the engine.

In: manifests, all of them or those with these numbers. Out: columns of raw values. What was read stays: another question reads
only the manifests and the columns that are new to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from time import perf_counter
from typing import Any

from msgspec import Struct

from lakeprune.engines.dialect import carrier
from lakeprune.engines.engine import Engine
from lakeprune.formats.iceberg.applying import NAMED, DeleteFiles
from lakeprune.formats.iceberg.bounds import decoded, microseconds
from lakeprune.formats.iceberg.deletes import Deletes, partition_keys
from lakeprune.formats.iceberg.entries import Entries, Item, Metric, Part, Rows, read_entries
from lakeprune.formats.iceberg.locate import Paths
from lakeprune.formats.iceberg.manifest_list import DATA, DELETES, Manifest
from lakeprune.formats.iceberg.metrics_sql import Raw
from lakeprune.formats.iceberg.specs import SpecField, is_unpartitioned
from lakeprune.formats.iceberg.transforms import fields_of, keeps_type, raw_name, value_type
from lakeprune.formats.iceberg.tuples import UNREADABLE, canonical, shown, text_of
from lakeprune.formats.reads import Reads
from lakeprune.predicate.tree import Column
from lakeprune.skipping.ladder import Seen
from lakeprune.values.types import DataType, Family

_BASE: tuple[Item, ...] = ("file_path", "record_count", "file_size_in_bytes")
Specs = dict[int, tuple[SpecField, ...]]


class Asked(Struct, frozen=True):
    """What a relation needs of every file."""

    metrics: Sequence[Column] = ()
    values: Sequence[Column] = ()  # whose partition values are known
    lifted: Sequence[Seen] = ()  # about which partition fields prove something
    texts: Sequence[Column] = ()
    paths: bool = False
    times: bool = False
    parents: bool = False  # the number of its manifest
    records: bool = False  # the delete files that apply
    within: frozenset[int] | None = None  # only the files of these manifests


class Files:
    def __init__(
        self, paths: Paths, manifests: Sequence[Manifest], specs: Specs, types: dict[int, DataType], default_spec: int
    ) -> None:
        self._paths = paths
        self._data = [manifest for manifest in manifests if manifest.content == DATA]
        self._deletes = [manifest for manifest in manifests if manifest.content == DELETES]
        self._specs = specs
        self._types = types  # of columns, by field id
        self._default_spec = default_spec
        self._read: list[dict[Item, list[Any]]] = [{} for _ in self._data]
        self._deleted: dict[int, list[int | None]] = {}  # by the number of the manifest
        self._applying: Deletes | None = None
        self._named: DeleteFiles | None = None
        self.reads = Reads()

    def table(self, engine: Engine, asked: Asked, times: dict[int, int]) -> str:
        """A FROM item with a row per live file."""
        tuples = self._tuples() if self._deletes or asked.paths or asked.lifted else self._identity((*asked.values, *asked.texts))
        numbers = range(len(self._data)) if asked.within is None else sorted(asked.within)
        metrics = chain.from_iterable(_recorded(column).values() for column in asked.metrics)
        items: list[Item] = [*_BASE, *metrics, *(["snapshot_id"] if asked.times else [])]
        rows = self._rows(numbers, [*items, "sequence_number"] if self._deletes else items, tuples)
        columns: list[tuple[str, str, Sequence[Any]]] = [
            ("size", "BIGINT", rows["file_size_in_bytes"]),
            ("rows", "BIGINT", [None if count is None or count < 0 else count for count in rows["record_count"]]),
            ("deleted", "BIGINT", self._deleted_rows(numbers)),
        ]
        columns.append(("has_deletes", "BOOLEAN", [deleted != 0 for deleted in columns[-1][2]]))
        for column in asked.metrics:
            columns += _metrics(rows, column)
        for column in dict.fromkeys((*asked.values, *asked.texts)):
            columns += self._values(rows, column)
        if asked.parents:
            parents = (repeat(number, len(self._read[number]["file_path"])) for number in numbers)
            columns.append(("parent", "BIGINT", list(chain.from_iterable(parents))))
        if asked.lifted:
            columns.append(("spec", "BIGINT", rows["spec_id"]))
        tuples_of = {
            raw_name(spec, field): (spec, field, seen.column)
            for seen in asked.lifted
            for spec, field in fields_of(seen, self._specs)
        }
        for spec, field, column in tuples_of.values():
            columns += _tuple(rows, spec, field, column)
        if asked.paths:
            shown_paths = [self._paths.shown(path) for path in rows["file_path"]]
            columns += [("path", "STRING", shown_paths), ("partition", "STRING", self._partitions(rows))]
        if asked.records:
            columns.append(("vector", "STRING", self._delete_files(numbers)))
        if asked.times:
            columns.append(("modified", "BIGINT", [times.get(number) for number in rows["snapshot_id"]]))
        names, types, values = zip(*columns, strict=True)
        return engine.columns(names, types, values)

    @property
    def paths(self) -> Paths:
        return self._paths

    @property
    def specs(self) -> Specs:
        return self._specs

    def repeated_paths(self) -> int:
        """How many live paths stand there more than once (T92), of what was read so far."""
        paths = list(chain.from_iterable(part.get("file_path", ()) for part in self._read))
        return len(paths) - len(set(paths))

    @property
    def manifests(self) -> list[Manifest]:
        """Those with data files; their numbers are their places."""
        return self._data

    @property
    def has_deletes(self) -> bool:
        return bool(self._deletes)

    def _rows(self, numbers: Sequence[int], items: Sequence[Item], tuples: dict[int, tuple[Item, ...]]) -> Entries:
        """These items of the files in the manifests with these numbers; only what is new is read."""
        every = list(dict.fromkeys((*items, *chain.from_iterable(tuples.values()))))
        missing = {number: {item for item in every if item not in self._read[number]} for number in numbers}
        unread = [number for number in numbers if missing[number] or not self._read[number]]
        if unread:
            new = set().union(*missing.values())
            by_spec = {spec: [item for item in (*items, *tuples.get(spec, ())) if item in new] for spec in self._specs}
            for number, part in zip(unread, self._entries([self._data[number] for number in unread], by_spec), strict=True):
                self._read[number].update(part.columns)
        return Rows([self._read[number] for number in numbers])

    def _entries(self, manifests: Sequence[Manifest], by_spec: Mapping[int, Sequence[Item]]) -> list[Part]:
        started = perf_counter()
        parts = read_entries(self._paths, manifests, by_spec, self._default_spec)
        self.reads += Reads(len(parts), sum(part.size for part in parts), perf_counter() - started)
        return parts

    def _tuples(self) -> dict[int, tuple[Item, ...]]:
        return {spec: tuple(field.item for field in fields) for spec, fields in self._specs.items()}

    def _identity(self, columns: Sequence[Column]) -> dict[int, tuple[Item, ...]]:
        sources = {int(column.physical[-1]) for column in columns}
        return {
            spec: tuple(field.item for field in fields if field.is_identity and field.source_id in sources)
            for spec, fields in self._specs.items()
        }

    def _deleted_rows(self, numbers: Sequence[int]) -> list[int | None]:
        if not self._deletes:
            return [0] * sum(len(self._read[number]["file_path"]) for number in numbers)
        tuples = self._tuples()
        if self._applying is None:
            by_spec = {spec: [*NAMED, *items] for spec, items in tuples.items()}
            entries = Rows([part.columns for part in self._entries(self._deletes, by_spec)])
            unpartitioned = frozenset(spec for spec, fields in self._specs.items() if is_unpartitioned(fields))
            keys = partition_keys(entries, tuples)
            self._applying = Deletes(entries, keys, unpartitioned)
            self._named = DeleteFiles(entries, keys, unpartitioned, self._paths.uri)
        for number in numbers:
            if number not in self._deleted:
                part = self._read[number]
                rows = zip(part["file_path"], part["sequence_number"], partition_keys(part, tuples), strict=True)
                self._deleted[number] = [self._applying.deleted_rows(*row) for row in rows]
        return list(chain.from_iterable(self._deleted[number] for number in numbers))

    def _delete_files(self, numbers: Sequence[int]) -> list[str | None]:
        """Of each file the delete files that apply, as JSON."""
        named, tuples = self._named, self._tuples()
        found: list[str | None] = []
        for number in numbers:
            part = self._read[number]
            if named is None:
                found += [None] * len(part["file_path"])
                continue
            rows = zip(part["file_path"], part["sequence_number"], partition_keys(part, tuples), strict=True)
            found += [named.applying(*row) for row in rows]
        return found

    def _values(self, rows: Entries, column: Column) -> list[tuple[str, str, list[Any]]]:
        """The partition value of a column in each file, by the spec of the file."""
        source, type_ = int(column.physical[-1]), column.type
        fields = {
            spec: next((f.item for f in several if f.is_identity and f.source_id == source), None)
            for spec, several in self._specs.items()
        }
        known: dict[Any, Any] = {}
        values = []
        for place, spec in enumerate(rows["spec_id"]):
            item = fields[spec]
            recorded = UNREADABLE if item is None else rows[item][place]
            key = (type(recorded), recorded)
            if key not in known or recorded == 0:  # -0.0 equals 0.0
                known[key] = UNREADABLE if recorded is UNREADABLE else canonical(recorded, type_)
            values.append(known[key])
        name, kind = f"v{source}", carrier(type_)
        typed = [None if value is UNREADABLE else value for value in values]
        texts = [text_of(value) for value in typed]
        return [
            (name, kind, texts if type_.family is Family.DECIMAL else typed),
            (f"{name}_text", "STRING", texts),
            (f"{name}_known", "BOOLEAN", [value is not UNREADABLE for value in values]),
        ]

    def _partitions(self, rows: Entries) -> list[str]:
        """The partition of each file as JSON text."""
        found: dict[Any, str] = {}
        keys = partition_keys(rows, self._tuples())
        for place, key in enumerate(keys):
            if key not in found:
                fields = self._specs[key[0]]
                values = {
                    field.name: shown(rows[field.item][place], field.transform, self._types.get(field.source_id or 0))
                    for field in fields
                }
                found[key] = json.dumps(values, ensure_ascii=False)
        return [found[key] for key in keys]


def _recorded(column: Column) -> dict[str, Metric]:
    """The metrics that say something of this column, by the names of their raw columns; NaN is counted of floats alone."""
    field_id = int(column.physical[-1])
    raw = Raw.of(field_id)
    kinds = {raw.lo: "lower_bounds", raw.hi: "upper_bounds", raw.values: "value_counts", raw.nulls: "null_value_counts"}
    if column.type.family is Family.REAL:
        kinds[raw.nans] = "nan_value_counts"
    return {name: Metric(kind, field_id) for name, kind in kinds.items()}


def _metrics(rows: Entries, column: Column) -> list[tuple[str, str, list[Any]]]:
    type_, found = column.type, []
    for name, metric in _recorded(column).items():
        if not metric.kind.endswith("bounds"):
            found.append((name, "BIGINT", rows[metric]))
            continue
        bounds = microseconds(rows[metric], type_) if column.has_nanoseconds else decoded(rows[metric], type_)
        if type_.family is Family.DECIMAL:
            bounds = [None if value is None else f"{value:f}" for value in bounds]
        found.append((name, carrier(type_), bounds))
    return found


def _tuple(rows: Entries, spec: int, field: SpecField, column: Column) -> list[tuple[str, str, list[Any]]]:
    """The values of one partition field, and which of them could be read; only files of this spec have them."""
    recorded, source = rows[field.item], column.type
    if keeps_type(field):
        recorded = [canonical(value, source) for value in recorded]
        if column.has_nanoseconds:
            recorded = [value // 1000 if isinstance(value, int) else value for value in recorded]
    else:
        recorded = [value if type(value) is int or value is None else UNREADABLE for value in recorded]
    known = [value is not UNREADABLE for value in recorded]
    values = [None if value is UNREADABLE else value for value in recorded]
    if source.family is Family.DECIMAL and keeps_type(field):
        values = [text_of(value) for value in values]
    name = raw_name(spec, field)
    return [(name, value_type(field, source), values), (f"{name}_known", "BOOLEAN", known)]
