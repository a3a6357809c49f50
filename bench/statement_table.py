"""`python -m bench.statement_table FOLDER FILES`: a real Delta table of that many files, five hundred rows in each.

Rows rise with time, file by file: `id` counts them, `at` covers the year 2024, `note` makes them heavy. pyarrow writes the
Parquet files, deltalake makes a Delta table of them with the statistics that they carry.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import convert_to_deltalake

ROWS = 500
YEAR_BEGINS, YEAR = 1_704_067_200_000_000, 366 * 86_400_000_000  # microseconds
COLUMNS = pa.schema([("id", pa.int64()), ("at", pa.timestamp("us", "UTC")), ("status", pa.string()), ("note", pa.string())])


def main(folder: str, files: str) -> None:
    path, count = Path(folder), int(files)
    path.mkdir(parents=True)
    for number in range(count):
        ids = range(number * ROWS, (number + 1) * ROWS)
        at = [YEAR_BEGINS + id_ * YEAR // (count * ROWS) for id_ in ids]
        notes = [f"note {id_ * 2654435761 % 2**32:08x} of the row {id_}" for id_ in ids]
        rows = pa.table([pa.array(ids), pa.array(at, COLUMNS.field("at").type), ["open"] * ROWS, notes], schema=COLUMNS)
        pq.write_table(rows, path / f"part-{number:05d}.parquet")
    convert_to_deltalake(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
