"""A table of exotic types and names, and statements over it: every value that a writer, a reader or a rule may stumble over."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import DataFrame, SparkSession

ROWS, FILES = 48, 6
# Each column with its type, and its value in the row of an id.
COLUMNS = {
    "id": ("BIGINT", "id"),
    "bin": ("BINARY", """CASE id % 12 WHEN 0 THEN NULL WHEN 1 THEN X'' WHEN 2 THEN X'FF' WHEN 3 THEN X'00'
            ELSE unhex(lpad(hex(id * 5), 4, '0')) END"""),
    "d38": ("DECIMAL(38,10)", """CASE id % 9 WHEN 0 THEN NULL WHEN 1 THEN CAST({nines} AS DECIMAL(38,10))
            WHEN 2 THEN -CAST({nines} AS DECIMAL(38,10)) ELSE CAST(id AS DECIMAL(38,10)) / 7 END"""),
    "d0": ("DECIMAL(38,0)", """CASE WHEN id % 11 = 0 THEN NULL
            WHEN id % 2 = 0 THEN CAST(concat({nines}, '0123456789') AS DECIMAL(38,0))
            ELSE CAST(-id AS DECIMAL(38,0)) END"""),
    "small": ("DECIMAL(38,38)", """CASE WHEN id % 7 = 0 THEN NULL
            ELSE CAST(concat('0.', repeat('0', 34), lpad(id, 4, '0')) AS DECIMAL(38,38)) END"""),
    "ntz": ("TIMESTAMP_NTZ", """CASE id % 10 WHEN 0 THEN NULL WHEN 1 THEN TIMESTAMP_NTZ'0001-01-01 00:00:00'
            WHEN 2 THEN TIMESTAMP_NTZ'9999-12-31 23:59:59.999999'
            ELSE TIMESTAMP_NTZ'2024-03-31 01:59:59.999'
            + make_dt_interval(CAST(id DIV 8 AS INT), 0, CAST(id AS INT), id / 1000) END"""),
    "ts": ("TIMESTAMP", """CASE id % 10 WHEN 0 THEN NULL WHEN 1 THEN TIMESTAMP'0002-01-01 00:00:00Z'
            WHEN 2 THEN TIMESTAMP'9998-12-31 23:59:59.999999Z' WHEN 3 THEN TIMESTAMP'1500-03-01 00:00:00Z'
            ELSE TIMESTAMP'2024-03-31 00:59:59.999Z' + make_dt_interval(0, CAST(id AS INT), 0, id / 1000000) END"""),
    "dt": ("DATE", """CASE id % 10 WHEN 0 THEN NULL WHEN 1 THEN DATE'0001-01-01' WHEN 2 THEN DATE'9999-12-31'
            WHEN 3 THEN DATE'1500-02-28' WHEN 4 THEN DATE'1582-10-04' ELSE DATE'2024-02-28' + CAST(id DIV 8 AS INT) END"""),
    "tiny": ("TINYINT", "CASE id % 8 WHEN 0 THEN NULL WHEN 1 THEN -128Y WHEN 2 THEN 127Y ELSE CAST(id AS TINYINT) END"),
    "short": ("SMALLINT", "CASE id % 8 WHEN 0 THEN NULL WHEN 1 THEN -32768S WHEN 2 THEN 32767S ELSE CAST(id AS SMALLINT) END"),
    "f": ("FLOAT", """CASE id % 9 WHEN 0 THEN NULL WHEN 1 THEN float('NaN') WHEN 2 THEN float('-0.0') WHEN 3 THEN 0.0F
            WHEN 4 THEN float('Infinity') ELSE CAST(id AS FLOAT) / 3 END"""),
    "x": ("DOUBLE", """CASE id % 9 WHEN 0 THEN NULL WHEN 1 THEN double('NaN') WHEN 2 THEN double('-0.0') WHEN 3 THEN 0.0D
            WHEN 4 THEN double('-Infinity') ELSE CAST(id AS DOUBLE) / 3 END"""),
    "vc": ("VARCHAR(5)", "CASE id % 7 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'é' ELSE concat('v', id) END"),
    "ch": ("CHAR(4)", "CASE id % 7 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'a ' ELSE concat('c', id) END"),
    "st": (
        "STRUCT<a: STRUCT<b: BINARY, c: DECIMAL(38,18)>, `d.e`: STRING, f: FLOAT>",
        """CASE WHEN id % 13 = 0 THEN NULL ELSE named_struct('a', CASE WHEN id % 5 = 0 THEN NULL
            ELSE named_struct('b', CAST(CAST(id AS STRING) AS BINARY), 'c', CAST(id AS DECIMAL(38,18)) / 3) END,
            'd.e', concat('n', id), 'f', CAST(id AS FLOAT)) END""",
    ),
    "arr": ("ARRAY<INT>", "CASE WHEN id % 6 = 0 THEN NULL ELSE array(CAST(id AS INT), NULL, 7) END"),
    "m": ("MAP<STRING, INT>", "CASE WHEN id % 6 = 1 THEN NULL ELSE map('k', CAST(id AS INT)) END"),
    "flag": ("BOOLEAN", "CASE WHEN id % 5 = 0 THEN NULL ELSE id % 2 = 0 END"),
    "`a.b`": ("INT", "CASE WHEN id % 5 = 1 THEN NULL ELSE CAST(id DIV 8 AS INT) END"),
    "`we ird`": ("STRING", """CASE WHEN id % 5 = 2 THEN NULL
            ELSE concat(chr(97 + CAST(id DIV 8 AS INT)), repeat('\U0001f33c', 33), id) END"""),
    "`x``y`": ("INT", "CAST(id AS INT)"),
    "`Größe`": ("DOUBLE", "CASE WHEN id % 5 = 3 THEN NULL ELSE id * 1.5D END"),
    "`select`": ("TIMESTAMP_NTZ", "TIMESTAMP_NTZ'1970-01-01' - make_dt_interval(CAST(id AS INT), 0, 0, id / 1000000)"),
    "`日本`": ("STRING", "CASE WHEN id % 4 = 0 THEN NULL ELSE concat('日', id) END"),
}  # fmt: skip
_NINES = "concat(repeat('9', 26), lpad(id, 2, '0'))"
CONDITIONS = (
    "bin = X'000{h}'",
    "bin > X'00{h}0'",
    "bin IN (X'', X'FF')",
    "length(bin) = {k}",
    "bin <=> NULL",
    "bin < X'01'",
    "d38 > {i} / 7",
    "d38 = CAST({i} AS DECIMAL(38,10)) / 7",
    "d38 > 9999999999999999999999999",
    "d38 < -1e20",
    "-d38 > {k}",
    "d0 > 99999999999999999999999999000123456789",
    "d0 = -{i}",
    "d0 < -{k}",
    "cast(d0 AS STRING) LIKE '9999%'",
    "d0 + 1 = -{i}",
    "small < 0.00000000000000000000000000000000000{k}",
    "small = 0.0000000000000000000000000000000000{i:04d}",
    "small > 0",
    "ntz >= '2024-04-0{k}'",
    "ntz < '1000-01-01'",
    "year(ntz) = 9999",
    "ntz = TIMESTAMP_NTZ'2024-03-31 01:59:59.999'",
    "CAST(ntz AS DATE) = '2024-04-01'",
    "ntz + INTERVAL {k} DAYS < '2024-04-05'",
    "date_trunc('HOUR', ntz) = '2024-04-0{k} 02:00:00'",
    "ts > '9000-01-01'",
    "ts < '1600-01-01'",
    "year(ts) = 1500",
    "CAST(ts AS DATE) = '2024-04-01'",
    "hour(ts) = {k}",
    "ts BETWEEN '2024-03-31 00:00:00' AND '2024-04-01 0{k}:00:00'",
    "ts - INTERVAL '1 02:03:04' DAY TO SECOND > '2024-03-31'",
    "dt < '1582-10-15'",
    "dt = '1500-02-28'",
    "year(dt) IN (1, 9999)",
    "dt + INTERVAL {k} MONTH > '2024-05-30'",
    "last_day(dt) = '2024-02-29'",
    "trunc(dt, 'MM') = '2024-03-01'",
    "dayofyear(dt) = {k}",
    "dt BETWEEN '2024-02-2{k}' AND '2024-03-0{k}'",
    "tiny = 127",
    "tiny + 1 = 128",
    "-tiny = 128",
    "tiny < {k}",
    "short = -32768",
    "abs(short) = 32768",
    "short > tiny",
    "short % 7 = {k}",
    "f = 0",
    "f = -0.0",
    "isnan(f)",
    "f > 3",
    "f != 0",
    "f <= 0",
    "f = {i} / 3.0D",
    "cast(f AS DOUBLE) > {i}",
    "x = 0",
    "x >= 1e300",
    "isnan(x) OR id = {i}",
    "NOT (x < {k})",
    "x < -1e300",
    "x IN (0, double('NaN'))",
    "round(x, 1) = {k}.3",
    "x <=> double('NaN')",
    "vc = 'v{i}'",
    "vc = ''",
    "vc LIKE 'v1%'",
    "vc < 'v2'",
    "length(vc) = {k}",
    "vc > 'v'",
    "upper(vc) = 'É'",
    "vc IS NULL AND id > {i}",
    "ch = 'c{i}'",
    "ch = 'a'",
    "ch = 'a   '",
    "ch = ''",
    "length(ch) = 4",
    "ch LIKE 'c1%'",
    "ch < 'c2'",
    "ch IN ('c1', 'c2', 'a')",
    "rtrim(ch) = 'c{i}'",
    "concat(ch, '|') = 'c{i} |'",
    "ch = vc",
    "st.a.b = CAST('{i}' AS BINARY)",
    "st.a.c > {k}",
    "st.`d.e` = 'n{i}'",
    "st IS NULL",
    "st.a IS NULL AND id < {i}",
    "st.f < {k}",
    "st.a.c = CAST({i} AS DECIMAL(38,18)) / 3",
    "st.a.b IS NULL",
    "st.`d.e` LIKE 'n1%' AND NOT flag",
    "arr[0] = {i}",
    "array_contains(arr, {i})",
    "size(arr) = 3",
    "arr IS NULL",
    "exists(arr, e -> e = {i})",
    "arr = array({i}, NULL, 7)",
    "m['k'] = {i}",
    "m IS NULL",
    "map_contains_key(m, 'k')",
    "element_at(m, 'k') > {i}",
    "flag",
    "NOT flag",
    "flag IS NOT TRUE",
    "`a.b` = {k}",
    "`a.b` IS NULL OR `x``y` = {i}",
    "`a.b` + `x``y` = {i}",
    "`we ird` LIKE 'b\U0001f33c%'",
    "`we ird` > 'c'",
    "substr(`we ird`, 1, 1) = 'd'",
    "`x``y` IN ({i}, 3)",
    "`Größe` > {i} * 1.5D",
    "floor(`Größe`) = {i}",
    "`select` < '1969-12-1{k}'",
    "`日本` = '日{i}'",
    "`日本` LIKE '日1%'",
    "`日本` < '日2'",
    "`SELECT` >= '1969-12-31'",
    "length(`日本`) = 3",
    "id IN ({i}, 17)",
    "id BETWEEN {i} AND {j}",
    "TRUE",
    "id % 3 = 0 AND ch IS NOT NULL",
)
SETS: tuple[dict[str, str] | None, ...] = (
    None,
    None,
    None,
    {"bin": "concat(bin, X'00')"},
    {"d38": "d38 + 1", "d0": "NULL"},
    {"small": "small * 0.5"},
    {"ntz": "coalesce(ntz, TIMESTAMP_NTZ'2024-01-01')"},
    {"ts": "TIMESTAMP'1500-01-01 00:00:00Z'", "dt": "DATE'1400-02-29'"},
    {"tiny": "CAST(id AS TINYINT)", "short": "tiny"},
    {"f": "-f", "x": "double('NaN')"},
    {"vc": "'abc'", "ch": "'z'"},
    {"ch": "vc"},
    {"st.a.c": "1.5", "st.`d.e`": "'new'"},
    {"st": "NULL"},
    {"arr": "array(1, 2)", "m": "map('a', 1, 'b', NULL)"},
    {"`a.b`": "`a.b` + 1", "`we ird`": "'w'"},
    {"`x``y`": "-`x``y`", "`Größe`": "`Größe` / 0.5D"},
    {"`日本`": "concat(`日本`, '本')"},
    {"flag": "NOT flag", "`select`": "`select` + INTERVAL 1 YEAR"},
)
ONS = (
    "t.bin = s.bin",
    "t.d38 = s.d38",
    "t.d0 = s.d0",
    "t.small = s.small",
    "t.ntz = s.ntz",
    "t.ts = s.ts",
    "t.dt = s.dt",
    "t.tiny = s.tiny AND t.id = s.id",
    "t.short = s.tiny",
    "t.f = s.f",
    "t.x = s.x",
    "t.x <=> s.x",
    "t.vc = s.vc",
    "t.ch = s.ch",
    "t.ch = s.vc",
    "t.st.a.b = s.st.a.b",
    "t.st.a.c = s.st.a.c",
    "t.st.`d.e` = s.st.`d.e`",
    "t.`a.b` = s.`a.b` AND t.id = s.id",
    "t.`we ird` = s.`we ird`",
    "t.`x``y` = s.`x``y`",
    "t.`Größe` = s.`Größe`",
    "t.`select` = s.`select`",
    "t.`日本` = s.`日本`",
    "t.id = s.id AND t.arr = s.arr",
    "t.id = s.d38",
    "t.f = s.x",
    "t.dt = CAST(s.ntz AS DATE)",
    "t.id = s.id",
    "t.ntz = s.ts",
    "t.st.f = s.f",
    "t.id = s.tiny",
    "t.bin <=> s.bin AND t.id = s.id",
)
CLAUSES: tuple[tuple[tuple[str, Any], ...], ...] = (
    (("when_matched_update", "all"), ("when_not_matched_insert", "all")),
    (("when_matched_update", "bin = s.bin, d38 = t.d38 + 1, ch = 'q', f = s.f"),),
    (("when_matched_delete", True),),
    (("when_matched_delete", "AND s.x > 1"), ("when_matched_update", "AND t.flag THEN st.a.c = 0, arr = array(9)")),
    (("when_matched_update", "AND t.ch < 'c3' THEN `we ird` = 'w', `a.b` = s.`x``y`"), ("when_not_matched_insert", "all")),
    (("when_matched_update", "f = -0.0"), ("when_not_matched_by_source_delete", "AND t.dt < '1600-01-01'")),
    (("when_not_matched_insert", "all"), ("when_not_matched_by_source_update", "AND t.f > 8 THEN x = double('NaN')")),
)


def rows_of(spark: SparkSession, first: int, last: int, partitions: int) -> DataFrame:
    return spark.range(first, last, 1, partitions).selectExpr(
        *(f"{value.replace('{nines}', _NINES)} AS {name}" for name, (_, value) in COLUMNS.items())
    )


def write_exotic(spark: SparkSession, path: Path, rng: Random) -> Path:
    """Six files of eight rows, sometimes with deletion vectors, sometimes partitioned by a column of an odd type."""
    by = rng.choice(["", "", "PARTITIONED BY (dt)", "PARTITIONED BY (vc)", "PARTITIONED BY (tiny)", "PARTITIONED BY (f)"])
    vectors = str(rng.random() < 0.3).lower()
    properties = f"'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = '{vectors}'"
    schema = ", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items())
    spark.sql(f"CREATE TABLE delta.`{path}` ({schema}) USING delta {by} TBLPROPERTIES ({properties})")
    rows_of(spark, 0, ROWS, FILES).createOrReplaceTempView("exotic_rows")
    spark.sql(f"INSERT INTO delta.`{path}` SELECT * FROM exotic_rows")
    return path


def some_ids(rng: Random) -> tuple[int, int]:
    """The first id and the number of rows of a source, which has the columns of the target."""
    return rng.randrange(ROWS - 4), rng.choice([1, 1, 2, 5])


def condition(rng: Random) -> str:
    low, high = sorted(rng.sample(range(ROWS), 2))
    texts = [
        text.format(i=low, j=high, k=rng.randrange(1, 6), h=rng.choice("0123456789ABCDEF")) for text in rng.sample(CONDITIONS, 2)
    ]
    return rng.choice(
        [texts[0], texts[0], f"({texts[0]}) AND ({texts[1]})", f"({texts[0]}) OR ({texts[1]})", f"NOT ({texts[0]})"]
    )
