"""Random tables and conditions: the verified files are those that Delta's own statement removes, the rows afterwards the same.

`make test` runs a few, `make conformance` many more. Every table is written by Delta Spark, with NULL, NaN, equal values across
files and files that match whole; every statement runs through lakeprune, by SQL on a copy, and without strengthening on another.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.apps.statements.planning import PlannedStatement
from tests.scope import IS_WHOLE
from tests.spark.statements import actions, by_sql, commits, copied, rows

pytestmark = pytest.mark.spark
SEEDS = range(8 if IS_WHOLE else 1)
STATEMENTS = 8 if IS_WHOLE else 2
COLUMNS = (
    "id",
    "CAST(IF(id % 23 = 0, NULL, id % 5) AS INT) AS k",
    "CASE WHEN id % 11 = 0 THEN double('NaN') WHEN id % 7 = 0 THEN NULL ELSE id / 4 END AS x",
    "CASE WHEN id % 9 = 0 THEN NULL ELSE concat(chr(CAST(97 + id DIV 40 AS INT)), id % 10) END AS s",
    "timestamp'2023-12-20 23:30:00' + make_dt_interval(CAST(id DIV 12 AS INT), CAST(id % 24 AS INT)) AS ts",
    "date'2024-01-01' + CAST(id DIV 30 AS INT) AS d",
    "named_struct('a', id DIV 10, 'b', concat('t', id % 4)) AS st",
    "id % 3 = 0 AS flag",
)
CONDITIONS = (
    "id IN ({i}, {j}, 17)", "id BETWEEN {i} AND {j}", "id + 1 = {i}", "abs(id - {i}) < 15", "id * 2 > {j}",
    "NOT id IN ({i}, {j})",
    "k = {k}", "k IN (1, {k}) AND id < {j}", "k IS NULL", "k <=> NULL OR id = {i}", "coalesce(k, 3) = {k}", "k % 2 = 1",
    "x > {k}", "x >= {i} / 4 AND x < {j} / 4", "isnan(x)", "x IS NULL AND k = {k}", "NOT (x < {k})", "x = {i} / 4",
    "s LIKE '{c}%'", "s = '{c}{k}'", "upper(s) = upper('{c}{k}')", "substring(s, 1, 1) IN ('{c}', 'a')", "s IS NULL OR s < '{c}'",
    "year(ts) = 2024 AND month(ts) = 1", "date(ts) = '2024-01-0{k}'", "hour(ts) = {k}", "date_trunc('WEEK', ts) = '2024-01-01'",
    "ts < '2024-01-0{k} 12:00:00'", "d = '2024-01-0{k}'", "dayofmonth(d) IN (1, {k})", "year(d) = 2024",
    "st.a = {k}", "st.b = 't{k}' AND id > {i}", "flag", "NOT flag AND id < {i}", "id = k", "crc32(CAST(k AS STRING)) % 2 = 0",
    "TRUE", "id < {i} OR k = {k} AND id > {j}", "(k = 1 AND id < {i}) OR (k = 2 AND id > {j})",
)  # fmt: skip
VALUES = ({"x": "x + 1"}, {"s": "NULL", "st.a": "-1"}, {"k": "(k + 1) % 4"}, {"ts": "ts + INTERVAL 40 DAYS", "d": "date(ts)"})


def condition(draw: Random) -> str:
    low, high = sorted(draw.sample(range(240), 2))
    filled = [text.format(i=low, j=high, k=draw.randrange(1, 5), c=draw.choice("abcdefg")) for text in draw.sample(CONDITIONS, 2)]
    return draw.choice([filled[0], f"({filled[0]}) AND ({filled[1]})", f"({filled[0]}) OR ({filled[1]})"])


def planned(table: Path, where: str, values: dict[str, str] | None, spark: SparkSession, *, strengthen: bool) -> PlannedStatement:
    if values is None:
        return lakeprune.delete(table, where=where, spark=spark, strengthen=strengthen)
    return lakeprune.update(table, values, where=where, spark=spark, strengthen=strengthen)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_statements_touch_the_files_and_rows_that_delta_touches(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    draw = Random(seed)
    mine = spark.newSession()
    mine.conf.set("spark.sql.session.timeZone", draw.choice(["UTC", "America/New_York", "Asia/Kolkata"]))
    mine.conf.set("spark.databricks.delta.properties.defaults.enableDeletionVectors", "false")
    table = tmp_path / "table"
    source = mine.range(0, 240, 1, draw.choice([4, 8])).selectExpr(*COLUMNS)
    writer = source.write.format("delta")
    (writer.partitionBy("k") if draw.random() < 0.5 else writer).save(str(table))
    for number in range(STATEMENTS):
        where, values = condition(draw), draw.choice([None, *VALUES])
        plain, weak = copied(table, f"plain{number}"), copied(table, f"weak{number}")
        by_sql(mine, plain, where, values)
        plan = planned(table, where, values, mine, strengthen=True)
        done = plan.execute()
        said = f"seed {seed}: {values} WHERE {where}\n{done.to_text()}"
        assert done.passed, said
        changed = {a["path"] for a in actions(plain, "remove")} if len(commits(plain)) > len(commits(weak)) else set()
        assert {file.path for file in plan.touched} == changed, said
        assert rows(mine, table) == rows(mine, plain), said
        if changed:
            ours, theirs = (actions(path, "commitInfo")[0]["operationMetrics"] for path in (table, plain))
            for name in ("numUpdatedRows", "numDeletedRows", "numCopiedRows", "numRemovedFiles"):
                assert ours.get(name) == theirs.get(name), said
        if plan.strengthening.condition is not None:
            assert planned(weak, where, values, mine, strengthen=False).execute().passed, said
            assert rows(mine, weak) == rows(mine, table), said
