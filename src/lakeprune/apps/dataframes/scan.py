"""What a plan of Spark reads, as values: scans of Delta and Parquet, tables it needs no file of, sources nobody explains.

Filled by spark_scans.py. Nothing here holds a handle of the JVM.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Filter(Struct, frozen=True):
    """A condition that the optimiser left on a scan: Spark's text of it, and its nodes in pre-order."""

    sql: str
    nodes: tuple[Mapping[str, Any], ...]


class DeltaPlan(Struct, frozen=True):
    """What Delta Spark itself decided to read; `kind` is its own word for how. None is what it did not count."""

    files: int
    bytes: int
    total_files: int | None
    total_bytes: int | None
    kind: str
    unused: tuple[str, ...]  # the filters it did not use, as it writes them


class DeltaScan(Struct, frozen=True):
    table: str | None  # its name in the catalog
    location: str
    version: int
    filters: tuple[Filter, ...]
    columns: Mapping[int, str]  # the relation's columns by Catalyst's ids
    is_cached: bool  # it fed a cache, whose rows are read instead
    plan: DeltaPlan | None  # None: data skipping is off in the session


class ParquetScan(Struct, frozen=True):
    """Files of plain Parquet; the numbers are Spark's own listing, None where asking would disturb the query."""

    table: str | None
    locations: tuple[str, ...]
    filters: tuple[str, ...]
    partition_filters: tuple[str, ...]
    pushed_filters: str | None
    is_cached: bool
    files: int | None
    bytes: int | None
    total_files: int | None
    total_bytes: int | None


class Unexplained(Struct, frozen=True):
    """A source of rows that lakeprune does not explain."""

    source: str
    why: str


class Reading(Struct, frozen=True):
    """Everything one plan reads, in the order of the plan. `unread` are tables it names and needs no file of."""

    scans: tuple[DeltaScan | ParquetScan, ...]
    unread: tuple[str, ...]
    unexplained: tuple[Unexplained, ...]
    zone: str
