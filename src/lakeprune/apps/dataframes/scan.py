"""What a plan of Spark reads, as values: scans of tables and files, tables it needs no file of, sources nobody explains.

Filled by spark_scans.py. Nothing here holds a handle of the JVM.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct


class Filter(Struct, frozen=True):
    """A condition that the optimiser left on a scan: Spark's text of it, and its nodes in pre-order."""

    sql: str
    nodes: tuple[Mapping[str, Any], ...]


class Planned(Struct, frozen=True):
    """What Spark itself plans to read. null is what was not counted; `kind` is Delta's own word for how it decided.

    `unused_filters` are those that Delta does not use; `partition_filters` and `pushed_filters` are recorded for Parquet.
    """

    files: int | None
    bytes: int | None
    total_files: int | None
    total_bytes: int | None
    kind: str | None = None
    unused_filters: tuple[str, ...] = ()
    partition_filters: tuple[str, ...] = ()
    pushed_filters: str | None = None


class Scan(Struct, frozen=True):
    """`spark` is None when Delta's data skipping is off in the session."""

    format: Literal["delta", "iceberg", "parquet"]
    table: str | None  # its name in the catalog
    locations: tuple[str, ...]  # one, for Delta and Iceberg
    version: int | None  # None for Parquet
    filters: tuple[Filter, ...]
    is_cached: bool  # it fed a cache, whose rows are read instead
    spark: Planned | None
    columns: Mapping[int, str] = MappingProxyType({})  # the relation's columns by Catalyst's ids
    metadata: str | None = None  # the metadata file of an Iceberg table
    ref: str | None = None  # the branch or tag that was asked for
    is_latest: bool = False  # no version was asked for, and columns are those of the table now
    taken: tuple[Any, ...] = ()  # the filters that Iceberg took over, as its own parser writes them

    @property
    def location(self) -> str:
        return ", ".join(self.locations)


class Unexplained(Struct, frozen=True):
    """A source of rows that lakeprune does not explain."""

    source: str
    why: str


class Reading(Struct, frozen=True):
    """Everything one plan reads, in the order of the plan. `unread` are tables it names and needs no file of."""

    scans: tuple[Scan, ...]
    unread: tuple[str, ...]
    unexplained: tuple[Unexplained, ...]
    zone: str
