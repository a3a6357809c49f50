"""Queries of users on the embedded engine: SQL over Arrow data, in a database of their own.

In: named Arrow datasets, a query. Out: a stream of record batches. One query, which only reads: a statement that could write a
file is not run. The database lives in memory, fetches no extension, and ends with the stream. DuckDB's public wrapper is used: it
is what turns Python objects into tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lakeprune.engines.engine import EngineError

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",  # works offline, and never fetches code
    "python_enable_replacements": "false",  # a name in the query never means a variable of the program
}

_PIVOTS = ("pivot", "select", "with", "from")


def run_query(tables: Mapping[str, Any], query: str, failure: Callable[[EngineError], Exception]) -> Any:
    """The answer as a pyarrow.RecordBatchReader; rows are made as it is read. `failure` is what a failed query means to users."""
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect(":memory:", config=_SETTINGS)
    try:
        connection.execute("SET TimeZone = 'UTC'")
        for name, dataset in tables.items():
            connection.register(name, dataset)
        if not _is_one_query(connection.extract_statements(query)):
            raise failure(EngineError("it is not one SELECT"))
        reader = connection.sql(query).to_arrow_reader()
    except duckdb.Error as error:
        connection.close()
        raise failure(EngineError(str(error))) from error
    except BaseException:
        connection.close()
        raise
    return pa.RecordBatchReader.from_batches(reader.schema, _batches(connection, reader, failure))


def _is_one_query(statements: Sequence[Any]) -> bool:
    """Whether this is a single SELECT, in any of its forms; DuckDB makes several statements of a PIVOT."""
    if len(statements) != 1:
        return False
    kind, words = statements[0].type.name, statements[0].query.split(maxsplit=1)
    return kind == "SELECT" or (kind == "MULTI" and words[0].lower() in _PIVOTS)


def _batches(connection: Any, reader: Any, failure: Callable[[EngineError], Exception]) -> Iterator[Any]:
    import duckdb

    try:
        yield from reader
    except (duckdb.Error, OSError) as error:  # pyarrow makes an OSError of what ends a stream
        raise failure(EngineError(str(error))) from error
    finally:
        connection.close()
