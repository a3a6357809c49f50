"""Random Parquet files of given rows, and footers that know less than they might."""

from __future__ import annotations

from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from tests.formats.parquet.thrift import (
    BYTES,
    MAX,
    MAX_IS_EXACT,
    MIN,
    MIN_IS_EXACT,
    NULLS,
    Fields,
    deprecated,
    patch,
    statistics_in,
    without,
    without_column_orders,
)
from tests.generator.literals import duckdb_text
from tests.soundness.tables import Table

_NANS = 9
_LESS = (
    without(NULLS),
    without(MIN),
    without(MAX),
    without(MIN, MAX),
    without(MAX_IS_EXACT, MIN_IS_EXACT),
    without(_NANS),
    deprecated,
)


def write_rows(rows: pa.Table, place: Path, rng: Random) -> None:
    """A file by pyarrow or DuckDB, in row groups of one to three rows where the writer has such."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if rng.random() < 0.2 and len(rows):
        with duckdb.connect() as connection:
            connection.register("rows", rows)
            connection.execute(f"COPY rows TO {duckdb_text(str(place))} (FORMAT parquet)")
    else:
        pq.write_table(rows, place, row_group_size=rng.randint(1, 3), store_decimal_as_integer=rng.random() < 0.5)


def texts_of(table: Table) -> set[str]:
    """The columns of text, by their names in footers."""
    return {".".join(column.physical) for column in table.data_columns if column.type == "string"}


def know_less(place: Path, texts: set[str], rng: Random) -> None:
    """Some of what a footer records is taken out, or recorded as older writers do; nothing in it becomes wrong."""

    def change(footer: Fields) -> None:
        for name, statistics in statistics_in(footer):
            if rng.random() < 0.6:
                rng.choice([*_LESS, _cut, _cut, _cut] if name in texts else _LESS)(statistics)
        if rng.random() < 0.15:
            without_column_orders(footer)

    patch(place, change)


def _cut(statistics: Fields) -> None:
    """Bounds of text as prefixes, marked as such: the empty maximum stands for every text."""
    for bound in (MIN, MAX):
        if bound in statistics:
            letters = statistics[bound][1].decode()
            statistics[bound] = (BYTES, letters[: len(letters) // 2 + 1].encode())
    statistics[MAX_IS_EXACT] = statistics[MIN_IS_EXACT] = (2, None)
