"""The tables of the conformance matrix, written by the official writer, and hand-made logs over real Parquet files.

`part` has three files of ten rows each, one per date: id 0-9, 10-19, 20-29. `dv` has a deletion vector over two of ten rows.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, write_deltalake

from demo.delta_log import add, field, mapping, metadata, protocol, write_commit

DATES = ("2021-04-28", "2021-04-29", "2021-04-30")


def part(path: Path) -> Path:
    """Versions 0 to 2, one file each, with a change data feed."""
    for version, date in enumerate(DATES):
        ids = list(range(10 * version, 10 * version + 10))
        start = datetime.fromisoformat(date).replace(tzinfo=UTC)
        rows = pa.table(
            {
                "id": pa.array(ids, pa.int32()),
                "x": pa.array([float(i) for i in ids]),
                "s": [f"s{i:03}" for i in ids],
                "ts": pa.array([start + timedelta(seconds=i % 10, microseconds=500) for i in ids], pa.timestamp("us", "UTC")),
                "d": [date] * 10,
            }
        )
        configuration = {"delta.enableChangeDataFeed": "true"} if version == 0 else None
        write_deltalake(path, rows, partition_by=["d"], mode="append", configuration=configuration)
    return path


def dv(path: Path) -> Path:
    """Ten rows, values 0 to 9, of which 0 and 9 are deleted by a vector in a file."""
    rows = pa.table({"value": pa.array(range(10), pa.int32())})
    file = _parquet(path, "part-00000.parquet", rows)
    features = ["deletionVectors"]
    vector = _vector(path, [0, 9])
    about = add("part-00000.parquet", size=file.stat().st_size, stats=json.dumps({"numRecords": 10, "tightBounds": False}))
    about["add"]["deletionVector"] = vector
    log = path / "_delta_log"
    write_commit(
        log,
        0,
        [
            protocol(3, 7, readerFeatures=features, writerFeatures=features),
            metadata({"value": "integer"}, configuration={"delta.enableDeletionVectors": "true"}),
            about,
        ],
    )
    return path


def mapped(path: Path) -> Path:
    """Columns by name mapping: `id` and the partition `p`, in files col-1 and col-2."""
    rows = pa.table({"col-1": pa.array(range(5), pa.int32())})
    file = _parquet(path, "p=1/a.parquet", rows)
    about = add("p=1/a.parquet", size=file.stat().st_size, stats=json.dumps({"numRecords": 5, "minValues": {"col-1": 0}}))
    about["add"]["partitionValues"] = {"col-2": "x y"}
    columns = {"id": field("id", "integer", mapping(1, "col-1")), "p": field("p", "string", mapping(2, "col-2"))}
    configuration = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2", "delta.appendOnly": "true"}
    write_commit(path / "_delta_log", 0, [protocol(2, 5), metadata(columns, ["p"], configuration), about])
    return path


def empty(path: Path) -> Path:
    DeltaTable.create(str(path), schema=pa.schema([("id", pa.int64()), ("d", pa.string())]), partition_by=["d"])
    return path


def null_partition(path: Path) -> Path:
    """One file of d = 'a', one of d IS NULL, each with three rows."""
    write_deltalake(path, pa.table({"id": [1, 2, 3, 4, 5, 6], "d": ["a", "a", "a", None, None, None]}), partition_by=["d"])
    return path


def no_stats(path: Path) -> Path:
    """Two files of two rows: one with statistics, one without any."""
    actions: list[Any] = [protocol(), metadata({"id": "integer"})]
    for name, ids, stats in (
        (
            "a.parquet",
            [1, 2],
            json.dumps({"numRecords": 2, "minValues": {"id": 1}, "maxValues": {"id": 2}, "nullCount": {"id": 0}}),
        ),
        ("b.parquet", [3, 4], None),
    ):
        file = _parquet(path, name, pa.table({"id": pa.array(ids, pa.int32())}))
        actions.append(add(name, size=file.stat().st_size, stats=stats))
    write_commit(path / "_delta_log", 0, actions)
    return path


TABLES = {"part": part, "dv": dv, "mapped": mapped, "empty": empty, "nulls": null_partition, "nostats": no_stats}


def _parquet(root: Path, name: str, rows: pa.Table) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    (root / "_delta_log").mkdir(exist_ok=True)
    pq.write_table(rows, path)
    return path


def _vector(root: Path, deleted: list[int]) -> dict[str, Any]:
    """A deletion vector in a file of its own, as the Delta protocol lays it out."""
    import struct
    import uuid
    import zlib
    from base64 import b85encode

    from pyroaring import BitMap

    inner = BitMap(deleted).serialize()
    bitmap = struct.pack("<I", 1681511377) + struct.pack("<Q", 1) + struct.pack("<I", 0) + inner
    name = uuid.UUID("d2c639aa-8816-431a-aaf6-d3fe2512ff61")
    content = bytes([1]) + struct.pack(">I", len(bitmap)) + bitmap + struct.pack(">I", zlib.crc32(bitmap))
    (root / f"deletion_vector_{name}.bin").write_bytes(content)
    z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    b85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
    encoded = b85encode(name.bytes).decode().translate(str.maketrans(b85, z85))
    return {"storageType": "u", "pathOrInlineDv": encoded, "offset": 1, "sizeInBytes": len(bitmap), "cardinality": len(deleted)}
