"""The hunt for wrong drops: random predicates over every function, one row per file, judged by Spark with ANSI off and on.

With one row in a file every bound is the value itself, so a file is nearly always dropped or fully matched and every mistake of
a rule, a function or a time zone shows. Tables are deltalake's and Delta Spark's in turn, half of them partitioned, with the
statistics of their writers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from lakeprune.engines.spark.failures import unlogged
from lakeprune.errors import PredicateError
from lakeprune.planning.opening import At, open_planner
from lakeprune.planning.planner import Planner
from lakeprune.planning.session import profile_of
from lakeprune.programs.select import EVERY
from lakeprune.skipping.verdict import Verdict
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.generator.values import in_zone
from tests.scope import IS_WHOLE
from tests.soundness.delta_log import arrow_rows
from tests.soundness.tables import Table, random_table
from tests.spark.test_verify_random import plain

pytestmark = pytest.mark.spark
SEEDS = range(40 if IS_WHOLE else 1)
PREDICATES = 60 if IS_WHOLE else 20
ROWS = 24
# Clocks that change by an hour and by half an hour, by night and at midnight, and one that never does.
ZONES = ("Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns", "Asia/Kolkata", "America/Asuncion", "UTC")
PARTITION_TYPES = ("integer", "string", "date", "boolean", "decimal(10,2)", "timestamp", "double")
Truths = dict[str, bool | None]  # by the name of the file


@pytest.mark.parametrize("seed", SEEDS)
def test_no_file_with_a_match_is_dropped_and_none_without_is_fully_matched(
    seed: int, spark: SparkSession, tmp_path: Path
) -> None:
    rng = Random(f"hunt {seed}")
    zone = ZONES[seed % len(ZONES)]
    table = one_row_per_file(rng, zone)
    partition_by = partition_of(table, rng)
    if seed % 2:
        write_by_spark(table, tmp_path, partition_by, spark)
    else:
        write_by_deltalake(table, tmp_path, partition_by)
    planner = open_planner(tmp_path / "lake", At(), profile_of(zone)[0], access={})
    texts = [say(random_predicate(table.columns, zone, rng, judged=False)).spark for _ in range(PREDICATES)]
    tally: Counter[str] = Counter()
    wrong = []
    for is_ansi in (False, True):
        frame = read(spark, tmp_path / "lake", zone, is_ansi=is_ansi)
        for where, truths in judged(frame, texts):
            tally["judged"] += 1
            for name, verdict in verdicts(planner, where).items():
                tally[verdict.value] += 1
                is_wrong = (
                    truths[name] is True if verdict is Verdict.DROP else verdict is Verdict.FULL and truths[name] is not True
                )
                if is_wrong:
                    wrong.append(f"ANSI {is_ansi}, {zone}: {verdict.value} of {name}, which is {truths[name]}: {where}")
    assert wrong == []
    assert tally["judged"] > PREDICATES // 4, "Spark refused nearly every predicate"


def one_row_per_file(rng: Random, zone: str) -> Table:
    """The rows of some random tables of one schema, each in a file of its own."""
    table = plain(random_table(rng))
    columns = tuple(replace(c, pool=in_zone(c.pool, c.type, zone)) for c in table.columns)
    rows = [{c.path: None if rng.random() < 0.12 else rng.choice(c.pool) for c in columns} for _ in range(ROWS)]
    template = table.files[0]
    files = tuple(replace(template, name=f"{n}.parquet", rows=(row,), deleted=frozenset()) for n, row in enumerate(rows))
    return replace(table, columns=columns, files=files, zone=zone)


def partition_of(table: Table, rng: Random) -> list[str]:
    """One partition column, for every other table; its values are names of folders, which file systems limit."""
    simple = [
        c.path[0]
        for c in table.columns
        if len(c.path) == 1 and c.type in PARTITION_TYPES and all(len(str(value)) <= 20 for value in c.pool)
    ]
    return [rng.choice(simple)] if simple and len(table.columns) > 1 and rng.random() < 0.5 else []


def write_by_deltalake(table: Table, folder: Path, partition_by: list[str]) -> None:
    for file in table.files:
        write_deltalake(folder / "lake", arrow_rows(table, file), mode="append", partition_by=partition_by or None)


def write_by_spark(table: Table, folder: Path, partition_by: list[str], spark: SparkSession) -> None:
    rows = folder / "rows.parquet"
    pq.write_table(arrow_rows(table, replace(table.files[0], rows=tuple(row for file in table.files for row in file.rows))), rows)
    frame = spark.read.parquet(str(rows)).coalesce(1).repartition(ROWS)
    frame.write.format("delta").partitionBy(*partition_by).save(str(folder / "lake"))


def read(spark: SparkSession, lake: Path, zone: str, *, is_ansi: bool) -> DataFrame:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    session.conf.set("spark.sql.ansi.enabled", str(is_ansi).lower())
    session.conf.set("spark.databricks.delta.stats.skipping", "false")  # what Delta itself skips is no truth
    session.conf.set("spark.sql.parquet.filterPushdown", "false")
    return session.read.format("delta").load(str(lake))


def judged(frame: DataFrame, texts: Sequence[str]) -> Iterator[tuple[str, Truths]]:
    """Each predicate that Spark evaluates without an error, with its truth in every file; many in one query where none fails."""
    named = [f"({where}) AS m{n}" for n, where in enumerate(texts)]
    try:
        with unlogged():
            rows = frame.select(col("_metadata.file_name").alias("file"), "*").selectExpr("file", *named).collect()
    except PySparkException:
        if len(texts) > 1:
            half = len(texts) // 2
            yield from judged(frame, texts[:half])
            yield from judged(frame, texts[half:])
        return  # refused, or ANSI mode fails on some row: there is no truth
    for n, where in enumerate(texts):
        yield where, {row["file"]: row[f"m{n}"] for row in rows}


def verdicts(planner: Planner, where: str) -> dict[str, Verdict]:
    try:
        question = planner.ask(where)
    except PredicateError:
        return {}
    return {file.path.rsplit("/", 1)[-1]: file.signature.verdict for file in planner.select(question, EVERY)}
