"""Generated Delta logs of the size that matters: a Parquet checkpoint, newer commits, no data files (a plan opens none).

The checkpoint has the layout Delta Spark writes: protocol, metaData and add actions in one file, nullable columns, Snappy, row
groups of about 128 MB before compression, pages of 1 MB. `rewritten_by_deltalake` lets delta-rs write its own: one row group,
uncompressed. Both peers open every one of these logs. Run as a process of its own (`python -m bench.logs SHAPE FOLDER`), so
that the memory the generator needs is never counted as a contender's.
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from demo.delta_log import Action, metadata, protocol, remove, write_commit

NEWER_COMMITS = 10
ADDS_PER_COMMIT = 20
REMOVES_PER_COMMIT = 5
ROW_GROUP_BYTES = 128 * 1024 * 1024
PAGE_BYTES = 1024 * 1024

_TEXT_MAP = "MAP(VARCHAR, VARCHAR)"
_NO_ADD = (
    f"NULL::STRUCT(path VARCHAR, partitionValues {_TEXT_MAP}, size BIGINT, modificationTime BIGINT, dataChange BOOLEAN, "
    f"tags {_TEXT_MAP}, stats VARCHAR) AS add"
)
_NO_REMOVE = "NULL::STRUCT(path VARCHAR, deletionTimestamp BIGINT, dataChange BOOLEAN) AS remove"
_NO_METADATA = (
    f"NULL::STRUCT(id VARCHAR, name VARCHAR, description VARCHAR, format STRUCT(provider VARCHAR, options {_TEXT_MAP}), "
    f'schemaString VARCHAR, partitionColumns VARCHAR[], configuration {_TEXT_MAP}, createdTime BIGINT) AS "metaData"'
)
_NO_PROTOCOL = "NULL::STRUCT(minReaderVersion INTEGER, minWriterVersion INTEGER) AS protocol"
_NO_TXN = "NULL::STRUCT(appId VARCHAR, version BIGINT, lastUpdated BIGINT) AS txn"


@dataclass(frozen=True)
class Shape:
    """How large a log is; `checkpointed=False` leaves every file in JSON commits."""

    name: str
    files: int
    columns: int
    commits: int = NEWER_COMMITS
    checkpointed: bool = True
    rewritten_by_deltalake: bool = False
    parts: int = 1  # files of the checkpoint


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("200k-x3", 200_000, 3),
        Shape("160k-x31", 160_000, 31),
        Shape("160k-x3", 160_000, 3),
        Shape("1m-x3", 1_000_000, 3),
        Shape("1m-x3-deltalake", 1_000_000, 3, rewritten_by_deltalake=True),
        Shape("1m-parts", 1_000_000, 3, parts=4),
        Shape("10m-parts", 10_000_000, 3, parts=40),
        Shape("2000-commits", 40_000, 3, commits=2000, checkpointed=False),
    )
}


def generate(shape: Shape, path: Path) -> None:
    """The log of this shape in a folder that must not exist yet."""
    log = path / "_delta_log"
    log.mkdir(parents=True)
    start = 0
    if shape.checkpointed:
        start = shape.files
        _write_checkpoint(shape, log)
    else:
        write_commit(log, 0, [protocol(), _metadata(shape)])
    adds = _adds(shape, range(start, start + shape.commits * ADDS_PER_COMMIT))
    gone = _adds(shape, range(shape.commits * REMOVES_PER_COMMIT))
    for commit in range(shape.commits):
        added = adds[commit * ADDS_PER_COMMIT : (commit + 1) * ADDS_PER_COMMIT]
        removed = gone[commit * REMOVES_PER_COMMIT : (commit + 1) * REMOVES_PER_COMMIT]
        actions = [*({"add": add} for add in added), *(remove(add["path"]) for add in removed)]
        write_commit(log, commit + 1, actions)
    if shape.rewritten_by_deltalake:
        _rewrite_checkpoint(shape, path)


def _write_checkpoint(shape: Shape, log: Path) -> None:
    per_part = -(-shape.files // shape.parts)
    for part in range(shape.parts):
        files = range(part * per_part, min((part + 1) * per_part, shape.files))
        name = f"{0:020d}.checkpoint"
        if shape.parts > 1:
            name += f".{part + 1:010d}.{shape.parts:010d}"
        _write_part(shape, log / f"{name}.parquet", files)
    # The commit that the checkpoint stands for: readers may list it, nobody needs to parse it.
    write_commit(log, 0, [protocol(), _metadata(shape)])
    pointer = {"version": 0, "size": shape.files + 2} | ({"parts": shape.parts} if shape.parts > 1 else {})
    (log / "_last_checkpoint").write_text(json.dumps(pointer), encoding="utf-8")


def _write_part(shape: Shape, path: Path, files: range) -> None:
    """One file of a checkpoint; the first has the protocol and the table's metadata before its files."""
    head = _metadata(shape)["metaData"]
    adds = f"SELECT {_add_struct(shape)} AS add FROM range({files.start}, {files.stop}) AS r(n)"
    with duckdb.connect() as db:
        db.execute(
            f"CREATE TEMP TABLE head AS SELECT {_NO_TXN}, {_NO_ADD}, {_NO_REMOVE}, {_NO_METADATA}, "
            "{'minReaderVersion': 1, 'minWriterVersion': 2} AS protocol"
        )
        db.execute(
            "INSERT INTO head BY NAME SELECT {'id': ?, 'name': NULL, 'description': NULL, "
            "'format': {'provider': 'parquet', 'options': MAP {}}, 'schemaString': ?, 'partitionColumns': ['day'], "
            "'configuration': MAP {}, 'createdTime': ?} AS \"metaData\"",
            [head["id"], head["schemaString"], head["createdTime"]],
        )
        ((row_bytes,),) = db.execute(f"SELECT avg(strlen(add.stats) + 60) FROM ({adds} LIMIT 1000)").fetchall()
        first = "FROM head" if files.start == 0 else "FROM head LIMIT 0"
        actions = db.sql(f"({first}) UNION ALL BY NAME {adds}").to_arrow_table()
    # pyarrow, because its pages are of the size Spark's are (1 MB); DuckDB writes pages as large as the row group.
    pq.write_table(
        actions, path, compression="snappy", row_group_size=int(ROW_GROUP_BYTES / row_bytes), data_page_size=PAGE_BYTES
    )


def _rewrite_checkpoint(shape: Shape, path: Path) -> None:
    from deltalake import DeltaTable

    DeltaTable(path).create_checkpoint()
    log = path / "_delta_log"
    (log / f"{0:020d}.checkpoint.parquet").unlink()
    for version in range(shape.commits):
        (log / f"{version:020d}.json").unlink()
    last = shape.files + shape.commits * ADDS_PER_COMMIT
    write_commit(log, shape.commits + 1, [{"add": add} for add in _adds(shape, range(last, last + ADDS_PER_COMMIT))])


def _add_struct(shape: Shape) -> str:
    """The add action of file `n`, as SQL: a few hundred files per day, ids rising with time, values of every column in bounds."""
    day = f"strftime(DATE '2024-01-01' + ((n * 365) // {max(shape.files, 1)})::INTEGER, '%Y-%m-%d')"
    path = f"'day=' || {day} || '/part-' || lpad(n::VARCHAR, 8, '0') || '-c000.snappy.parquet'"
    columns = _columns(shape)
    lows = " || ',' || ".join(f"'\"{name}\":' || {low}" for name, _, low, _ in columns)
    highs = " || ',' || ".join(f"'\"{name}\":' || {high}" for name, _, _, high in columns)
    nulls = ",".join(f'"{name}":0' for name, *_ in columns)
    stats = (
        f'\'{{"numRecords":1000,"minValues":{{\' || {lows} || \'}},"maxValues":{{\' || {highs} || '
        f"'}},\"nullCount\":{{{nulls}}}}}'"
    )
    return (
        f"{{'path': {path}, 'partitionValues': MAP {{'day': {day}}}, 'size': 1000000 + n % 1000, "
        f"'modificationTime': 1704067200000 + n, 'dataChange': true, 'tags': NULL::{_TEXT_MAP}, 'stats': {stats}}}"
    )


def _columns(shape: Shape) -> list[tuple[str, str, str, str]]:
    """Name, type, minimum and maximum (SQL that prints JSON) of each statistics column."""
    instant = "strftime(TIMESTAMP '2024-01-01' + to_seconds(((n * 31536000) // {files}){more}), '\"%Y-%m-%dT%H:%M:%S.%gZ\"')"
    first, last = (instant.format(files=max(shape.files, 1), more=more) for more in ("", " + 60"))
    kind = "'\"' || ['click', 'order', 'refund', 'view'][1 + n % 4] || '\"'"
    base = [("id", "long", "n * 1000", "n * 1000 + 999"), ("at", "timestamp", first, last), ("kind", "string", kind, kind)]
    wide = [
        (f"c{i:02d}", "long", f"(n * {i + 7}) % 100003", f"(n * {i + 7}) % 100003 + {i + 1}") for i in range(shape.columns - 3)
    ]
    return [*base, *wide]


def _adds(shape: Shape, numbers: range) -> list[dict[str, Any]]:
    query = f"SELECT {_add_struct(shape)} FROM range({numbers.start}, {numbers.stop}) AS r(n)"
    return [add for (add,) in duckdb.execute(query).fetchall()]


def _metadata(shape: Shape) -> Action:
    return metadata({"day": "date", **{name: type_ for name, type_, _, _ in _columns(shape)}}, ["day"])


def main(arguments: list[str]) -> None:
    name, folder = arguments
    unfinished = Path(f"{folder}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    generate(SHAPES[name], unfinished)
    unfinished.rename(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
