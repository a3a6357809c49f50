"""DuckDB in the process: the embedded engine.

In: SQL text around the dialect. Out: rows. The database lives in memory, is private to this object, installs no extension and
never writes a file. The only file that imports duckdb.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import _duckdb as duckdb  # the extension itself: its Python wrapper costs 85 ms of imports (docs/adr/0009)

from lakeprune.engines.dialect import Shape
from lakeprune.engines.duckdb.dialect import DuckDBDialect
from lakeprune.engines.engine import Engine, EngineError, Footers, ReadFooters, Row
from lakeprune.storage.storage import ColumnChunk

if TYPE_CHECKING:
    import pyarrow as pa

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
_SIGNED_ZEROS = ("FLOAT", "DOUBLE")  # types with two values that Python takes for equal
_SMALL_FILE = 1 << 20
_BATCH = 2048
_ARROW_BATCH = 1 << 16


class DuckDBEngine(Engine):
    name = "duckdb"
    takes_columns = keeps_cheaply = True

    def __init__(self, within: DuckDBEngine | None = None) -> None:
        super().__init__()
        self.dialect = DuckDBDialect()
        self._database: Any = None  # a connection that keeps the database alive; None while nobody needs it
        self._within = within
        self._is_frugal = self._rewrites = True
        self._tables: Iterator[int] = count(1) if within is None else within._tables  # noqa: SLF001  # of its own kind
        self._kept: list[str] = []

    def branch(self) -> DuckDBEngine:
        """An engine on the same database, for as long as this one is awake. What it keeps is dropped when it is let go."""
        return DuckDBEngine(self)

    def _let_go(self) -> None:
        if self._database is not None:
            if self._within is not None and self._within._database is not None:  # noqa: SLF001  # gone with it otherwise
                for name in self._kept:
                    self._database.execute(f"DROP TABLE {name}")
            self._kept.clear()
            self._database.close()
            self._database = None

    def _opened(self) -> Any:
        if self._within is None:
            return _new_database()
        return self._within._connected()  # noqa: SLF001  # of its own kind

    def _connected(self) -> Any:
        """A cursor of its own; closing the connection it was made from would close it too."""
        with self._lock:
            if self._database is None:
                self._database = self._opened()
                self._is_frugal = self._rewrites = True
            return self._database.cursor()

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        """A cursor of its own for every query: results stay apart, whichever thread asks and however long one is read."""
        cursor = self._connected()
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

    def arrow(self, sql: str) -> pa.Table:
        with self._cursor() as cursor:
            # Public only in the Python wrapper, which is another home and 85 ms of imports; the version is pinned.
            return self._planned(cursor, sql, lambda: cursor._submit(sql, [], "arrow", _ARROW_BATCH).arrow_table())  # noqa: SLF001

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
        from lakeprune.engines.duckdb import footers

        return footers.lazily(self._list(paths))

    footers_at_once = 200  # their unneeded parts are in memory meanwhile

    def read_footers(self, paths: Sequence[str]) -> ReadFooters:
        from lakeprune.engines.duckdb import footers

        whole = self._table(footers.whole_sql(self._list(paths)), [])
        return footers.over(whole, self._table(footers.files_sql(whole), []))

    def forget(self, read: ReadFooters) -> None:
        for table in read.kept:
            self.drop(table)

    reads_bloom = True

    def bloom_probe(self, paths: Sequence[str], column: str, value: str) -> str:
        items = "file_name AS file, row_group_id AS row_group, bloom_filter_excludes AS is_excluded"
        return f"(SELECT {items} FROM parquet_bloom_probe({self._list(paths)}, {self.dialect.text(column)}, {value}))"

    def lookup(self, columns: Sequence[str], types: Sequence[str], rows: Sequence[Row]) -> str:
        # Values travel as one list per column: as query text, 100,000 rows cost seconds and gigabytes to plan.
        items = [
            f"CAST(unnest(?::VARCHAR[]) AS {kind}) AS {self.dialect.identifier(name)}"
            for name, kind in zip(columns, types, strict=True)
        ]
        lists = [[None if value is None else str(value) for value in column] for column in zip(*rows, strict=True)]
        return self._table(f"SELECT {', '.join(items)}", lists or [[] for _ in columns])

    def columns(self, names: Sequence[str], types: Sequence[str], values: Sequence[Sequence[Any]]) -> str:
        # As lists of their own types: text costs five times as much to make, and as much again to read. Lists cost most of it,
        # so what is the same on every row, or in another column, is sent once. The first list says how many rows there are.
        items, sent = [], list[Any]()
        lists: dict[str, list[tuple[Sequence[Any], int]]] = {}
        for name, kind, column in zip(names, types, values, strict=True):
            is_text = kind.startswith("DECIMAL")
            type_ = "VARCHAR" if is_text else kind
            is_comparable = type_ not in _SIGNED_ZEROS
            known = lists.setdefault(type_, []) if is_comparable else []
            if sent and column and is_comparable and column.count(column[0]) == len(column):
                sent.append(column[0])
                item = f"${len(sent)}::{type_}"
            else:
                place = next((place for other, place in known if other == column), None)
                if place is None:
                    sent.append(column)
                    place = len(sent)
                    known.append((column, place))
                item = f"unnest(${place}::{type_}[])"
            items.append(f"{f'CAST({item} AS {kind})' if is_text else item} AS {self.dialect.identifier(name)}")
        return self._table(f"SELECT {', '.join(items)}", sent)

    def kept(self, sql: str, where: str = "") -> str:
        if not where:
            return self._table(sql, [])
        # Each conjunct is moved by itself to where the query's columns are computed, and the definitions of those are written
        # into it: 0.08 s for 20 clauses. Few are worth it: a million files are then filtered first.
        condition = f"CASE WHEN {where} THEN TRUE ELSE FALSE END" if _has_many_connectives(sql) else where
        return self._table(f"SELECT * FROM ({sql}) AS f WHERE {condition}", [])

    def drop(self, kept: str) -> None:
        with self._lock:
            if self._database is None or kept not in self._kept:
                return  # gone with everything else
            self._kept.remove(kept)
            cursor = self._database.cursor()
            try:
                cursor.execute(f"DROP TABLE {kept}")
            finally:
                cursor.close()

    def _planned(self, cursor: Any, sql: str, run: Callable[[], T]) -> T:
        """Runs it in little memory first: scans then read ahead less, and only queries that keep much need more."""
        if self._rewrites and _has_many_connectives(sql):
            self._rewrites = False
            cursor.execute(f"SET GLOBAL disabled_optimizers = '{_WITHOUT_REWRITING}'")
        if self._is_frugal:
            try:
                return run()
            except duckdb.OutOfMemoryException:
                self._is_frugal = False
                cursor.execute("RESET GLOBAL memory_limit")
        return run()

    def _table(self, sql: str, parameters: Sequence[Any]) -> str:
        name = f"kept{next(self._tables)}"
        with self._cursor() as cursor:
            # Not TEMP: a temporary table would be invisible to other cursors. The database itself is in memory.
            self._planned(cursor, sql, lambda: cursor.execute(f"CREATE TABLE {name} AS {sql}", parameters))
        self._kept.append(name)
        return name

    def _list(self, paths: Sequence[str]) -> str:
        return "[" + ", ".join(self.dialect.text(_literal_path(path)) for path in paths) + "]"


def _has_many_connectives(sql: str) -> bool:
    return sql.count(" OR ") + sql.count(" AND ") > _MANY_CONNECTIVES


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
