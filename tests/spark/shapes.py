"""DataFrames of every shape, with conditions drawn at random; each table occurs once, so that every scan has its own files.

A query must give the same rows when the files that lakeprune drops are taken out of their tables: whatever Spark's optimizer made
of the query, a file with a row that matters may not be among them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from random import Random
from urllib.parse import unquote

from pyspark.sql import SparkSession

ROWS = (
    "id", "CAST(id DIV 10 % 3 AS INT) AS p", "CASE WHEN id % 7 = 0 THEN NULL ELSE CAST(id % 25 AS INT) END AS k",
    "CASE WHEN id % 11 = 0 THEN NULL ELSE concat(chr(97 + CAST(id DIV 20 AS INT)), id % 10) END AS s",
    "TIMESTAMP'2024-03-28 22:15:00' + make_dt_interval(CAST(id DIV 10 AS INT), CAST(id % 24 AS INT)) AS ts",
    "DATE'2024-01-01' + CAST(id DIV 10 * 9 AS INT) AS d", "CAST(id AS DECIMAL(20, 2)) / 4 AS m",
    "CASE WHEN id % 13 = 0 THEN double('NaN') WHEN id % 5 = 0 THEN NULL ELSE id / 8 END AS x",
    "named_struct('a', id, 'b', concat('t', id % 4)) AS st", "array(CAST(id AS INT), CAST(id % 3 AS INT)) AS arr",
    "map('k', CAST(id AS INT)) AS mp", "id % 3 = 0 AS f",
)  # fmt: skip
CONDITIONS = (
    "{t}.id < {i}", "{t}.id BETWEEN {i} AND {j}", "{t}.id IN ({i}, {j}, 7)", "{t}.p = {k}", "{t}.p <> {k}", "{t}.k = {k}",
    "{t}.k IS NULL", "{t}.s LIKE '{c}%'", "{t}.s > '{c}'", "year({t}.ts) = 2024 AND month({t}.ts) = 4", "{t}.d >= '2024-02-{d}'",
    "{t}.ts < '2024-04-0{k} 12:00:00'", "{t}.m > {i} / 4", "{t}.x > {k}", "isnan({t}.x)", "{t}.st.a = {i}", "{t}.st.b = 't{k}'",
    "array_contains({t}.arr, {i})", "exists({t}.arr, e -> e = {i})", "{t}.mp['k'] = {i}", "{t}.f", "NOT {t}.f AND {t}.id > {i}",
    "coalesce({t}.k, {k}) = {k}", "{t}.id % 10 = {k}", "CAST({t}.id AS STRING) = '{i}'", "plus_one({t}.id) = {i}",
    "{t}.id + 1 > {i} OR {t}.p = {k}", "CASE WHEN {t}.id < {i} THEN {t}.p = 1 ELSE {t}.k > 5 END", "{t}.id <=> {i}",
    "({t}.p = 1 AND {t}.id < {i}) OR ({t}.p = 2 AND {t}.id > {j})", "{t}.x IS NULL OR {t}.k > 20", "upper({t}.s) = 'B{k}'",
    "date_trunc('MONTH', {t}.ts) = '2024-04-01'", "{t}.d + INTERVAL 1 MONTH < '2024-03-{d}'", "substr({t}.s, 1, 1) = '{c}'",
)  # fmt: skip
SHAPES = (
    "SELECT * FROM t1 a WHERE {a}",
    "SELECT a.id, a.k + 1 AS q FROM t1 a WHERE {a} AND {a2}",
    "SELECT * FROM (SELECT id, p, k, s, ts, d, m, x, st, arr, mp, f, id * 2 AS twice FROM t1) a WHERE {a} AND a.twice > 20",
    "SELECT id AS x1, k AS id1 FROM t1 a WHERE {a}",
    "SELECT a.id, b.id, a.s FROM t1 a JOIN t2 b ON a.id = b.id WHERE {a} AND {b}",
    "SELECT a.id, b.id FROM t1 a JOIN t2 b ON a.id = b.id AND {a} AND {b}",
    "SELECT a.id, b.s FROM t1 a LEFT JOIN t2 b ON a.id = b.id AND {b} WHERE {a}",
    "SELECT a.id, b.s FROM t1 a LEFT JOIN t2 b ON a.id = b.id WHERE {a} AND {b}",
    "SELECT a.id, b.s FROM t1 a LEFT JOIN t2 b ON a.id = b.id AND {a}",
    "SELECT a.id, b.s FROM t1 a RIGHT JOIN t2 b ON a.id = b.id AND {a} WHERE {b}",
    "SELECT a.id, b.id AS other FROM t1 a FULL JOIN t2 b ON a.id = b.id AND {a} AND {b}",
    "SELECT a.id, b.id AS other FROM t1 a FULL JOIN t2 b ON a.id = b.id WHERE {a} OR b.id IS NULL",
    "SELECT a.id FROM t1 a LEFT SEMI JOIN t2 b ON a.id = b.id AND {b} WHERE {a}",
    "SELECT a.id FROM t1 a LEFT ANTI JOIN t2 b ON a.id = b.id AND {b} WHERE {a}",
    "SELECT a.id, b.id FROM t1 a CROSS JOIN t2 b WHERE {a} AND {b} AND a.id < b.id AND b.id < a.id + 4",
    "SELECT /*+ BROADCAST(b) */ a.id, b.k FROM t1 a JOIN t2 b ON a.p = b.p WHERE {b} AND {a}",
    "SELECT /*+ MERGE(b) */ a.id, b.k FROM t1 a JOIN t2 b ON a.id = b.k WHERE {b} AND {a}",
    "SELECT a.id, c.k FROM t1 a JOIN t2 b ON a.id = b.id JOIN t3 c ON b.k = c.id WHERE {a} AND {b} AND {c}",
    "SELECT a.id, b.x FROM t1 a JOIN t2 b USING (id) WHERE {a}",
    "SELECT a.id, b.id FROM t1 a JOIN t2 b ON a.id = b.id + 1 AND a.p = b.p WHERE {b}",
    "SELECT id, s FROM t1 a WHERE {a} UNION ALL SELECT id, s FROM t2 b WHERE {b}",
    "SELECT id FROM t1 a WHERE {a} UNION SELECT id FROM t2 b WHERE {b}",
    "SELECT * FROM (SELECT id, k, p FROM t1 UNION ALL SELECT id, k + 1, p FROM t2) a WHERE a.k < 9 AND a.id > {i}",
    "SELECT id, p FROM t1 a WHERE {a} INTERSECT SELECT id, p FROM t2 b WHERE {b}",
    "SELECT id, p FROM t1 a WHERE {a} EXCEPT SELECT id, p FROM t2 b WHERE {b}",
    "WITH w AS (SELECT * FROM t1 a WHERE {a}) SELECT w.id, b.s FROM w JOIN t2 b ON w.id = b.id WHERE {b}",
    "WITH w AS (SELECT id, p, count(*) AS n FROM t1 a WHERE {a} GROUP BY id, p) SELECT * FROM w WHERE n > 0 AND id < {j}",
    "SELECT * FROM t1 a WHERE {a} AND a.id IN (SELECT b.id FROM t2 b WHERE {b})",
    "SELECT * FROM t1 a WHERE {a} AND a.id NOT IN (SELECT b.id FROM t2 b WHERE {b})",
    "SELECT * FROM t1 a WHERE EXISTS (SELECT 1 FROM t2 b WHERE b.id = a.id AND {b}) AND {a}",
    "SELECT * FROM t1 a WHERE NOT EXISTS (SELECT 1 FROM t2 b WHERE b.id = a.id AND {b}) OR {a}",
    "SELECT * FROM t1 a WHERE a.id = (SELECT max(b.id) FROM t2 b WHERE {b}) OR {a}",
    "SELECT * FROM t1 a WHERE a.k > (SELECT avg(b.k) FROM t2 b WHERE b.p = a.p AND {b}) AND {a}",
    "SELECT a.id, (SELECT max(b.k) FROM t2 b WHERE b.id = a.id) AS top FROM t1 a WHERE {a}",
    "SELECT p, count(*), sum(id), max(s) FROM t1 a WHERE {a} GROUP BY p HAVING count(*) > 1",
    "SELECT p, f, count(*) FROM t1 a WHERE {a} GROUP BY CUBE (p, f)",
    "SELECT DISTINCT k FROM t1 a WHERE {a}",
    "SELECT p, count(*) FILTER (WHERE {a}) AS n FROM t1 a GROUP BY p",
    "SELECT count(*) FROM t1 a WHERE {a}",
    "SELECT min(id), max(ts) FROM t1 a WHERE {a}",
    "SELECT * FROM (SELECT id, p, k, row_number() OVER (PARTITION BY p ORDER BY id) AS n FROM t1 a WHERE {a}) q WHERE n < 3",
    "SELECT * FROM (SELECT *, lag(k) OVER (PARTITION BY p ORDER BY id) AS before FROM t1) a WHERE {a} AND a.p = {k}",
    "SELECT * FROM (SELECT *, sum(k) OVER (PARTITION BY p) AS total FROM t1) a WHERE a.p = {k} AND a.total > 3",
    "SELECT * FROM (SELECT *, rank() OVER (ORDER BY id) AS r FROM t1 a) a WHERE {a}",
    "SELECT id, e FROM t1 a LATERAL VIEW explode(arr) t AS e WHERE {a} AND e > 3",
    "SELECT id, e FROM (SELECT *, explode(arr) AS e FROM t1) a WHERE {a}",
    "SELECT id FROM t1 a WHERE {a} ORDER BY id DESC LIMIT 5",
    "SELECT id FROM (SELECT * FROM t1 ORDER BY id LIMIT 30) a WHERE {a}",
    "SELECT id, transform(arr, e -> e + 1) AS q FROM t1 a WHERE {a} AND size(filter(arr, e -> e > 2)) > 0",
    "SELECT plus_one(id) AS q FROM t1 a WHERE {a} AND plus_one(k) > 3",
    "SELECT * FROM v1 a WHERE {a}",
    "SELECT * FROM v2 WHERE identity < {j} AND upper_s > 'B'",
    "SELECT a.id, b.id FROM cached1 a JOIN t2 b ON a.id = b.id WHERE {b} AND a.k > 3",
    "SELECT id, count(*) OVER () AS n FROM t1 a WHERE {a}",
    "SELECT * FROM t1 a WHERE {a} AND rand(3) < 2",
    "SELECT * FROM t1 a WHERE {a} AND a.ts < current_timestamp()",
    "SELECT a.id FROM t1 a, LATERAL (SELECT b.k FROM t2 b WHERE b.id = a.id AND {b}) q WHERE {a}",
    "SELECT * FROM (SELECT id, p, k FROM t1) PIVOT (max(k) FOR p IN (0, 1, 2)) WHERE id < {i}",
    "SELECT stack(2, id, k) AS (z) FROM t1 a WHERE {a}",
    "SELECT /*+ REPARTITION(3) */ id, s FROM t1 a WHERE {a} DISTRIBUTE BY p",
    "SELECT id FROM t1 a WHERE {a} AND (a.id, a.p) IN (SELECT b.id, b.p FROM t2 b WHERE {b})",
    "SELECT _metadata.file_size > 0 AS big, id FROM t1 a WHERE {a}",
    "FROM t1 |> WHERE id < {j} |> EXTEND id + 1 AS q |> WHERE q > {i} |> SELECT id, q",
    "SELECT a.id, b.id FROM t1 a LEFT JOIN t2 b ON a.id = b.k LEFT JOIN t3 c ON b.id = c.id AND {c} WHERE {a} AND c.id IS NULL",
    "SELECT coalesce(a.id, b.id) AS i FROM t1 a FULL JOIN t2 b ON a.id = b.id WHERE coalesce(a.id, b.id) < {i}",
    "SELECT if(a.f, a.id, NULL) AS i FROM t1 a WHERE if(a.f, a.id, NULL) > {i}",
    "SELECT * FROM (SELECT id, NULLIF(k, 3) AS k3, p AS part FROM t1) q WHERE q.k3 IS NULL AND q.part = {k}",
    "SELECT * FROM (SELECT st.*, id, p FROM t1) q WHERE q.a < {i} AND q.b = 't1'",
    "SELECT * FROM (SELECT id AS k, k AS id FROM t1) a WHERE a.id < 9 AND a.k > {i}",
)  # fmt: skip


def write_tables(spark: SparkSession, folder: Path) -> None:
    """Three tables of twelve files, two partitioned, one with deletion vectors; more rows in some than in others."""
    for name, rows, by in (("t1", 120, "p"), ("t2", 100, None), ("t3", 80, "p")):
        writer = spark.range(0, rows, 1, 12).selectExpr(*ROWS).write.format("delta")
        (writer.partitionBy(by) if by else writer.option("delta.enableDeletionVectors", "true")).save(str(folder / name))
    spark.sql(f"DELETE FROM delta.`{folder}/t2` WHERE id IN (5, 50, 51)")


def use_tables(spark: SparkSession, folder: Path) -> None:
    """The names that the shapes use, over the tables below the folder."""
    spark.udf.register("plus_one", lambda value: None if value is None else value + 1, "bigint")
    for name in ("t1", "t2", "t3"):
        spark.read.format("delta").load(str(folder / name)).createOrReplaceTempView(name)
    spark.sql("CREATE OR REPLACE TEMP VIEW v1 AS SELECT * FROM t1 WHERE id % 2 = 0 AND id < 90")
    spark.sql("CREATE OR REPLACE TEMP VIEW v2 AS SELECT id AS identity, upper(s) AS upper_s, p FROM t1 WHERE k > 2")
    cached = spark.read.format("delta").load(str(folder / "t1")).where("id < 70")
    cached.createOrReplaceTempView("cached1")


def random_query(rng: Random) -> str:
    shape = rng.choice(SHAPES)
    low, high = sorted(rng.sample(range(120), 2))
    drawn = {"i": low, "j": high, "k": rng.randrange(4), "c": rng.choice("abcdef"), "d": f"{rng.randrange(1, 29):02d}"}
    texts = {name: rng.choice(CONDITIONS).format(t=name[0], **drawn) for name in ("a", "a2", "b", "c")}
    return shape.format(**texts, i=low, j=high, k=drawn["k"])


def without_dropped(folder: Path, copy: Path, kept: Mapping[str, Collection[str]]) -> None:
    """The tables again, without the files that are not kept; a table that no scan reads is as it was."""
    for name in ("t1", "t2", "t3"):
        shutil.copytree(folder / name, copy / name)
        if name not in kept:
            continue
        log = copy / name / "_delta_log"
        for file in [*log.glob("*.crc"), *log.glob("*.checkpoint*"), *log.glob("_last*")]:
            file.unlink()
        for commit in log.glob("*.json"):
            actions = map(json.loads, commit.read_text().splitlines())
            lines = [json.dumps(a) for a in actions if "add" not in a or unquote(a["add"]["path"]) in kept[name]]
            commit.write_text("\n".join(lines))
