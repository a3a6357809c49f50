"""Iceberg tables written by hand: any metrics, any spec, any delete file, as no single writer makes them.

In: files as `Entry`. Out: a metadata file, a manifest list and manifests by spec and content. Data files are not made here.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from demo.iceberg_schemas import entry_schema, file_fields, list_schema
from demo.iceberg_schemas import field as avro_field
from tests.formats.iceberg.avro.writer import avro_file

_METRICS = {"value_counts": (109, "long"), "null_value_counts": (110, "long"), "nan_value_counts": (137, "long")}
_BOUNDS = {"lower_bounds": (125, "bytes"), "upper_bounds": (128, "bytes")}
_AVRO = {
    "int": "int",
    "long": "long",
    "string": "string",
    "binary": "bytes",
    "boolean": "boolean",
    "float": "float",
    "double": "double",
}


@dataclass(frozen=True)
class SpecField:
    source_id: int
    transform: str
    name: str
    field_id: int
    type: str  # of its values, as an Iceberg type


@dataclass(frozen=True)
class Entry:
    """One entry of a manifest; `metrics` has maps by field id under the names of the specification."""

    path: str
    rows: int = 1
    size: int = 100
    spec: int = 0
    tuple: Mapping[int, Any] = field(default_factory=dict)  # partition field id -> value
    metrics: Mapping[str, Mapping[int, Any]] = field(default_factory=dict)
    status: int = 1
    sequence: int | None = None
    content: int = 0
    format: str = "PARQUET"
    referenced: str | None = None
    equality_ids: Sequence[int] | None = None


@dataclass(frozen=True)
class Layout:
    """How a table is written down; `changes` are fields of its metadata."""

    version: int = 2
    codec: str = "deflate"
    sequence: int = 1
    summaries: bool = True
    key: bytes | None = None  # of encrypted manifests
    changes: Mapping[str, Any] = field(default_factory=dict)
    per_manifest: int = 10**9  # files of one spec that share a manifest, in their order
    recorded: Callable[[dict[str, Any]], dict[str, Any]] = dict  # what becomes of each entry of the manifest list


def column(number: int, name: str, type_: Any, **more: Any) -> dict[str, Any]:
    return {"id": number, "name": name, "type": type_, "required": False, **more}


def write_table(
    root: Path,
    columns: Sequence[Mapping[str, Any]],
    entries: Sequence[Entry],
    specs: Mapping[int, Sequence[SpecField]] | None = None,
    how: Layout = Layout(),  # noqa: B008  # frozen
) -> Path:
    """The table below `root`; its metadata file."""
    version, codec, changes, sequence, summaries = how.version, how.codec, how.changes, how.sequence, how.summaries
    specs = specs or {0: ()}
    folder = root / "metadata"
    folder.mkdir(parents=True, exist_ok=True)
    manifests = []
    for spec, fields in specs.items():
        for content in (0, 1):
            every = [e for e in entries if e.spec == spec and (e.content != 0) == bool(content)]
            for start in range(0, len(every), how.per_manifest):
                own = every[start : start + how.per_manifest]
                place = folder / f"{spec}-{content}-m{start}.avro"
                place.write_bytes(manifest(own, fields, codec=codec))
                summed = fields if summaries else None
                found = {**listed(place, own, spec, summed, content, sequence), "key_metadata": how.key}
                manifests.append(how.recorded(found))
    snapshot = {"snapshot-id": 7, "timestamp-ms": 1000, "sequence-number": sequence, "manifest-list": str(folder / "snap-7.avro")}
    (folder / "snap-7.avro").write_bytes(manifest_list(manifests, codec=codec))
    metadata = {
        "format-version": version,
        "location": str(root),
        "current-schema-id": 0,
        "schemas": [{"schema-id": 0, "type": "struct", "fields": list(columns)}],
        "default-spec-id": max(specs),
        "partition-specs": [{"spec-id": spec, "fields": [_declared(f) for f in fields]} for spec, fields in specs.items()],
        "current-snapshot-id": 7,
        "snapshots": [{**snapshot, "summary": {"operation": "append"}}],
        "snapshot-log": [{"snapshot-id": 7, "timestamp-ms": 1000}],
        **changes,
    }
    place = folder / "v1.metadata.json"
    place.write_text(json.dumps(metadata))
    return place


def manifest(
    entries: Sequence[Entry],
    fields: Sequence[SpecField],
    *,
    codec: str = "deflate",
    more: Mapping[str, bytes] = {},  # never changed
) -> bytes:
    """`more` goes into its header."""
    records = [_record(entry, fields) for entry in entries]
    return avro_file(_entry_schema(fields), records, codec=codec, per_block=50, more=more)


def manifest_list(manifests: Sequence[Mapping[str, Any]], *, codec: str = "deflate") -> bytes:
    """Of what `listed` gives."""
    return avro_file(list_schema(counts_are_optional=True), list(manifests), codec=codec, per_block=100)


def listed(
    place: Path, entries: Sequence[Entry], spec: int, fields: Sequence[SpecField] | None, content: int, sequence: int
) -> dict[str, Any]:
    live = [entry for entry in entries if entry.status != 2]
    added = [entry for entry in live if entry.status == 1]
    partitions = None if fields is None else [_summary([e.tuple.get(f.field_id) for e in live], f.type) for f in fields]
    return {
        "manifest_path": str(place),
        "manifest_length": place.stat().st_size,
        "partition_spec_id": spec,
        "content": content,
        "sequence_number": sequence,
        "min_sequence_number": 0,
        "added_snapshot_id": 7,
        "added_files_count": len(added),
        "existing_files_count": len(live) - len(added),
        "deleted_files_count": len(entries) - len(live),
        "added_rows_count": sum(entry.rows for entry in added),
        "existing_rows_count": sum(entry.rows for entry in live) - sum(entry.rows for entry in added),
        "deleted_rows_count": 0,
        "partitions": partitions,
        "key_metadata": None,
    }


def encoded(value: Any, type_: str) -> bytes:
    """A value as a bound: the single-value serialization of the specification."""
    match type_:
        case "boolean":
            return bytes([value])
        case "int" | "date":
            return struct.pack("<i", value)
        case "long" | "time" | "timestamp" | "timestamptz":
            return struct.pack("<q", value)
        case "float":
            return struct.pack("<f", value)
        case "double":
            return struct.pack("<d", value)
        case "string":
            return str(value).encode()
        case _ if type_.startswith("decimal"):
            return decimal_bytes(value)
        case _:
            return bytes(value)


def decimal_bytes(value: Decimal) -> bytes:
    sign, digits, _ = value.as_tuple()
    unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)  # arithmetic would round to 28 digits
    return unscaled.to_bytes(max(1, (unscaled.bit_length() + 8) // 8), "big", signed=True)


def _summary(values: Sequence[Any], type_: str) -> dict[str, Any]:
    numbers = [value for value in values if value is not None and value == value]
    return {
        "contains_null": None in values,
        "contains_nan": any(value != value for value in values),
        "lower_bound": encoded(min(numbers), type_) if numbers else None,
        "upper_bound": encoded(max(numbers), type_) if numbers else None,
    }


def _declared(spec_field: SpecField) -> dict[str, Any]:
    names = {"source-id": spec_field.source_id, "transform": spec_field.transform, "name": spec_field.name}
    return {**names, "field-id": spec_field.field_id}


def _record(entry: Entry, fields: Sequence[SpecField]) -> dict[str, Any]:
    def tuple_value(each: SpecField) -> Any:
        value = entry.tuple.get(each.field_id)
        return decimal_bytes(value) if isinstance(value, Decimal) else value

    def map_of(kind: str) -> Any:
        recorded = entry.metrics.get(kind)
        return None if recorded is None else [{"key": key, "value": value} for key, value in recorded.items()]

    file = {
        "content": entry.content,
        "file_path": entry.path,
        "file_format": entry.format,
        "partition": {each.name: tuple_value(each) for each in fields},
        "record_count": entry.rows,
        "file_size_in_bytes": entry.size,
        **{kind: map_of(kind) for kind in (*_METRICS, *_BOUNDS)},
        "equality_ids": entry.equality_ids,
        "referenced_data_file": entry.referenced,
    }
    return {
        "status": entry.status,
        "snapshot_id": None,
        "sequence_number": entry.sequence,
        "file_sequence_number": None,
        "data_file": file,
    }


def _map(kind: str, number: int, value: str) -> dict[str, Any]:
    item = {
        "type": "record",
        "name": f"k{number}",
        "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": value}],
    }
    return avro_field(kind, {"type": "array", "logicalType": "map", "items": item}, number, optional=True)


def _entry_schema(fields: Sequence[SpecField]) -> dict[str, Any]:
    partition = [avro_field(each.name, _avro_type(each.type), each.field_id, optional=True) for each in fields]
    every = [
        *file_fields(partition),
        *(_map(kind, number, value) for kind, (number, value) in {**_METRICS, **_BOUNDS}.items()),
        avro_field("equality_ids", {"type": "array", "items": "int"}, 135, optional=True),
        avro_field("referenced_data_file", "string", 143, optional=True),
    ]
    return entry_schema(every)


def _avro_type(type_: str) -> Any:
    if type_ in ("date", "int"):
        return "int"
    if type_ in ("timestamp", "timestamptz", "time"):
        return "long"
    if match := re.fullmatch(r"decimal\((\d+), ?(\d+)\)", type_):  # bytes are as good as fixed
        return {"type": "bytes", "logicalType": "decimal", "precision": int(match[1]), "scale": int(match[2])}
    return _AVRO.get(type_, "bytes")
