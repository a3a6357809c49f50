"""From what a user calls a table to a planner over it.

In: a path, a URL, a name in a catalog, a deltalake or PyIceberg table, and how it is reached.
Out: a `Planner` at one version. The engine is DuckDB in this
process, or Spark when a session is given.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

from msgspec import Struct

from lakeprune.engines.engine import Engine
from lakeprune.errors import UsageError
from lakeprune.formats import format as formats
from lakeprune.formats.format import SQL_NAMES
from lakeprune.planning.opened import OpenedTable
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

    class FileIO(Protocol):
        @property
        def properties(self) -> Mapping[str, Any]: ...

    class IcebergTable(Protocol):
        """What is used of PyIceberg's `Table`, and of what a catalog knows."""

        @property
        def metadata_location(self) -> str: ...
        @property
        def io(self) -> FileIO: ...

    Table = str | os.PathLike[str] | DeltaTable | IcebergTable | OpenedTable


class At(Struct, frozen=True):
    """Which version of a table: a number, a time, a branch or tag, or the latest."""

    version: Any = None
    timestamp: str | datetime | None = None
    ref: str | None = None


def open_planner(
    table: Table,
    at: At,
    profile: Profile,
    *,
    access: Mapping[str, Any],
    spark: SparkSession | None = None,
    catalog: str | None = None,
) -> Planner:
    """A planner over the table; `access` are the fields of `Access` in storage/access.py, `catalog` knows the table's name."""
    from lakeprune.formats.registry import open_table

    if isinstance(table, OpenedTable):
        table.check_as_opened(at, access=access, catalog=catalog)
        return Planner(Evaluation(table.engine, table.snapshot, profile))
    if catalog is None:
        location, version = located(table, _whole(at.version))
        reached = {**_own_access(table), **access}
        _check_one(version, at)
    else:
        version = _whole(at.version)
        _check_one(version, at)
        location, reached = _in_catalog(table, catalog, access)
    moment = None if at.timestamp is None else instant(str(at.timestamp), profile.zone, "--at-timestamp")
    engine = engine_of(spark)
    snapshot = open_table(location, engine, formats.At(version, moment, at.ref), reached)
    return Planner(Evaluation(engine, snapshot, profile))


def located(table: Table, version: int | None) -> tuple[str, int | None]:
    """Where a table lies, and the version that was asked for or that a deltalake table has loaded."""
    if isinstance(table, str):
        return path_of(table), version
    if isinstance(table, os.PathLike):
        return os.fsdecode(table), version
    if isinstance(table, OpenedTable):
        return table.location, table.version if version is None else version
    if hasattr(table, "table_uri") and hasattr(table, "version"):
        return table.table_uri, table.version() if version is None else version
    if _is_iceberg(table):
        return table.metadata_location, version
    is_frame = hasattr(table, "sparkSession")
    fix = "use lakeprune.spark.explain" if is_frame else "give a path, a deltalake DeltaTable or a PyIceberg Table"
    raise UsageError("LP214", f"a {type(table).__name__} is not a table", fix=fix)


def path_of(text: str) -> str:
    """The path or URL that a text names; format.`path` is how SQL writes it, dbfs:/ is mounted at /dbfs where there is one.

    >>> path_of("./users"), path_of("delta.`/lake/users`"), path_of("dbfs:/lake/users")
    ('./users', '/lake/users', 'dbfs:/lake/users')
    """
    if quoted := re.fullmatch(rf"(?is)(?:{'|'.join(SQL_NAMES)})\.`((?:[^`]|``)+)`", text.strip()):
        text = quoted[1].replace("``", "`")
    return f"/dbfs{text[5:]}" if re.match(r"dbfs:/(?!/)", text) and os.path.isdir("/dbfs") else text


def _own_access(table: Table) -> dict[str, Any]:
    """How a table of another library reaches its store: its own options, and like that library whatever the machine offers."""
    if isinstance(table, str | os.PathLike | OpenedTable):
        return {}
    if _is_iceberg(table):
        from lakeprune.formats.iceberg.file_io import access_of

        return access_of(table.metadata_location, table.io.properties)
    return {"storage_options": getattr(table, "_storage_options", None) or {}, "env_creds": True}


def _check_one(version: int | None, at: At) -> None:
    given = [
        what
        for what, value in (("version", version), ("timestamp", at.timestamp), ("branch or tag", at.ref))
        if value is not None
    ]
    if len(given) > 1:
        raise UsageError("LP213", f"both a {given[0]} and a {given[1]} were given", fix="choose one of the two")
    if at.ref is not None and not (isinstance(at.ref, str) and at.ref):
        raise UsageError("LP218", f"{at.ref!r} is not the name of a branch or tag", fix="give it as text")


def _is_iceberg(table: Any) -> TypeGuard[IcebergTable]:
    return hasattr(table, "metadata_location") and hasattr(table, "io")


def _in_catalog(table: Table, catalog: str, access: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Where a catalog says that a table is, and how it is reached; options that are given are added to the catalog's."""
    from lakeprune.formats.iceberg.catalogs import catalog_table
    from lakeprune.formats.iceberg.file_io import access_of

    if not isinstance(catalog, str):
        what = f"the catalog is of type {type(catalog).__name__}, not a name of PyIceberg's configuration"
        fix = 'give explain(catalog.load_table("db.t")), or the name: explain("db.t", catalog="NAME")'
        raise UsageError("LP214", what, fix=fix)
    if not isinstance(table, str):
        what = f"a catalog was given, and a {type(table).__name__} instead of the name of a table in it"
        raise UsageError("LP214", what, fix='give explain("db.t", catalog="NAME"), or the table without a catalog')
    found = catalog_table(catalog, table)
    own = access_of(found.metadata_location, found.properties)
    given = access.get("storage_options") or {}
    return found.metadata_location, {**own, **access, "storage_options": {**own["storage_options"], **given}}


def _whole(version: Any) -> int | None:
    """The version as a plain integer, also of the kinds that other libraries have."""
    if version is None:
        return None
    if isinstance(version, bool) or not hasattr(version, "__index__"):
        raise UsageError("LP218", f"{version!r} is not a version", fix="give a whole number")
    return int(version)


def engine_of(spark: SparkSession | None) -> Engine:
    if spark is None:
        from lakeprune.engines.duckdb.engine import DuckDBEngine

        return DuckDBEngine()
    from lakeprune.engines.spark.engine import SparkEngine

    return SparkEngine(spark)
