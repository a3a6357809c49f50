"""Random shared tables, written by deltalake: NULLs, NaN, missing statistics, deletion vectors, Unicode, microseconds.

Out: a table on disk, and its live rows in DuckDB with the number of the file that each lies in.
"""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
from msgspec import Struct

from tests.builders.deletion_vectors import inline_vector
from tests.builders.delta import write_table

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
TYPES: dict[str, pa.DataType] = {
    "p": pa.string(),
    "pd": pa.date32(),
    "pt": pa.timestamp("us", "UTC"),
    "i": pa.int32(),
    "l": pa.int64(),
    "x": pa.float64(),
    "f": pa.float32(),
    "S": pa.string(),
    "d": pa.date32(),
    "ts": pa.timestamp("us", "UTC"),
    "b": pa.bool_(),
}
PARTITIONS = ("p", "pd", "pt")
TEXTS = ["", "a", "A", "ab", "b", "é", "zz", "\uffee", "\U0001f600", "5", "10", "2021-04-29", "null", "it's"]
REALS = [0.0, -0.0, 1.0, 1.5, -2.25, 5.0, 0.1, 1e300, float("inf"), float("-inf"), float("nan"), float("nan")]
INTS = [-(2**31), -7, -1, 0, 1, 2, 3, 5, 10, 25, 2**31 - 1]
LONGS = [*INTS, 2**31, 2**32 + 5, -(2**33), 2**63 - 1]
DAYS = [-1, 0, 1, 18_745, 18_746, 18_747, -800_000, 3_000_000 - 70_000]
MICROS = [0, 1, 500, -500, 999, 1000, 3_000_500, -3_000_500, 3_000_000, 1_619_654_400_000_500, 1_619_654_400_999_999]


class Table(Struct, frozen=True):
    path: Path
    rows: duckdb.DuckDBPyConnection  # a table `rows`, with `file` beside the columns
    files: list[str]  # by number
    live: list[int]


def random_value(random: Random, name: str) -> Any:
    kind = TYPES[name]
    if kind == pa.string():
        return random.choice(TEXTS)
    if kind == pa.date32():
        return dt.date(1970, 1, 1) + dt.timedelta(days=random.choice([day for day in DAYS if day > -700_000]))
    if pa.types.is_timestamp(kind):
        return EPOCH + dt.timedelta(microseconds=random.choice(MICROS))
    if kind == pa.bool_():
        return random.random() < 0.5
    if kind == pa.float32():
        return pa.scalar(random.choice([real for real in REALS if real != 1e300]), pa.float32()).as_py()
    pools: dict[pa.DataType, list[Any]] = {pa.int32(): INTS, pa.int64(): LONGS, pa.float64(): REALS}
    return random.choice(pools[kind])


def random_table(random: Random, root: Path) -> Table:
    """A table of a few small files, one per commit."""
    tables = [_file(random) for _ in range(random.randint(2, 6))]
    write_table(root, tables, partition_by=list(PARTITIONS))
    rows = duckdb.connect()
    rows.execute("SET TimeZone = 'UTC'")
    paths: list[str] = []
    live: list[int] = []
    for number, table in enumerate(tables):
        log = root / "_delta_log" / f"{number:020d}.json"
        actions = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        added = next(action["add"] for action in actions if "add" in action)
        deleted = _changed(random, added, table.num_rows)
        log.write_text("".join(json.dumps(action) + "\n" for action in actions), encoding="utf-8")
        kept = table.take([row for row in range(table.num_rows) if row not in deleted])
        kept = kept.append_column("file", pa.array([number] * kept.num_rows, pa.int64()))
        rows.register("arriving", kept)
        rows.execute("CREATE TABLE rows AS FROM arriving" if number == 0 else "INSERT INTO rows FROM arriving")
        rows.unregister("arriving")
        paths.append(added["path"])
        live.append(kept.num_rows)
    return Table(root, rows, paths, live)


def _file(random: Random) -> pa.Table:
    count = random.randint(1, 5)
    columns: dict[str, list[Any]] = {}
    for name in TYPES:
        nulls = random.choice([0, 0, 0.3, 1]) if name not in PARTITIONS else random.choice([0, 0, 0, 1])
        pool = [random_value(random, name) for _ in range(1 if name in PARTITIONS else random.choice([1, 2, 5]))]
        if name == "p":
            pool = [text or "a" for text in pool]  # an empty text is NULL as a partition value
        columns[name] = [None if random.random() < nulls else random.choice(pool) for _ in range(count)]
        if name in PARTITIONS:
            columns[name] = [columns[name][0]] * count
    return pa.table({name: pa.array(values, TYPES[name]) for name, values in columns.items()})


def _changed(random: Random, added: dict[str, Any], count: int) -> set[int]:
    """What other writers do: no statistics, some of them missing, a deletion vector. Returns the rows that it hides."""
    roll = random.random()
    if roll < 0.15:
        added.pop("stats", None)
    elif roll < 0.3 and added.get("stats"):
        stats = json.loads(added["stats"])
        stats.pop(random.choice(["nullCount", "minValues", "maxValues"]), None)
        added["stats"] = json.dumps(stats)
    elif roll < 0.5 and count > 1:
        deleted = set(random.sample(range(count), random.randint(1, count - 1)))
        added["deletionVector"] = inline_vector(sorted(deleted))
        if added.get("stats"):
            added["stats"] = json.dumps({**json.loads(added["stats"]), "tightBounds": False})
        return deleted
    return set()
