"""The truth about row groups of an Iceberg table of one file: its rows as PyIceberg reads them, without any filter."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from pyiceberg.table import StaticTable, Table

from tests.formats.row_groups.delta import files

PER_GROUP = 10


def place(table: Table) -> Path:
    return Path(table.location().removeprefix("file://"))


def changed(table: Table, change: Callable[[dict[str, Any]], None]) -> StaticTable:
    """The table with other metadata, which becomes its newest."""
    newest = Path(table.metadata_location.removeprefix("file://"))
    metadata = json.loads(newest.read_text())
    change(metadata)
    number = int(newest.name.partition("-")[0]) + 1
    after = newest.with_name(f"{number:05}-changed.metadata.json")
    after.write_text(json.dumps(metadata))
    return StaticTable.from_metadata(str(after))


def matching(table: Table, where: str) -> tuple[list[int], list[int]]:
    """The row groups in which some row satisfies a predicate, and those in which all do."""
    read = table.scan().to_arrow()
    rows = read.append_column("row_group", pa.array([number // PER_GROUP for number in range(read.num_rows)]))
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        counts = f"SELECT row_group, count(*), count(*) FILTER (WHERE {where}) FROM rows GROUP BY row_group ORDER BY row_group"
        found = connection.sql(counts).fetchall()
    return [group for group, _, true in found if true], [group for group, every, true in found if true == every]


def left(table: Table, where: str) -> tuple[list[int], list[int]]:
    """The same as lakeprune has it: the row groups that are left, and those that match fully."""
    (file,) = files(place(table), where).values()
    assert isinstance(file.row_groups, list), file
    full = [group.id for group in file.row_groups if group.verdict.name == "FULL"]
    return [group.id for group in file.row_groups if group.kept], full


def check(table: Table, where: str) -> tuple[list[int], list[int]]:
    """What is left, which is sound."""
    kept, full = left(table, where)
    some, all_ = matching(table, where)
    assert set(some) <= set(kept), f"{where}: dropped {set(some) - set(kept)}"
    assert set(full) <= set(all_), f"{where}: full {set(full) - set(all_)}"
    return kept, full
