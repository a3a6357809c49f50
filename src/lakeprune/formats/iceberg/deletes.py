"""How many rows of each file are deleted, as far as the metadata records it.

In: the entries of delete manifests and the data files. Out: per data file the number of deleted rows, None when deletes
apply whose rows are not counted. A deletion vector records its own number; a position or equality delete file may delete any.

    deletion vector    by the file it references; not older than the data         (T66, T87)
    position deletes   by the file they reference, else by spec and tuple; not older than the data; not where a vector applies
    equality deletes   by spec and tuple, of an unpartitioned spec all files; newer than the data
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakeprune.formats.iceberg.entries import Entries, Item

POSITION, EQUALITY = 1, 2
NEEDED: tuple[Item, ...] = ("content", "file_path", "file_format", "record_count", "referenced_data_file", "sequence_number")
Key = tuple[Any, ...]  # a partition: its spec and the values of its tuple


class Deletes:
    def __init__(self, entries: Entries, keys: Sequence[Key], unpartitioned: frozenset[int]) -> None:
        self._vectors: dict[str, list[tuple[int, int]]] = {}  # path of a data file -> sequence number, rows
        self._by_path: dict[str, int] = {}  # -> greatest sequence number
        self._by_partition: dict[Key, int] = {}
        self._equality: dict[Key, int] = {}
        self._global = -1
        columns = ("content", "file_format", "record_count", "referenced_data_file", "sequence_number", "spec_id")
        for row, key in zip(zip(*(entries[name] for name in columns), strict=True), keys, strict=True):
            content, format_, rows, referenced, sequence, spec = row
            if content == EQUALITY:
                if spec in unpartitioned:
                    self._global = max(self._global, sequence)
                else:
                    _raise(self._equality, key, sequence)
            elif str(format_).lower() == "puffin" and referenced is not None:
                self._vectors.setdefault(referenced, []).append((sequence, rows))
            elif referenced is not None:
                _raise(self._by_path, referenced, sequence)
            else:
                _raise(self._by_partition, key, sequence)

    def deleted_rows(self, path: str, sequence: int, key: Key) -> int | None:
        """The rows of a data file that are deleted, None when that is not recorded."""
        if sequence < max(self._global, self._equality.get(key, -1)):
            return None
        vectors = [rows for newer, rows in self._vectors.get(path, ()) if sequence <= newer]
        if len(vectors) == 1 and vectors[0] >= 0:
            return vectors[0]
        if vectors or sequence <= max(self._by_path.get(path, -1), self._by_partition.get(key, -1)):
            return None
        return 0


def _raise(found: dict[Any, int], key: Any, number: int) -> None:
    found[key] = max(found.get(key, -1), number)


def partition_keys(entries: Entries, tuples: Mapping[int, Sequence[Item]]) -> list[Key]:
    """Spec and tuple of each file, equal where they are the same bit by bit (T88)."""
    items = list(dict.fromkeys(item for several in tuples.values() for item in several))
    values = zip(*(entries[item] for item in items), strict=True) if items else [()] * len(entries["spec_id"])
    return [(spec, *(_bits(value) for value in row)) for spec, row in zip(entries["spec_id"], values, strict=True)]


def _bits(value: Any) -> Any:
    """A value that equals another one only when both have the same bits; every NaN is the same."""
    if isinstance(value, float):
        return "nan" if value != value else value.hex()
    return (type(value), value) if isinstance(value, bool) else value
