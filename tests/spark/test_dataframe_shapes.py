"""Whatever the shape of a DataFrame: without the files that lakeprune drops it gives the same rows."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from random import Random
from urllib.parse import unquote

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakeprune.spark import explain
from tests.scope import IS_WHOLE
from tests.spark.shapes import random_query, use_tables, without_dropped, write_tables

pytestmark = pytest.mark.spark
SEED, QUERIES = 1, 150 if IS_WHOLE else 2


def test_a_query_gives_the_same_rows_without_the_dropped_files(spark: SparkSession, tmp_path: Path) -> None:
    write_tables(spark, tmp_path)
    wrong: list[str] = []
    tally = run(SEED, QUERIES, spark, tmp_path, wrong)
    assert wrong == []
    assert tally["files dropped"] > QUERIES, "a hunt in which nothing is dropped proves nothing"


def run(seed: int, count: int, spark: SparkSession, folder: Path, wrong: list[str]) -> Counter[str]:
    rng = Random(f"shapes {seed}")
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", rng.choice(["UTC", "Europe/Berlin"]))
    tally: Counter[str] = Counter()
    for number in range(count):
        text = random_query(rng)
        session.conf.set("spark.sql.ansi.enabled", rng.choice(["true", "false"]))
        session.conf.set("spark.sql.adaptive.enabled", rng.choice(["true", "false"]))
        use_tables(session, folder)
        try:
            expected = answer(session, text)
        except PySparkException:
            tally["queries that Spark refuses"] += 1
            continue
        report = explain(session, text, explain_why=rng.random() < 0.2)
        kept: dict[str, set[str]] = {}
        for section in report.sections:
            if section.report is not None:
                name = str(section.report.facts.location).rstrip("/").rsplit("/", 1)[-1]
                files = {unquote(file.path) for file in section.report.files if file.verdict.value != "DROP"}
                kept[name] = kept.get(name, set()) | files
                tally["scans"] += 1
                tally["files dropped"] += section.report.numbers.total.files - section.report.numbers.kept.files
        copy = folder / f"without{number}"
        without_dropped(folder, copy, kept)
        use_tables(session, copy)
        if answer(session, text) != expected:
            wrong.append(f"seed {seed}: {text}\n{report.to_text()[:1500]}")
        tally["queries"] += 1
        shutil.rmtree(copy)
    return tally


def answer(session: SparkSession, text: str) -> list[str]:
    return sorted(row[0] for row in session.sql(text).selectExpr("to_json(struct(*))").collect())
