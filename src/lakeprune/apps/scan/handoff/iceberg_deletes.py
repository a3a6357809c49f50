"""The rows of an Iceberg data file that are deleted, by the delete files that apply to it.

In: what the plan says about a file: its delete files, as formats/iceberg/applying.py names them. Out: positions. A deletion
vector lies in a Puffin file, position deletes name data files by their recorded paths. Equality deletes are refused (LP283).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from lakeprune.apps.scan.handoff.opening import DataFiles
from lakeprune.apps.scan.handoff.planned_file import PlannedFile
from lakeprune.errors import TableError, UsageError
from lakeprune.formats.deleted_rows import FRAME, MOST_BYTES, DamagedVector, Positions, positions_at, positions_of, unframed

_PATH, _POSITION = "file_path", "pos"


class _Delete(Struct, frozen=True):
    kind: Literal["vector", "position", "equality"]
    uri: str
    format: str
    rows: int
    size: int
    offset: int | None = None
    length: int | None = None


def deleted_rows(file: PlannedFile, files: DataFiles, file_of: Callable[[str], str]) -> Positions | None:
    """The deleted positions of a file, None without any; `file_of` is the path in the plan of a recorded one."""
    if file.vector is None:
        return None
    found = positions_at()
    for delete in msgspec.json.decode(file.vector, type=list[_Delete]):
        if delete.kind == "equality" or (delete.kind == "position" and delete.format.upper() != "PARQUET"):
            raise UsageError(
                "LP283",
                "rows of the Iceberg table cannot be handed over outside Spark",
                where=file.uri,
                why="equality deletes apply to it" if delete.kind == "equality" else f"its deletes are in {delete.format}",
                fix="use plan.to_spark(spark), or rewrite the deletes (CALL system.rewrite_data_files)",
            )
        found |= _vector(delete, file, files) if delete.kind == "vector" else _positions(delete, file, files, file_of)
    return found


def _vector(delete: _Delete, file: PlannedFile, files: DataFiles) -> Positions:
    start, length = delete.offset, delete.length
    try:
        if start is None or length is None or start < 0 or not FRAME <= length <= MOST_BYTES:
            raise DamagedVector(f"{length} bytes at {start} are not a place of a vector")
        return positions_of(unframed(files.read(delete.uri, start, start + length), length - FRAME), delete.rows)
    except DamagedVector as problem:
        what, fix = "the deletion vector of a data file cannot be read", "restore the file of the vector"
        raise TableError("LP375", what, where=delete.uri, why=f"{problem}; it is of {file.uri}", fix=fix) from problem


def _positions(delete: _Delete, file: PlannedFile, files: DataFiles, file_of: Callable[[str], str]) -> Positions:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    try:
        rows: Any = pq.read_table(files.source(delete.uri, delete.size), columns=[_PATH, _POSITION], partitioning=None)
        here = [path for path in pc.unique(rows.column(_PATH)).to_pylist() if file_of(path) == file.path]
        chosen = rows.filter(pc.is_in(rows.column(_PATH), value_set=pa.array(here, rows.schema.field(_PATH).type)))
        return positions_at(chosen.column(_POSITION).to_pylist())
    except (pa.ArrowException, OSError, KeyError, OverflowError) as error:
        what, fix = "the position deletes of a data file cannot be read", "restore the delete file"
        why = f"{str(error).splitlines()[0]}; it deletes rows of {file.uri}"
        raise TableError("LP375", what, where=delete.uri, why=why, fix=fix) from error
