"""DuckDB in the process: the embedded engine.

In: SQL text around the dialect. Out: rows. The database lives in memory, is private to this object, installs no extension and
never writes a file. The only file that imports duckdb.
"""

from __future__ import annotations

import json
import os
from _thread import allocate_lock  # threading.Lock, without the cost of importing threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar

import _duckdb as duckdb  # the extension itself: its Python wrapper costs 85 ms of imports (docs/adr/0009)

from lakeprune.engines.dialect import Shape
from lakeprune.engines.duckdb.dialect import DuckDBDialect
from lakeprune.engines.engine import Engine, EngineError, Row
from lakeprune.engines.footers import Footers
from lakeprune.storage.storage import ColumnChunk

T = TypeVar("T")

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",  # works offline, and never fetches code
    "autoload_known_extensions": "false",
    "preserve_insertion_order": "false",  # row order carries no meaning here, and keeping it costs memory
    "temp_directory": "",  # nothing is ever spilled to disk
    "memory_limit": "256MB",  # lifted when a query needs more
    # Keys of commits are few, files of a checkpoint many, and DuckDB does not know: the side written last is the small one.
    # And statistics in Parquet footers leave NaN out: folding a test on them would take NaN for a number (T2, T74).
    "disabled_optimizers": "join_order,build_side_probe_side,statistics_propagation",
}
# Their time grows with the square of a query's expressions: `(a = 1 AND b = 2) OR ...` of 200 pairs took 19 s to plan, now 1.8 s.
_WITHOUT_REWRITING = f"{_SETTINGS['disabled_optimizers']},expression_rewriter,common_subexpressions"
_MANY_CONNECTIVES = 400  # from here on rewriting costs more than it saves, measured on 6 and on 100,000 files
_SHARED_NAMES = {"VARCHAR": "STRING", "BLOB": "BINARY"}  # DuckDB's names of types that engines share
_TYPE_ORDER = "ColumnOrder(TYPE_ORDER=TypeDefinedOrder())"  # as DuckDB prints the one order that bounds can be read by
_SMALL_FILE = 1 << 20
_BATCH = 2048


class DuckDBEngine(Engine):
    name = "duckdb"

    def __init__(self) -> None:
        self.dialect = DuckDBDialect()
        self._lock = allocate_lock()
        self._database: Any = None  # a connection that keeps the database alive; None while nobody needs it
        self._users = 0
        self._is_frugal = self._rewrites = True
        self._tables = count(1)

    @contextmanager
    def awake(self) -> Iterator[None]:
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            unused = None
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    unused, self._database = self._database, None
            if unused is not None:
                unused.close()

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        """A cursor of its own for every query: results stay apart, whichever thread asks and however long one is read."""
        with self._lock:
            if self._database is None:
                self._database = _new_database()
                self._is_frugal = self._rewrites = True
            cursor = self._database.cursor()
        try:
            cursor.execute("SET enable_progress_bar = false")  # on by default in notebooks, and a setting of each cursor
            yield cursor
        except duckdb.Error as error:
            raise EngineError(_first_line(error)) from error
        finally:
            cursor.close()

    def query(self, sql: str) -> list[Row]:
        with self._cursor() as cursor:
            return self._planned(cursor, sql, lambda: cursor.execute(sql).fetchall())

    def stream(self, sql: str) -> Iterator[Row]:
        with self._cursor() as cursor:
            self._planned(cursor, sql, lambda: cursor.execute(sql))
            while rows := cursor.fetchmany(_BATCH):
                yield from rows

    def json_source(self, paths: Sequence[str], shape: Shape, *, largest_file: int) -> str:
        # read_json costs almost a millisecond per file, read_text a tenth of it; but it holds whole files in memory.
        large = _larger(paths, _SMALL_FILE) if largest_file > _SMALL_FILE else set()
        small = [path for path in paths if path not in large]
        sources = []
        if small:
            fields = ", ".join(f"action.{self.dialect.identifier(name)}" for name in shape)
            lines = f"SELECT filename, unnest(string_split(content, chr(10))) AS line FROM read_text({self._list(small)})"
            # To from_json a list or a number is an object without any of the fields.
            no_object = self.dialect.fail("a line is not a JSON object")
            checked = f"CASE WHEN starts_with(ltrim(line), '{{') THEN line ELSE {no_object} END"
            parsed = f"from_json({checked}, {self.dialect.text(json.dumps(shape))})"
            sources.append(
                f"SELECT {fields}, filename FROM (SELECT filename, {parsed} AS action FROM ({lines}) WHERE trim(line) <> '')"
            )
        if large:
            fields = ", ".join(self.dialect.identifier(name) for name in shape)
            sources.append(f"SELECT {fields}, filename FROM {self._large_json(sorted(large), shape, largest_file)}")
        return f"({' UNION ALL '.join(sources)})"

    def _large_json(self, paths: Sequence[str], shape: Shape, largest_file: int) -> str:
        columns = ", ".join(f"{self.dialect.text(name)}: {self.dialect.text(_type_name(kind))}" for name, kind in shape.items())
        return (
            f"read_json({self._list(paths)}, format='newline_delimited', columns={{{columns}}}, "
            f"filename=true, maximum_object_size={largest_file + 1})"
        )

    def parquet_source(self, paths: Sequence[str]) -> str:
        union = ", union_by_name=true" if len(paths) > 1 else ""
        return f"read_parquet({self._list(paths)}, hive_partitioning=false{union})"

    def parquet_fields(self, paths: Sequence[str]) -> dict[str, Any]:
        with self._cursor() as cursor:
            relation = cursor.execute(f"SELECT * FROM {self.parquet_source(paths)} LIMIT 0")
            return {name: _fields(kind) for name, kind, *_ in relation.description or ()}

    def parquet_chunks(self, path: str) -> list[ColumnChunk] | None:
        # A name that holds ", " itself looks like two; whoever compares joins them again.
        first = (
            "CASE WHEN dictionary_page_offset > 0 THEN least(dictionary_page_offset, data_page_offset) ELSE data_page_offset END"
        )
        place = self.dialect.text(_literal_path(path))
        try:
            rows = self.query(f"SELECT path_in_schema, {first}, total_compressed_size FROM parquet_metadata({place})")
        except EngineError:
            return None  # reading the whole file will show what is wrong with it
        return [ColumnChunk(tuple(column.split(", ")), start, start + size) for column, start, size in rows]

    def footers(self, paths: Sequence[str]) -> Footers:
        listed = self._list(paths)
        # A timestamp with a converted type alone is an instant; DuckDB calls it TIMESTAMP. INT96 has no order.
        type_name = (
            "CASE WHEN type = 'INT96' THEN 'INT96' WHEN logical_type IS NULL AND converted_type LIKE 'TIMESTAMP%' "
            "THEN 'TIMESTAMP WITH TIME ZONE' WHEN duckdb_type = 'VARCHAR' THEN 'STRING' WHEN duckdb_type = 'BLOB' THEN 'BINARY' "
            "ELSE upper(duckdb_type) END"
        )
        element = (
            f"{{name: name, physical_type: type, type_name: {type_name}, repetition: repetition_type, children: num_children}}"
        )
        elements = f"CAST(to_json(list({element} ORDER BY column_id)) AS VARCHAR) AS elements"
        schemas = f"SELECT file_name, {elements} FROM parquet_schema({listed}) GROUP BY file_name"
        chunks = (
            "SELECT m.file_name AS file, path_in_schema AS column_path, row_group_num_rows AS rows, num_values, "
            "stats_min_value AS min_text, stats_max_value AS max_text, max_is_exact AS is_max_exact, "
            "stats_null_count AS nulls, stats_nan_count AS nans, "
            f"coalesce(f.column_orders[column_id + 1] = '{_TYPE_ORDER}', FALSE) AS has_type_order "
            f"FROM parquet_metadata({listed}) AS m JOIN parquet_file_metadata({listed}) AS f ON m.file_name = f.file_name"
        )
        files = f"SELECT file_name AS file, num_rows AS rows FROM parquet_file_metadata({listed})"
        return Footers(
            f"({files})", f"(SELECT elements, min(file_name) AS file FROM ({schemas}) GROUP BY elements)", f"({chunks})"
        )

    def lookup(self, columns: Sequence[str], types: Sequence[str], rows: Sequence[Row]) -> str:
        # Values travel as one list per column: as query text, 100,000 rows cost seconds and gigabytes to plan.
        items = [
            f"CAST(unnest(?::VARCHAR[]) AS {kind}) AS {self.dialect.identifier(name)}"
            for name, kind in zip(columns, types, strict=True)
        ]
        lists = [[None if value is None else str(value) for value in column] for column in zip(*rows, strict=True)]
        return self._table(f"SELECT {', '.join(items)}", lists or [[] for _ in columns])

    def kept(self, sql: str) -> str:
        return self._table(sql, [])

    def _planned(self, cursor: Any, sql: str, run: Callable[[], T]) -> T:
        """Runs it in little memory first: scans then read ahead less, and only queries that keep much need more."""
        if self._rewrites and sql.count(" OR ") + sql.count(" AND ") > _MANY_CONNECTIVES:
            self._rewrites = False
            cursor.execute(f"SET GLOBAL disabled_optimizers = '{_WITHOUT_REWRITING}'")
        if self._is_frugal:
            try:
                return run()
            except duckdb.OutOfMemoryException:
                self._is_frugal = False
                cursor.execute("RESET GLOBAL memory_limit")
        return run()

    def _table(self, sql: str, parameters: list[list[str | None]]) -> str:
        name = f"kept{next(self._tables)}"
        with self._cursor() as cursor:
            # Not TEMP: a temporary table would be invisible to other cursors. The database itself is in memory.
            self._planned(cursor, sql, lambda: cursor.execute(f"CREATE TABLE {name} AS {sql}", parameters))
        return name

    def _list(self, paths: Sequence[str]) -> str:
        return "[" + ", ".join(self.dialect.text(_literal_path(path)) for path in paths) + "]"


def _new_database() -> Any:
    database = duckdb.connect(":memory:", config=_SETTINGS)
    database.execute("SET GLOBAL TimeZone = 'UTC'")
    # Measured on a million files: reading ahead takes 40 MB more and saves no time.
    database.execute("SET GLOBAL disable_parquet_prefetching = true")
    return database


def _larger(paths: Sequence[str], limit: int) -> set[str]:
    try:
        return {path for path in paths if os.path.getsize(path) > limit}
    except OSError as error:
        raise EngineError(f"{error.filename}: {error.strerror}") from error


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
    name = str(kind).upper()
    return _SHARED_NAMES.get(name, name)


def _first_line(error: duckdb.Error) -> str:
    return str(error).split("\n", 1)[0]
