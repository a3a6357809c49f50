"""Iceberg tables that its own runtime opens too: tables written by hand with the fields that it demands, and copies that
record where they lie.
"""

from __future__ import annotations

import gzip
import json
import shutil
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro

from lakeprune.formats.iceberg.locate import Paths, metadata_file, paths_of
from lakeprune.formats.iceberg.metadata import parse_metadata
from lakeprune.storage.local import LocalStorage

_DEMANDED = {
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "last-sequence-number": 9,
    "last-updated-ms": 1000,
    "last-column-id": 1000,
    "last-partition-id": 2000,
    "default-sort-order-id": 0,
    "sort-orders": [{"order-id": 0, "fields": []}],
    "properties": {},
    "refs": {"main": {"snapshot-id": 7, "type": "branch"}},
    "next-row-id": 0,
}


def completed(place: Path) -> Path:
    """The metadata file with everything that the runtime demands of one; what it has already stays."""
    place.write_text(json.dumps({**_DEMANDED, **json.loads(place.read_text())}))
    return place


def settled(table: Path, root: Path) -> Path:
    """A copy below `root` whose metadata and manifest lists record where they are now; its metadata file."""
    shutil.copytree(table, root, ignore=shutil.ignore_patterns("*.parquet", ".*.crc"))
    storage = LocalStorage(str(root))
    place = root / metadata_file(storage)
    data = place.read_bytes()
    metadata = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    paths = paths_of(storage, parse_metadata(place.read_bytes(), str(place)).location, str(place.relative_to(root)))
    for snapshot in metadata["snapshots"]:
        if "manifest-list" in snapshot:
            listed = root / paths.find(snapshot["manifest-list"])
            if listed.exists():  # of an old snapshot it may be gone
                listed.write_bytes(_listed_here(listed.read_bytes(), root, paths))
            snapshot["manifest-list"] = str(listed)
        if "manifests" in snapshot:
            snapshot["manifests"] = [str(root / paths.find(path)) for path in snapshot["manifests"]]
    settled_at = place.with_name("99999-settled.metadata.json")
    settled_at.write_text(json.dumps(metadata))
    return settled_at


def _listed_here(data: bytes, root: Path, paths: Paths) -> bytes:
    reader: Any = fastavro.reader(BytesIO(data))
    records = [{**record, "manifest_path": str(root / paths.find(record["manifest_path"]))} for record in reader]
    target = BytesIO()
    fastavro.writer(target, reader.writer_schema, records)
    return target.getvalue()
