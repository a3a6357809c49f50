"""A sharpened DataFrame has the rows of the one it was made of: random queries, and random predicates on random tables.

ANSI mode on and off, time zones with odd clocks, NULL, NaN that statistics hide, partitions, deletion vectors.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakeprune.engines.spark.lines import unlogged
from lakeprune.formats.delta import spark_usable
from lakeprune.spark import sharpening
from tests.scope import IS_WHOLE
from tests.spark.hunt import ZONES, by_deltalake, by_spark, hunted_table, partition_of, predicates
from tests.spark.shapes import random_query, use_tables, write_tables
from tests.spark.truths import accepted, rows_of, set_ansi

pytestmark = pytest.mark.spark
QUERIES, SEEDS, PREDICATES = (150, 12, 60) if IS_WHOLE else (6, 1, 5)


def test_a_query_of_any_shape_has_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    write_tables(spark, tmp_path)
    wrong: list[str] = []
    tally = shaped(3, QUERIES, spark, tmp_path, wrong)
    assert wrong == []
    assert tally["sharpened"] > 0, "a hunt in which nothing is sharpened proves nothing"


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_predicate_has_the_same_rows(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    wrong: list[str] = []
    tally = hunted(seed, PREDICATES, spark, tmp_path, wrong)
    assert wrong == []
    assert tally["same"] > 0


def test_a_condition_that_nan_satisfies_would_lose_a_row(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control: deltalake leaves NaN out of the maximum, and Delta Spark trusts the maximum."""
    import pyarrow as pa
    from deltalake import write_deltalake

    for values in ([1.0, float("nan")], [2.0, 3.0], [7.0, 9.0]):
        write_deltalake(tmp_path / "t", pa.table({"v": values}), mode="append")
    frame = spark.read.format("delta").load(str(tmp_path / "t")).where("abs(v) > 5")
    expected = answer(frame)
    assert len(expected) == 3
    assert answer(sharpening(frame).frame) == expected
    monkeypatch.setattr(spark_usable, "_may_be_nan", lambda _member: False)
    assert answer(sharpening(frame).frame) != expected


def shaped(seed: int, count: int, spark: SparkSession, folder: Path, wrong: list[str]) -> Counter[str]:
    rng = Random(f"sharpened shapes {seed}")
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", rng.choice(["UTC", "Europe/Berlin"]))
    use_tables(session, folder)
    tally: Counter[str] = Counter()
    for _ in range(count):
        text = random_query(rng)
        session.conf.set("spark.sql.ansi.enabled", rng.choice(["true", "false"]))
        judge(session.sql(text) if accepts(session, text) else None, text, tally, wrong, joins=rng.random() < 0.5)
    return tally


def hunted(seed: int, count: int, spark: SparkSession, folder: Path, wrong: list[str]) -> Counter[str]:
    rng = Random(f"sharpened {seed}")
    zone = ZONES[seed % len(ZONES)]
    table = hunted_table(rng, zone, with_partitions=False)
    writer: Any = by_spark if seed % 2 else by_deltalake
    writer(table, folder / "lake", partition_of(table, rng), spark)
    frame = rows_of(spark, folder / "lake", zone)
    set_ansi(frame, is_on=False)
    asked = predicates(frame, table, zone, rng, count)
    tally: Counter[str] = Counter()
    session = spark.newSession()  # that of `frame` skips nothing
    session.conf.set("spark.sql.session.timeZone", zone)
    for is_ansi in (False, True):
        set_ansi(frame, is_on=is_ansi)
        session.conf.set("spark.sql.ansi.enabled", str(is_ansi).lower())
        for where in [where for where, type_ in accepted(frame, asked) if type_ == "boolean"]:
            rows = session.read.format("delta").load(str(folder / "lake")).where(where)
            judge(rows, f"seed {seed}, {zone}, ANSI {is_ansi}: {where}", tally, wrong, joins=False)
    return tally


def judge(frame: DataFrame | None, text: str, tally: Counter[str], wrong: list[str], *, joins: bool) -> None:
    with unlogged():
        try:
            expected = None if frame is None else answer(frame)
        except PySparkException:
            expected = None
        if frame is None or expected is None:
            tally["refused by Spark"] += 1
            return
        found = sharpening(frame, joins=joins)
        tally["sharpened" if found.added else "as it was"] += 1
        same = answer(found.frame) == expected
    tally["same" if same else "wrong"] += 1
    if not same:
        wrong.append(f"{text}\n{found.added}")


def accepts(session: SparkSession, text: str) -> bool:
    try:
        session.sql(text)
    except PySparkException:
        return False
    return True


def answer(frame: DataFrame) -> list[str]:
    return sorted(row[0] for row in frame.selectExpr("to_json(struct(*))").collect())
