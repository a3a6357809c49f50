"""How Spark reads the rows of a snapshot, each with the file that it lies in: for what compares metadata with rows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct


class RowSource(Struct, frozen=True):
    name: str  # of who reads: "Iceberg Spark"
    connector: str
    places: tuple[str, ...]
    file_column: tuple[str, ...]  # the column with a row's file: `_file`, or a field of `_metadata`
    options: Mapping[str, str] = MappingProxyType({})
