"""From what a user calls a table to a planner over it.

In: a path, a URL or a deltalake table, and how it is reached. Out: a `Planner` at one version. The engine is DuckDB in this
process, or Spark when a session is given.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lakeprune.engines.engine import Engine
from lakeprune.errors import TableError, UsageError
from lakeprune.formats import format as formats
from lakeprune.planning.planner import Planner
from lakeprune.planning.session import instant
from lakeprune.predicate.tree import Profile
from lakeprune.programs.patterns import Evaluation

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Protocol

    from pyspark.sql import SparkSession

    class DeltaTable(Protocol):
        """What is used of deltalake's `DeltaTable`."""

        @property
        def table_uri(self) -> str: ...
        def version(self) -> int: ...

    Table = str | os.PathLike[str] | DeltaTable


class At(Struct, frozen=True):
    """Which version of a table: a number, a time, or the latest."""

    version: Any = None
    timestamp: str | datetime | None = None


def open_planner(
    table: Table, at: At, profile: Profile, *, access: Mapping[str, Any], spark: SparkSession | None = None
) -> Planner:
    """A planner over the table; `access` are the fields of `Access` in storage/object/options.py."""
    from lakeprune.formats.registry import open_table

    location, version = located(table, _whole(at.version))
    if version is not None and at.timestamp is not None:
        raise UsageError("LP213", "both a version and a timestamp were given", fix="choose one of the two")
    moment = None if at.timestamp is None else instant(str(at.timestamp), profile.zone, "--at-timestamp")
    engine = _engine(spark)
    snapshot = open_table(location, engine, formats.At(version, moment), {**_own_access(table), **access})
    return Planner(Evaluation(engine, snapshot, profile))


def delta_version(planner: Planner, what: str) -> int:
    """The version of a Delta table, for what only Delta tables can be asked; `what` begins the message."""
    facts = planner.facts
    if facts.format != "delta" or facts.version is None:
        fix = "give a Delta table; `lakeprune explain` reads other formats too"
        raise TableError("LP347", f"{what} needs a Delta table", where=f"{facts.title}: {facts.location}", fix=fix)
    return facts.version


def located(table: Table, version: int | None) -> tuple[str, int | None]:
    """Where a table lies, and the version that was asked for or that a deltalake table has loaded."""
    if isinstance(table, str):
        return table, version
    if isinstance(table, os.PathLike):
        return os.fsdecode(table), version
    if hasattr(table, "table_uri") and hasattr(table, "version"):
        return table.table_uri, table.version() if version is None else version
    fix = "use lakeprune.spark.explain" if hasattr(table, "sparkSession") else "give a path or a deltalake DeltaTable"
    raise UsageError("LP214", f"a {type(table).__name__} is not a table", fix=fix)


def _own_access(table: Table) -> dict[str, Any]:
    """How a deltalake table reaches its store: its own options, and like delta-rs whatever the machine offers."""
    if isinstance(table, str | os.PathLike):
        return {}
    return {"storage_options": getattr(table, "_storage_options", None) or {}, "env_creds": True}


def _whole(version: Any) -> int | None:
    """The version as a plain integer, also of the kinds that other libraries have."""
    if version is None:
        return None
    if isinstance(version, bool) or not hasattr(version, "__index__"):
        raise UsageError("LP218", f"{version!r} is not a version", fix="give a whole number")
    return int(version)


def _engine(spark: SparkSession | None) -> Engine:
    if spark is None:
        from lakeprune.engines.duckdb.engine import DuckDBEngine

        return DuckDBEngine()
    from lakeprune.engines.spark.engine import SparkEngine

    return SparkEngine(spark)
