"""Random tables as nothing but a log, with the rows that its files would hold, and random predicates over them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import duckdb

from tests.builders.delta import PROTOCOL, add, metadata, statistics, write_log

Row = tuple[str | None, int | None, str | None, int | None]  # day, bucket (partitions), name, amount
COLUMNS = {"day": "date", "bucket": "integer", "name": "string", "amount": "long"}
NAMES = (None, "a", "b", "bb", "c")
DAYS = (None, "2024-01-01", "2024-01-02", "2024-02-01")
LEAVES = (
    "day = '2024-01-01'",
    "day > '2024-01-01'",
    "day IS NULL",
    "bucket <> 1",
    "bucket IN (0, 2)",
    "name >= 'b'",
    "name IS NOT NULL",
    "amount < 3",
    "amount BETWEEN 1 AND 4",
    "amount % 2 = 0",
    "NOT (amount = 2)",
    "amount IS NULL",
)


def random_files(rng: Random) -> dict[str, list[Row]]:
    """The live rows of each file, by its path."""
    files = {}
    for number in range(rng.randint(0, 7)):
        day, bucket = rng.choice(DAYS), rng.choice((None, 0, 1, 2))
        low, names = rng.randint(0, 4), rng.sample(NAMES, rng.randint(1, 3))
        rows = [
            (day, bucket, rng.choice(names), rng.choice((None, low, low, rng.randint(0, 5)))) for _ in range(rng.randint(1, 4))
        ]
        files[f"part-{number}"] = rows
    return files


def written(root: Path, files: dict[str, list[Row]], rng: Random) -> Path:
    """The log of these files; some record no statistics, some only a count."""
    actions = []
    for path, rows in files.items():
        names, amounts = ([row[k] for row in rows] for k in (2, 3))
        stats: Any = statistics(len(rows), name=_bounds(names), amount=_bounds(amounts))
        stats = rng.choice((stats, stats, stats, statistics(len(rows)), None))
        bucket = rows[0][1]
        partition = {"day": rows[0][0], "bucket": None if bucket is None else str(bucket)}
        actions.append(add(path, stats, partition=partition, size=rng.randint(1, 1000)))
    return write_log(root, [[PROTOCOL, metadata(COLUMNS, ("day", "bucket")), *actions]])


def random_predicate(rng: Random) -> str | None:
    """Conjuncts, some of which are alternatives."""
    if rng.random() < 0.1:
        return None
    parts = [
        rng.choice(LEAVES) if rng.random() < 0.7 else f"({' OR '.join(rng.sample(LEAVES, 2))})" for _ in range(rng.randint(1, 3))
    ]
    return " AND ".join(parts)


class Rows:
    """The rows of a table, which a condition can be asked of."""

    def __init__(self, files: dict[str, list[Row]]) -> None:
        self._files = files

    def matching(self, conditions: list[str]) -> dict[str, set[int]]:
        """Per file the places of the rows on which every condition is TRUE, by brute force."""
        found: dict[str, set[int]] = {path: set() for path in self._files}
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE t (path TEXT, place INT, day DATE, bucket INT, name TEXT, amount BIGINT)")
            rows = [(path, place, *row) for path, several in self._files.items() for place, row in enumerate(several)]
            if rows:
                connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", rows)
            where = " AND ".join(f"({condition})" for condition in conditions) or "TRUE"
            for path, place in connection.execute(f"SELECT path, place FROM t WHERE {where}").fetchall():
                found[path].add(place)
        return found


def _bounds(values: list[Any]) -> tuple[Any, Any, int]:
    known = [value for value in values if value is not None]
    return (min(known) if known else None), (max(known) if known else None), len(values) - len(known)
