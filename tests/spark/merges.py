"""Random targets, sources and MERGEs, and the same MERGE as users write it, for tests that compare the two."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lakeprune.apps.statements.merge.clauses import clauses_of

COLUMNS = "id BIGINT, k STRING, d DATE, ts TIMESTAMP, x DOUBLE, m DECIMAL(10,2), p INT, v INT"
WORDS = ("", "a", "b'c", "d\\e", "é", "zz", "Z", "a b", "%_", "\U0001f600")
ONS = (
    "t.id = s.id",
    "t.id = s.id AND t.p = s.p",
    "s.k = t.k AND t.id = s.id",
    "t.d = s.d AND (t.id = s.id AND t.p > 0)",
    "t.ts = s.ts AND t.id = s.id",
    "t.x = s.x AND t.id <=> s.id",
    "t.m = s.m AND t.id = s.id",
    "t.id <=> s.id AND t.k <=> s.k",
    "t.id = s.word",
    "t.id + 1 = s.id",
    "s.v > 2 AND t.id = CAST(s.word AS INT) AND t.k IS NOT NULL",
    "t.id = s.id + 100 AND t.v BETWEEN 1 AND 6",
    "t.p = s.p AND t.id BETWEEN s.id AND s.id + 1",
)
Clauses = Sequence[tuple[str, Any]]
CLAUSES: tuple[Clauses, ...] = (
    (("when_matched_update", "all"), ("when_not_matched_insert", "all")),
    (("when_matched_update", "v = s.v + t.v, m = 0"),),
    (("when_matched_update", "AND t.v > 3 THEN v = -1"),),
    (("when_matched_delete", True),),
    (("when_matched_delete", "AND s.v < 3"), ("when_matched_update", "AND t.v IS NOT NULL THEN k = 'new'")),
    (
        ("when_matched_delete", "AND t.id < 60 AND s.v > 1"),
        ("when_not_matched_insert", "AND s.v > 4 THEN id = s.id, p = 7, v = s.v"),
    ),
    (("when_not_matched_insert", "all"),),
    (("when_not_matched_insert", "AND s.p = 1 THEN all"), ("when_not_matched_insert", "AND s.p = 2 THEN id = -s.id, p = s.p")),
    (("when_matched_update", "v = 0"), ("when_not_matched_by_source_delete", "AND t.v = 2")),
    (("when_not_matched_insert", "all"), ("when_not_matched_by_source_update", "AND t.id BETWEEN 30 AND 40 THEN v = 9")),
    (("when_matched_delete", True), ("when_not_matched_insert", "AND s.v > 3 THEN all")),
    (
        ("when_matched_update", "all"),
        ("when_not_matched_insert", "all"),
        ("when_not_matched_by_source_update", "AND t.id < 20 THEN v = 100"),
        ("when_not_matched_by_source_delete", "AND t.id > 110"),
    ),
)


def some_rows(chance: random.Random, ids: Sequence[int | None]) -> list[tuple[Any, ...]]:
    """A row for each id; the other values follow from it, or are NULL, or are anything."""
    return [_row(chance, identity) for identity in ids]


def _row(chance: random.Random, identity: int | None) -> tuple[Any, ...]:
    number = identity if identity is not None else chance.randrange(120)
    strayed = number + chance.choice((0, 0, 0, 0, 1, 50))

    def maybe(value: Any) -> Any:
        return None if chance.random() < 0.08 else value

    return (
        identity,
        maybe(WORDS[strayed % len(WORDS)] + str(strayed // 20)),
        maybe(dt.date(2024, 1, 1) + dt.timedelta(days=strayed)),
        maybe(dt.datetime(2024, 3, 30, 22) + dt.timedelta(minutes=7 * strayed, microseconds=strayed)),
        maybe(chance.choice((float("nan"), float("inf"), -0.0, 1e300)) if chance.random() < 0.1 else strayed / 8),
        maybe(Decimal(strayed) / 4),
        number // 30,
        maybe(chance.randrange(8)),
    )


def make_target(spark: SparkSession, path: Path, chance: random.Random, *, by: str | None, properties: str = "") -> Path:
    """Six files and more, ids about in order, some NULL."""
    partitioned = f"PARTITIONED BY ({by})" if by else ""
    said = f"TBLPROPERTIES ({properties})" if properties else ""
    spark.sql(f"CREATE TABLE delta.`{path}` ({COLUMNS}) USING delta {partitioned} {said}")
    ids: list[int | None] = list(range(120))
    for _ in range(12):
        swap = chance.randrange(119)
        ids[swap], ids[swap + 1] = ids[swap + 1], ids[swap]
    ids[7], ids[77] = None, None
    sliced = spark.sparkContext.parallelize(some_rows(chance, ids), 6)
    spark.createDataFrame(sliced, COLUMNS).write.format("delta").mode("append").save(str(path))
    return path


def make_source(spark: SparkSession, chance: random.Random) -> DataFrame:
    """Keys of the target and others, in a cluster or two; sometimes none, sometimes with NULL, sometimes twice."""
    start = chance.randrange(100)
    ids: list[int | None] = [*range(start, start + chance.randrange(1, 25)), *chance.sample(range(115, 150), chance.randrange(4))]
    ids = [*dict.fromkeys(ids)]
    if chance.random() < 0.3:
        ids.append(None)
    if chance.random() < 0.15:
        ids.append(ids[0])
    if chance.random() < 0.1:
        ids = [None] if chance.random() < 0.5 else []
    rows = [(*row, None if row[0] is None else f" {row[0]} ") for row in some_rows(chance, ids)]
    return spark.createDataFrame(rows, f"{COLUMNS}, word STRING").coalesce(1)


def merge_sql(table: Path, on: str, clauses: Clauses) -> str:
    """The statement as users write it, from a view named source_rows."""
    whens = " ".join(clause.text for clause in clauses_of(clauses))
    return f"MERGE INTO delta.`{table}` AS t USING source_rows AS s ON {on} {whens}"
