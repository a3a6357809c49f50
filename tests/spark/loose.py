"""Spark's grammar against ours: loosely typed predicates on every combination of a few values, one row per file."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from lakeprune.planning.opening import At, open_planner
from lakeprune.planning.session import profile_of
from tests.builders.delta import add, featured, metadata, statistics, write_log
from tests.generator.loose import Loose
from tests.spark.hunt import Tally, Verdicts, judge, verdicts_of
from tests.spark.truths import FILE, accepted, set_ansi, truths

X, Y, S, B = (None, 0, 1, 2, -1), (1, 3), ("a", "ab", None), (True, False)
ROWS = [(x, y, S[n % 3], B[n % 2], f"2024-01-0{n % 3 + 1}") for n, (x, y) in enumerate(product(X, Y))]


def loose_hunt(seed: int, count: int, spark: SparkSession, folder: Path, tally: Tally) -> None:
    rng = Random(f"loose {seed}")
    names = [f"f{n}" for n in range(len(ROWS))]
    files = []
    for n, (x, y, s, b, d) in enumerate(ROWS):
        known = {"y": (y, y, 0), "b": (b, b, 0), "d": (d, d, 0), "x": (x, x, int(x is None)), "s": (s, s, int(s is None))}
        files.append(add(names[n], size=1 << n, stats=statistics(1, **known)))
    head = [featured("timestampNtz"), metadata({"x": "integer", "y": "integer", "s": "string", "b": "boolean", "d": "date"})]
    planner = open_planner(
        write_log(folder / "lake", [[*head, *files]]), At(), profile_of("UTC", nan_policy="strict")[0], access={}
    )
    frame = rows(spark)
    loose = Loose(rng)
    asked = [loose.predicate() for _ in range(count)]
    tally.counts["tables of loose predicates"] += 1
    known_verdicts: dict[str, Verdicts] = {}
    for is_ansi in (False, True):
        set_ansi(frame, is_on=is_ansi)
        wheres = [where for where, type_ in accepted(frame, asked) if type_ == "boolean"]
        known_verdicts |= verdicts_of(planner, names, [where for where in wheres if where not in known_verdicts], tally)
        for answers in truths(frame, [where for where in wheres if where in known_verdicts]):
            judge(answers, known_verdicts[answers.where], f"loose seed {seed}, ANSI {is_ansi}", tally)


def rows(spark: SparkSession) -> DataFrame:
    session = spark.newSession()
    made = session.createDataFrame(
        [(f"f{n}", *row) for n, row in enumerate(ROWS)], f"{FILE} STRING, x INT, y INT, s STRING, b BOOLEAN, d STRING"
    )
    return made.withColumn("d", col("d").cast("date")).coalesce(1).localCheckpoint()
