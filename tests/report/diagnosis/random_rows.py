"""A table of random rows in order of time and text, and what DuckDB answers on its data."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from deltalake import DeltaTable

from demo.tables import write_in_one_commit

SCHEMA = pa.schema(
    [("ts", pa.timestamp("us", "UTC")), ("d", pa.date32()), ("n", pa.int64()), ("s", pa.string()), ("other", pa.int64())]
)


def random_rows(path: Path) -> Path:
    """Twenty files in order of time and text, with rows that are NULL, padded, or on the very edge of a month."""
    draw = random.Random(4)
    contents = []
    for number in range(20):
        start = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=20 * number)
        rows: list[tuple[Any, ...]] = []
        for _ in range(40):
            moment = start + timedelta(microseconds=draw.randrange(20 * 86_400_000_000))
            if draw.random() < 0.2:
                moment = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=draw.choice([0, 0, 1, 999_999]))
            text = f"{chr(97 + number)}{draw.randrange(20):02d}{' ' * draw.choice([0, 0, 1, 3])}"
            row = (moment, moment.date(), 1000 * number + draw.randrange(0, 1000, 50), text, draw.randrange(10))
            rows.append(tuple(None if draw.random() < 0.05 else value for value in row))
        columns = zip(zip(*rows, strict=True), SCHEMA, strict=True)
        contents.append(pa.Table.from_arrays([pa.array(values, field.type) for values, field in columns], schema=SCHEMA))
    return write_in_one_commit(path, contents)


def rows_of(table: Path, where: str) -> list[Any]:
    """What DuckDB answers on the data itself."""
    content = DeltaTable(table).to_pyarrow_table()
    naive = content.set_column(0, "ts", content["ts"].cast(pa.timestamp("us")))  # the session's zone is UTC here
    connection = duckdb.connect()
    connection.register("content", naive)
    return sorted(connection.execute(f"SELECT ts, d, n, s, other FROM content WHERE {where}").fetchall(), key=str)
