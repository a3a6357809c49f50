"""The checksum file of a version: what the table itself says it holds.

In: `<version>.crc`. Out: `Expected`, for the caller to compare; a damaged checksum is worth a note, never an error.
"""

from __future__ import annotations

import json
from typing import Any

from lakeprune.formats.delta.log_files import LOG
from lakeprune.formats.snapshot import Expected, Note
from lakeprune.storage.storage import Storage

_LIMIT = 1 << 24  # newer checksums carry every file; such a list is not needed here


def expected_of(storage: Storage, version: int) -> tuple[Expected, list[Note]]:
    name = f"{version:020}.crc"
    size = storage.size(f"{LOG}/{name}")
    if size is None or size > _LIMIT:
        return Expected(), []
    try:
        checksum: Any = json.loads(storage.read(f"{LOG}/{name}"))
        files, total = checksum.get("numFiles"), checksum.get("tableSizeBytes")
    except (ValueError, AttributeError, RecursionError):
        return Expected(), [Note("checksum_unreadable", f"{name} is not readable and was not used")]
    return Expected(_count(files), _count(total), name), []


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
