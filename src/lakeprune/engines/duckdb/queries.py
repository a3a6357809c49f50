"""Queries of users on the embedded engine: SQL over Arrow data, in a database of their own.

In: named Arrow datasets, a query. Out: a stream of record batches. The database lives in memory, fetches no extension, and ends
with the stream. DuckDB's public wrapper is used: it is what turns Python objects into tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lakeprune.engines.engine import EngineError

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",  # works offline, and never fetches code
    "python_enable_replacements": "false",  # a name in the query never means a variable of the program
}


def run_query(tables: Mapping[str, Any], query: str) -> Any:
    """The answer as a pyarrow.RecordBatchReader; rows are made as it is read."""
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect(":memory:", config=_SETTINGS)
    try:
        connection.execute("SET TimeZone = 'UTC'")
        for name, dataset in tables.items():
            connection.register(name, dataset)
        answer = connection.sql(query)
        reader = None if answer is None else answer.to_arrow_reader()
    except duckdb.Error as error:
        connection.close()
        raise EngineError(str(error)) from error
    if reader is None:
        connection.close()
        raise EngineError("the query gives no rows: it is not a SELECT")
    return pa.RecordBatchReader.from_batches(reader.schema, _batches(connection, reader))


def _batches(connection: Any, reader: Any) -> Iterator[Any]:
    import duckdb

    try:
        yield from reader
    except duckdb.Error as error:
        raise EngineError(str(error)) from error
    finally:
        connection.close()
