"""DuckDB in the process: the embedded engine.

In: SQL text around the dialect. Out: rows. The database lives in memory, is private to this object, installs no extension and
never writes a file. The only file that imports duckdb.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb

from lakeprune.engines.dialect import Shape
from lakeprune.engines.duckdb_dialect import DuckDBDialect
from lakeprune.engines.engine import Engine, EngineError, Row

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",  # works offline, and never fetches code
    "autoload_known_extensions": "false",
    "preserve_insertion_order": "false",  # row order carries no meaning here, and keeping it costs memory
    "temp_directory": "",  # nothing is ever spilled to disk
}
_SMALLEST_OBJECT = 1 << 20
_BATCH = 2048


class DuckDBEngine(Engine):
    name = "duckdb"

    def __init__(self) -> None:
        self.dialect = DuckDBDialect()
        self._connection = duckdb.connect(":memory:", config=_SETTINGS)
        self._connection.execute("SET enable_progress_bar = false; SET GLOBAL TimeZone = 'UTC'")

    def query(self, sql: str) -> list[Row]:
        try:
            return self._connection.execute(sql).fetchall()
        except duckdb.Error as error:
            raise EngineError(_first_line(error)) from error

    def stream(self, sql: str) -> Iterator[Row]:
        # A cursor of its own: a result stays open while other queries run.
        cursor = self._connection.cursor()
        try:
            cursor.execute(sql)
            while rows := cursor.fetchmany(_BATCH):
                yield from rows
        except duckdb.Error as error:
            raise EngineError(_first_line(error)) from error
        finally:
            cursor.close()

    def json_source(self, paths: Sequence[str], shape: Shape, *, largest_file: int) -> str:
        columns = ", ".join(f"{self.dialect.text(name)}: {self.dialect.text(_type_name(kind))}" for name, kind in shape.items())
        size = max(largest_file + 1, _SMALLEST_OBJECT)
        return (
            f"read_json({self._list(paths)}, format='newline_delimited', columns={{{columns}}}, "
            f"filename=true, maximum_object_size={size})"
        )

    def parquet_source(self, paths: Sequence[str]) -> str:
        union = ", union_by_name=true" if len(paths) > 1 else ""
        return f"read_parquet({self._list(paths)}, hive_partitioning=false{union})"

    def parquet_fields(self, paths: Sequence[str]) -> dict[str, Any]:
        try:
            relation = self._connection.execute(f"SELECT * FROM {self.parquet_source(paths)} LIMIT 0")
            return {name: _fields(kind) for name, kind, *_ in relation.description or ()}
        except duckdb.Error as error:
            raise EngineError(_first_line(error)) from error

    def lookup(self, columns: Sequence[str], types: Sequence[str], rows: Sequence[Row]) -> str:
        names = [self.dialect.identifier(name) for name in columns]
        casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in zip(names, types, strict=True))
        if not rows:
            empty = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in zip(names, types, strict=True))
            return f"(SELECT {empty} WHERE FALSE)"
        values = ", ".join("(" + ", ".join(self._value(value) for value in row) + ")" for row in rows)
        return f"(SELECT {casts} FROM (VALUES {values}) AS given({', '.join(names)}))"

    def _value(self, value: Any) -> str:
        match value:
            case None:
                return "NULL"
            case bool():
                return "TRUE" if value else "FALSE"
            case bytes():
                return self.dialect.binary(value)
            case int():
                return str(value)
            case _:
                return self.dialect.text(str(value))

    def _list(self, paths: Sequence[str]) -> str:
        return "[" + ", ".join(self.dialect.text(_literal_path(path)) for path in paths) + "]"


def _literal_path(path: str) -> str:
    """The path with its glob characters made literal.

    >>> _literal_path("/a[1]/b*.json")
    '/a[[]1]/b[*].json'
    """
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _type_name(kind: str | Shape) -> str:
    if isinstance(kind, Mapping):
        inner = ", ".join(f'"{name}" {_type_name(inner)}' for name, inner in kind.items())
        return f"STRUCT({inner})"
    return kind


def _fields(kind: Any) -> Any:
    if kind.id == "struct":
        return {name: _fields(child) for name, child in kind.children}
    return str(kind).upper()


def _first_line(error: duckdb.Error) -> str:
    return str(error).split("\n", 1)[0]
