"""Iceberg tables of many files for the benchmarks: metadata only, written by fastavro in the block layouts of two writers.

`python -m bench.iceberg_tables NAME FOLDER` writes one of `TABLES`.

java       blocks of 64 kB, as Iceberg's Java library and Spark write them
pyiceberg  one record per block
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import fastavro

from demo.iceberg_schemas import entry_schema, field, file_fields, list_schema

LAYOUTS = {"java": 64_000, "pyiceberg": 0}
_FIRST_DAY = 19_723  # 2024-01-01
_DAY = 86_400_000_000


MISSIONS, DAYS, FILES_A_DAY = 40, 100, 5  # of the pyramid: a manifest per mission and day


def write_table(root: Path, files: int, manifests: int, columns: int, layout: str) -> Path:
    """A table with `id`, `ts` and further columns, partitioned by day(ts); each manifest has the files of one or two days."""
    names = [("id", "long"), ("ts", "timestamp"), *((f"c{number}", "long") for number in range(3, columns + 1))]
    per_manifest = files // manifests
    numbers = (range(start, start + per_manifest) for start in range(0, files, per_manifest))
    entries = ([_entry(root, *_numbered(number, columns, files)) for number in several] for several in numbers)
    return _write_table(root, names, [("ts_day", "day", 2)], entries, layout)


def write_pyramid(root: Path) -> Path:
    """Flights of 40 missions over 100 days: 4,000 manifests of five files, one per mission and day."""
    names = [("mission_id", "string"), ("ts", "timestamp"), ("panel_voltage", "double")]
    entries = (
        [_entry(root, *_flight(mission, day, number)) for number in range(FILES_A_DAY)]
        for day in range(_FIRST_DAY, _FIRST_DAY + DAYS)
        for mission in range(MISSIONS)
    )
    return _write_table(root, names, [("mission_id", "identity", 1), ("ts_day", "day", 2)], entries, "java")


def _write_table(
    root: Path,
    names: list[tuple[str, str]],
    fields: list[tuple[str, str, int]],
    manifests: Iterable[list[dict[str, Any]]],
    layout: str,
) -> Path:
    folder = root / "metadata"
    folder.mkdir(parents=True)
    schema = _entry_schema([name for name, _, _ in fields])
    listed = []
    for number, entries in enumerate(manifests):
        place = folder / f"{number:06}-m0.avro"
        _write(place, schema, entries, layout)
        tuples = [entry["data_file"]["partition"] for entry in entries]
        listed.append(_listed(place, len(entries), [[each[name] for each in tuples] for name, _, _ in fields]))
    _write(folder / "snap-1.avro", list_schema(), listed, layout)
    snapshot = {
        "snapshot-id": 1,
        "timestamp-ms": 1,
        "sequence-number": 1,
        "manifest-list": f"{folder}/snap-1.avro",
        "summary": {"operation": "append"},
    }
    declared = [
        {"source-id": source, "field-id": 1000 + place, "name": name, "transform": transform}
        for place, (name, transform, source) in enumerate(fields)
    ]
    columns = [{"id": place, "name": name, "type": type_, "required": False} for place, (name, type_) in enumerate(names, 1)]
    metadata = {
        "format-version": 2,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": str(root),
        "last-sequence-number": 1,
        "last-updated-ms": 1,
        "last-column-id": len(names),
        "current-schema-id": 0,
        "schemas": [{"schema-id": 0, "type": "struct", "fields": columns}],
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": declared}],
        "last-partition-id": 999 + len(fields),
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {},
        "current-snapshot-id": 1,
        "refs": {"main": {"snapshot-id": 1, "type": "branch"}},
        "snapshots": [{**snapshot, "schema-id": 0}],
        "snapshot-log": [{"snapshot-id": 1, "timestamp-ms": 1}],
        "metadata-log": [],
    }
    place = folder / "v1.metadata.json"
    place.write_text(json.dumps(metadata))
    (folder / "version-hint.text").write_text("1")
    return place


def _numbered(number: int, columns: int, files: int) -> tuple[str, dict[str, Any], list[bytes], list[bytes], int]:
    day = _FIRST_DAY + number * 366 // files
    lows = [number * 1000, day * _DAY + number % 1000, *(number * 7 + column for column in range(3, columns + 1))]
    encoded = [[struct.pack("<q", low + more) for low in lows] for more in (0, 999)]
    path = f"data/ts_day={day}/{number:08}-0-5f3c1c52-9d3e-4d4b-8f5e-2f1f4c9ce4e1.parquet"
    return path, {"ts_day": day}, encoded[0], encoded[1], 1_000_000 + number


def _flight(mission: int, day: int, number: int) -> tuple[str, dict[str, Any], list[bytes], list[bytes], int]:
    name, hours = f"apollo-{mission}", _DAY // FILES_A_DAY
    volts = 26 + (mission + day + number) % 5 * 0.7
    lows = [name.encode(), struct.pack("<q", day * _DAY + number * hours), struct.pack("<d", volts)]
    highs = [name.encode(), struct.pack("<q", day * _DAY + (number + 1) * hours - 1), struct.pack("<d", volts + 0.6)]
    return f"data/mission_id={name}/ts_day={day}/{number}.parquet", {"mission_id": name, "ts_day": day}, lows, highs, 90_000_000


def _entry(root: Path, path: str, values: dict[str, Any], lows: list[bytes], highs: list[bytes], size: int) -> dict[str, Any]:
    ids = range(1, len(lows) + 1)
    return {
        "status": 1,
        "snapshot_id": 1,
        "sequence_number": None,
        "file_sequence_number": None,
        "data_file": {
            "content": 0,
            "file_path": f"{root}/{path}",
            "file_format": "PARQUET",
            "partition": values,
            "record_count": 1000,
            "file_size_in_bytes": size,
            "column_sizes": [{"key": key, "value": 4096} for key in ids],
            "value_counts": [{"key": key, "value": 1000} for key in ids],
            "null_value_counts": [{"key": key, "value": 0} for key in ids],
            "nan_value_counts": [{"key": 3, "value": 0}] if "mission_id" in values else [],
            "lower_bounds": [{"key": key, "value": low} for key, low in zip(ids, lows, strict=True)],
            "upper_bounds": [{"key": key, "value": high} for key, high in zip(ids, highs, strict=True)],
            "key_metadata": None,
            "split_offsets": [4],
            "equality_ids": None,
            "sort_order_id": 0,
        },
    }


def _listed(place: Path, files: int, values: list[list[Any]]) -> dict[str, Any]:
    summaries = [
        {"contains_null": False, "contains_nan": False, "lower_bound": _bound(min(each)), "upper_bound": _bound(max(each))}
        for each in values
    ]
    return {
        "manifest_path": str(place),
        "manifest_length": place.stat().st_size,
        "partition_spec_id": 0,
        "content": 0,
        "sequence_number": 1,
        "min_sequence_number": 1,
        "added_snapshot_id": 1,
        "added_files_count": files,
        "existing_files_count": 0,
        "deleted_files_count": 0,
        "added_rows_count": files * 1000,
        "existing_rows_count": 0,
        "deleted_rows_count": 0,
        "partitions": summaries,
        "key_metadata": None,
    }


def _write(place: Path, schema: dict[str, Any], records: list[dict[str, Any]], layout: str) -> None:
    with place.open("wb") as target:
        fastavro.writer(target, fastavro.parse_schema(schema), records, codec="deflate", sync_interval=LAYOUTS[layout])


def _map(name: str, number: int, ids: tuple[int, int], value: str) -> dict[str, Any]:
    fields = [field("key", "int", ids[0]), field("value", value, ids[1])]
    item = {"type": "record", "name": f"k{ids[0]}_v{ids[1]}", "fields": fields}
    return field(name, {"type": "array", "items": item, "logicalType": "map"}, number, optional=True)


_PARTITION_TYPES = {"ts_day": {"type": "int", "logicalType": "date"}, "mission_id": "string"}


def _bound(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else struct.pack("<i", value)


def _entry_schema(partition: list[str]) -> dict[str, Any]:
    fields = [field(name, _PARTITION_TYPES[name], 1000 + place, optional=True) for place, name in enumerate(partition)]
    every = [
        *file_fields(fields),
        _map("column_sizes", 108, (117, 118), "long"),
        _map("value_counts", 109, (119, 120), "long"),
        _map("null_value_counts", 110, (121, 122), "long"),
        _map("nan_value_counts", 137, (138, 139), "long"),
        _map("lower_bounds", 125, (126, 127), "bytes"),
        _map("upper_bounds", 128, (129, 130), "bytes"),
        field("key_metadata", "bytes", 131, optional=True),
        field("split_offsets", {"type": "array", "items": "long", "element-id": 133}, 132, optional=True),
        field("equality_ids", {"type": "array", "items": "int", "element-id": 136}, 135, optional=True),
        field("sort_order_id", "int", 140, optional=True),
    ]
    return entry_schema(every)


TABLES: dict[str, Callable[[Path], Path]] = {
    **{
        f"iceberg-{layout}-{columns}": partial(write_table, files=100_000, manifests=200, columns=columns, layout=layout)
        for layout in LAYOUTS
        for columns in (3, 20)
    },
    "iceberg-million": partial(write_table, files=1_000_000, manifests=2000, columns=3, layout="java"),
    "iceberg-pyramid": write_pyramid,
    "iceberg-ten": partial(write_table, files=10, manifests=1, columns=3, layout="java"),
}

if __name__ == "__main__":
    TABLES[sys.argv[1]](Path(sys.argv[2]).absolute())
