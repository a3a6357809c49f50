"""The Avro schemas of Iceberg's manifests and manifest lists, for tables that are written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def field(name: str, type_: Any, number: int, *, optional: bool = False) -> dict[str, Any]:
    """A field with its id in the specification."""
    if optional:
        return {"name": name, "type": ["null", type_], "default": None, "field-id": number}
    return {"name": name, "type": type_, "field-id": number}


def entry_schema(file_fields: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of the entries of a manifest, whose files have these fields."""
    entry = [
        field("status", "int", 0),
        field("snapshot_id", "long", 1, optional=True),
        field("sequence_number", "long", 3, optional=True),
        field("file_sequence_number", "long", 4, optional=True),
        field("data_file", {"type": "record", "name": "r2", "fields": list(file_fields)}, 2),
    ]
    return {"type": "record", "name": "manifest_entry", "fields": entry}


def file_fields(partition: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What every file has, its partition tuple among it."""
    return [
        field("content", "int", 134),
        field("file_path", "string", 100),
        field("file_format", "string", 101),
        field("partition", {"type": "record", "name": "r102", "fields": list(partition)}, 102),
        field("record_count", "long", 103),
        field("file_size_in_bytes", "long", 104),
    ]


def list_schema(*, counts_are_optional: bool = False) -> dict[str, Any]:
    """Of the entries of a manifest list; the format's first version has counts that may be missing."""
    summary = [
        field("contains_null", "boolean", 509),
        field("contains_nan", "boolean", 518, optional=True),
        field("lower_bound", "bytes", 510, optional=True),
        field("upper_bound", "bytes", 511, optional=True),
    ]
    places = (
        ("manifest_length", "long", 501), ("partition_spec_id", "int", 502), ("content", "int", 517),
        ("sequence_number", "long", 515), ("min_sequence_number", "long", 516), ("added_snapshot_id", "long", 503),
    )  # fmt: skip
    counts = (
        ("added_files_count", "int", 504), ("existing_files_count", "int", 505), ("deleted_files_count", "int", 506),
        ("added_rows_count", "long", 512), ("existing_rows_count", "long", 513), ("deleted_rows_count", "long", 514),
    )  # fmt: skip
    summaries = {"type": "array", "items": {"type": "record", "name": "r508", "fields": summary}, "element-id": 508}
    fields = [
        field("manifest_path", "string", 500),
        *(field(*each) for each in places),
        *(field(*each, optional=counts_are_optional) for each in counts),
        field("partitions", summaries, 507, optional=True),
        field("key_metadata", "bytes", 519, optional=True),
    ]
    return {"type": "record", "name": "manifest_file", "fields": fields}
