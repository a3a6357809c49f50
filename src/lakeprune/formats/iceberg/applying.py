"""Which delete files apply to which data file, for those who read its rows.

In: the entries of delete manifests. Out: per data file the delete files as JSON, None without any. The rules are those of
deletes.py, which counts; here every file that applies is named, and where a deletion vector applies no position delete file does.

    {"kind": "vector", "path": ..., "uri": ..., "format": "PUFFIN", "rows": 3, "size": 500, "offset": 4, "length": 40}
    {"kind": "position", "path": ..., "uri": ..., "format": "PARQUET", "rows": 10, "size": 700}
    {"kind": "equality", "path": ..., "uri": ..., "format": "PARQUET", "rows": 2, "size": 700, "field_ids": [1]}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from lakeprune.formats.iceberg.deletes import EQUALITY, NEEDED, Key
from lakeprune.formats.iceberg.entries import Entries, Item

NAMED: tuple[Item, ...] = (*NEEDED, "file_size_in_bytes", "equality_ids", "content_offset", "content_size_in_bytes")
_Entry = tuple[int, dict[str, Any]]  # its sequence number, and how it is named


class DeleteFiles:
    def __init__(self, entries: Entries, keys: Sequence[Key], unpartitioned: frozenset[int], uri: Callable[[str], str]) -> None:
        self._vectors: dict[str, list[_Entry]] = {}
        self._by_path: dict[str, list[_Entry]] = {}
        self._by_partition: dict[Key, list[_Entry]] = {}
        self._equality: dict[Key, list[_Entry]] = {}
        self._global: list[_Entry] = []
        names = (*NAMED, "spec_id")
        for values, key in zip(zip(*(entries[name] for name in names), strict=True), keys, strict=True):
            entry = dict(zip(names, values, strict=True))
            referenced = entry["referenced_data_file"]
            is_vector = str(entry["file_format"]).lower() == "puffin" and referenced is not None
            named = entry["sequence_number"], _named(entry, is_vector=is_vector, uri=uri)
            if entry["content"] == EQUALITY:
                several = self._global if entry["spec_id"] in unpartitioned else self._equality.setdefault(key, [])
            elif is_vector:
                several = self._vectors.setdefault(referenced, [])
            elif referenced is not None:
                several = self._by_path.setdefault(referenced, [])
            else:
                several = self._by_partition.setdefault(key, [])
            several.append(named)

    def applying(self, path: str, sequence: int, key: Key) -> str | None:
        """The delete files of a data file as a JSON list, None without any."""
        equality = [(number, each) for number, each in (*self._global, *self._equality.get(key, ())) if number > sequence]
        positions = [each for each in self._vectors.get(path, ()) if each[0] >= sequence]
        if not positions:
            several = (*self._by_path.get(path, ()), *self._by_partition.get(key, ()))
            positions = [each for each in several if each[0] >= sequence]
        found = [each for _, each in (*positions, *equality)]
        return json.dumps(found, separators=(",", ":")) if found else None


def _named(entry: dict[Any, Any], *, is_vector: bool, uri: Callable[[str], str]) -> dict[str, Any]:
    kind = "equality" if entry["content"] == EQUALITY else "vector" if is_vector else "position"
    path = entry["file_path"]
    named = {"kind": kind, "path": path, "uri": uri(path), "format": entry["file_format"], "rows": entry["record_count"]}
    named["size"] = entry["file_size_in_bytes"]
    if is_vector:
        named |= {"offset": entry["content_offset"], "length": entry["content_size_in_bytes"]}
    if kind == "equality":
        named["field_ids"] = entry["equality_ids"]
    return named
