"""The model of Delta Spark's own skipping beside Spark's own plan: the same number of files, predicate by predicate.

The report shows the model's count as what Delta Spark reads, so that a bound is not enough: every shape that people write is
equal. Of random predicates nine in ten are; the others are ones that Spark's optimizer folds further. `make test` runs a share.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from deltalake import write_deltalake
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.engines.spark.lines import unlogged
from lakeprune.errors import PredicateError
from lakeprune.formats.delta.spark_scan import planned_scan
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.scope import IS_WHOLE
from tests.soundness.delta_log import arrow_rows
from tests.soundness.tables import Table, random_table
from tests.spark.hunt import by_spark, hunted_table
from tests.spark.test_verify_random import plain

pytestmark = pytest.mark.spark
SHAPES = (
    "id IN (5, 1995)", "id IN (5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1995)", "id = 5 OR id = 1995", "p = 1 OR id = 5",
    "(p = 1 AND id < 300) OR (p = 2 AND id > 1700)", "(p = 1 OR p = 2) AND id < 300", "p IN (1, 3)", "p % 2 = 0",
    "year(ts) = 2024", "year(d) = 2024", "trunc(d, 'YEAR') = '2024-01-01'", "month(ts) = 5",
    "date_trunc('MONTH', ts) = '2023-05-01'", "date_format(ts, 'yyyy-MM') = '2023-05'", "date(ts) = '2023-05-29'",
    "to_date(ts) = '2023-05-29'", "CAST(ts AS DATE) BETWEEN '2023-05-01' AND '2023-05-30'", "unix_timestamp(ts) >= 1717200000",
    "CAST(ts AS BIGINT) >= 1717200000", "ts >= '2024-06-01'", "ts >= DATE'2024-06-01'", "tn >= TIMESTAMP'2024-06-01 00:00:00'",
    "d >= TIMESTAMP'2024-06-01 00:00:00'", "coalesce(id, 0) = 505", "greatest(id, 0) < 100", "abs(id) < 50",
    "CASE WHEN id < 100 THEN true ELSE false END", "if(id < 100, 1, 0) = 1", "id + 1 = 506", "id * 2 = 1010", "-id > -50",
    "id - 5 < 0", "id / 100 = 5", "CAST(id AS INT) = 505", "CAST(id AS STRING) = '505'", "id = '505'", "id = 505.0", "id < 50.5",
    "v = 50", "dec = 505", "id = 505.5", "NOT (id < 1900)", "NOT (id BETWEEN 100 AND 1899)", "i != 3", "NOT (i IN (3, 4))",
    "NOT (i = 3 OR i = 4)", "NOT (s LIKE 'b%')", "id <=> 505", "n <=> 601", "n IS NOT NULL", "n IS NULL AND id < 300",
    "s LIKE 'b%'", "s LIKE 'b0%'", "s LIKE 'b05'", "startswith(s, 'b')", "s LIKE 'b_5'", "s RLIKE '^b'",
    "substr(s, 1, 1) = 'b'", "left(s, 1) = 'b'", "upper(s) = 'B05'", "concat(s, 'x') = 'b05x'", "st.x = 505", "st.y LIKE 'f%'",
    "z = 505", "z = 505 OR id = 505", "z = 505 AND id < 600", "id > a", "id = a", "bb", "NOT bb", "bb IS NULL",
    "array_contains(array(5L, 505L), id)", "exists(array(5L, 505L), e -> e = id)",
    "ts > '2023-02-07 00:00:05.000999'", "id >= 100 AND id < 200 AND p = 1", "id > 1e3", "id BETWEEN 10 AND 5",
    "v > 150", "v >= double('NaN')", "v != 3.5", "NOT (v > 10)", "v IN (1, 2)", "v <=> 7.5", "isnan(v)", "p IS NULL", "p = 7",
    "s IN ('a01', 'a02')", "s >= 't'", "s = ''", "length(s) = 3", "d IN (DATE'2023-01-01', DATE'2023-02-07')", "d = '2023-02-07'",
    "d + INTERVAL 1 DAY = '2023-02-08'", "ts IN ('2023-01-01')", "dec > 1000.005", "dec IN (1, 2.5)", "NOT (n IS NULL)",
    "n = 601 OR n IS NULL",
    "n != 601", "id > 100 AND (p = 1 OR s = 'a')", "TRUE", "FALSE", "id = NULL", "1 = 1 AND id = 5", "id = 5 AND id = 1995",
    "id < 100 OR FALSE", "(id < 100) = true", "(id < 100) IS TRUE", "(id < 100) IS NOT FALSE", "id < 100 OR id IS NULL",
    "p = 1 AND p = 2",
    "CAST(p AS STRING) = '1'", "concat(p, '') = '2'", "id >= i * 100", "st.x IN (1, 2)", "st IS NULL", "st.y = 'f' OR st.x < 100",
    "id <> 5", "id NOT IN (5)", "NOT (id = 5 AND i = 0)", "NOT (id = 5 OR p = 1)", "i = 3 OR (i = 4 AND z = 1)", "id = i",
    "-5 < id", "dec > '1000'", "s NOT IN ('a01', NULL)", "dec > 1000.00",
    # a column that is NULL in whole files
    "n % 7 = 3", "n + 1 = 602", "abs(n) % 3 = 1", "n > a", "n = v", "n != dec", "coalesce(n, 0) = 5", "NOT (n % 7 = 3)",
    "n % 7 = 3 OR id < 0", "CAST(n AS STRING) = '601'", "round(n) = 601", "n IN (601, a)", "n IN (601, 602)", "n NOT IN (3)",
    "greatest(n, 5) = 601", "upper(ns) = 'W601'", "concat(ns, 'x') = 'w601x'", "ns || 'x' = 'w601x'", "length(ns) = 4",
    "substr(ns, 2) = '601'", "ns RLIKE '6'", "ns LIKE '%6%'", "ns NOT LIKE 'w6%'", "NOT (ns LIKE '%6%')",
    "replace(ns, 'w') = '601'",
    "trim(ns) = 'w601'", "contains(ns, '6')", "endswith(ns, '1')", "if(n > 600, 1, 0) = 1", "nullif(n, 3) = 601", "n <=> NULL",
    "CASE WHEN n > 600 THEN true END", "n IS NULL OR n % 2 = 0", "n % 2 = 0 AND ns LIKE '%1'", "isnull(n)", "-n < -1900",
    "n * 2 = 1202", "n / 2 = 300.5", "floor(n / 2) = 300", "n BETWEEN 600 AND 602", "st.x % 7 = 3",
)  # fmt: skip


@pytest.mark.parametrize("where", SHAPES if IS_WHOLE else SHAPES[::6])
def test_a_shape_of_predicate(where: str, t20: Path, spark: SparkSession) -> None:
    modelled, planned = counts(spark, t20, where)
    assert modelled == planned


@pytest.mark.parametrize(
    "where",
    [
        "struct(id, i) = struct(505L, 5)",  # lakeprune compares the fields, Delta nothing
        "(n > 600) = (id > 600)",
    ],
)
def test_what_the_model_is_known_to_count_otherwise(where: str, t20: Path, spark: SparkSession) -> None:
    """The documentation names them; whoever mends one moves it to the shapes."""
    modelled, planned = counts(spark, t20, where)
    assert modelled != planned


@pytest.mark.parametrize("seed", range(24) if IS_WHOLE else [1])
def test_random_predicates(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    """Spark's optimizer folds more than the model does: there the model says more files, never fewer."""
    found: list[str] = []
    compared = compare(seed, 30 if IS_WHOLE else 6, spark, tmp_path, found)
    assert compared["modelled fewer"] == 0, found
    assert compared["equal"] > 2 * compared["modelled more"], found


def compare(seed: int, count: int, spark: SparkSession, folder: Path, found: list[str]) -> Counter[str]:
    """Random predicates on a table by deltalake or by Spark; what differs is added to `found`."""
    rng = Random(f"model {seed}")
    tally: Counter[str] = Counter()
    if seed % 2:
        table = hunted_table(rng, "UTC", with_partitions=False)
        by_spark(table, folder / "lake", [], spark)
    else:
        table = by_deltalake(plain(random_table(rng)), folder / "lake")
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    for _ in range(count):
        where = say(random_predicate(table.columns, "UTC", rng, judged=False)).spark
        try:
            modelled, planned = counts(session, folder / "lake", where)
        except (PySparkException, PredicateError):
            tally["refused"] += 1
            continue
        tally["equal" if modelled == planned else "modelled fewer" if modelled < planned else "modelled more"] += 1
        if modelled != planned:
            found.append(f"seed {seed}: modelled {modelled}, Spark plans {planned}: {where}")
    return tally


def by_deltalake(table: Table, lake: Path) -> Table:
    for file in table.files:
        if file.rows:
            write_deltalake(lake, arrow_rows(table, file), mode="append")
    return table


def counts(spark: SparkSession, place: Path, where: str) -> tuple[int, int]:
    """What the report says Delta Spark reads, and what Spark plans to read."""
    report = lakeprune.explain(place, where, timezone="UTC")
    (engine,) = report.engines
    with unlogged():
        return engine.files, planned_scan(spark.read.format("delta").load(str(place)).where(where)).files
