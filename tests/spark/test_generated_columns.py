"""Generated partition columns, written by Delta Spark in sessions of several zones: no file with a match is dropped."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.engines.spark.engine import clone
from lakeprune.formats.delta.spark_scan import scan_of
from tests.formats.delta.test_generated_columns import WRITTEN, log_of
from tests.scope import IS_WHOLE
from tests.spark.documents import both

pytestmark = pytest.mark.spark

ZONES = ("Asia/Tokyo", "America/Los_Angeles", "+18:00", "-18:00", "UTC")
DAY = {"day": ("DATE", "CAST(c AS DATE)")}
FIELDS = {"y": ("INT", "YEAR(c)"), "m": ("INT", "MONTH(c)"), "d": ("INT", "DAY(c)"), "h": ("INT", "HOUR(c)")}
STAMPS = {
    "day": DAY,
    "day and hour": {**DAY, "h": ("INT", "HOUR(c)")},
    "fields": FIELDS,
    "year and month": {name: FIELDS[name] for name in ("y", "m")},
    "trunc hour": {"p": ("TIMESTAMP", "DATE_TRUNC('HOUR', c)")},
    "trunc month": {"p": ("TIMESTAMP", "DATE_TRUNC('MONTH', c)")},
    "format": {"p": ("STRING", "DATE_FORMAT(c, 'yyyy-MM-dd')")},
    "format hour": {"p": ("STRING", "DATE_FORMAT(c, 'yyyy-MM-dd-HH')")},
    "format month": {"p": ("STRING", "DATE_FORMAT(c, 'yyyy-MM')")},
    "trunc date": {"p": ("DATE", "TRUNC(c, 'MM')")},
}
EVERY = [(shape, source, zone) for shape in STAMPS for source in ("TIMESTAMP", "TIMESTAMP_NTZ") for zone in ZONES]
WRITTEN_AS = {text: written for (_, text), written in WRITTEN.items()}
SHARE = [
    ("day and hour", "TIMESTAMP", "-18:00"),
    ("fields", "TIMESTAMP", "Asia/Tokyo"),
    ("trunc hour", "TIMESTAMP", "America/Los_Angeles"),
    ("format", "TIMESTAMP_NTZ", "Asia/Tokyo"),
]
MOMENTS = (
    "2024-02-28 23:30:00", "2024-02-29 00:00:00", "2024-02-29 11:59:59.999999", "2024-03-01 00:00:00", "2024-03-10 10:30:00",
    "2024-11-03 09:30:00", "2024-12-31 23:59:59", "2025-01-01 00:00:00", "2025-01-01 12:00:00", "1969-12-31 23:59:59",
)  # fmt: skip


def write(spark: SparkSession, path: Path, source: str, columns: dict[str, tuple[str, str]], values: list[str]) -> None:
    """One row per file, and no statistics: only partition values can drop a file."""
    made = ", ".join(f"{name} {kind} GENERATED ALWAYS AS ({text})" for name, (kind, text) in columns.items())
    spark.sql(
        f"CREATE TABLE delta.`{path}` (id INT, c {source}, {made}) USING delta PARTITIONED BY ({', '.join(columns)}) "
        "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')"
    )
    rows = ", ".join(f"({number}, {value})" for number, value in enumerate([*values, "NULL"]))
    frame = spark.sql(f"SELECT CAST(id AS INT) AS id, CAST(c AS {source}) AS c FROM VALUES {rows} AS t(id, c)")
    frame.coalesce(1).write.format("delta").mode("append").option("maxRecordsPerFile", 1).save(str(path))


def check(spark: SparkSession, path: Path, conditions: list[str]) -> tuple[int, int]:
    """Every file with a match is kept; how many files are dropped in all, and how many Delta Spark drops of the asked ones."""
    rows = spark.read.format("delta").load(str(path))
    truths = [f"({condition}) AS t{number}" for number, condition in enumerate(conditions)]
    seen = rows.selectExpr("_metadata.file_name AS file", *truths).collect()
    files = {row.file for row in seen}
    assert len(files) == len(seen), "one row per file"
    dropped = by_spark = 0
    for number, (condition, report) in enumerate(
        zip(conditions, lakeprune.explain_many(path, conditions, timezone="UTC"), strict=True)
    ):
        kept = {file.path.rsplit("/", 1)[-1] for file in report.files if file.kept}
        assert {row.file for row in seen if row[f"t{number}"]} <= kept, condition
        assert all(name == "partition" or amount.files == 0 for name, amount in report.numbers.credits.items())
        dropped += len(files - kept)
        if IS_WHOLE or number % 9 == 0:
            by_spark += len(files) - scan_of(spark, str(path), 1, condition).files
    return dropped, by_spark


@pytest.mark.parametrize(("shape", "source", "zone"), EVERY if IS_WHOLE else SHARE[:1])
def test_timestamps(spark: SparkSession, tmp_path: Path, shape: str, source: str, zone: str) -> None:
    writer, reader = clone(spark), clone(spark)
    writer.conf.set("spark.sql.session.timeZone", zone)
    reader.conf.set("spark.sql.session.timeZone", "UTC")
    suffix = "Z" if source == "TIMESTAMP" else ""
    write(writer, tmp_path / "t", source, STAMPS[shape], [f"{source} '{moment}{suffix}'" for moment in MOMENTS])
    conditions = [
        f"c {op} {source} '{moment}{suffix}'"
        for op in ("=", ">=", "<", ">")
        for moment in (MOMENTS[1], MOMENTS[4], MOMENTS[7], "2024-06-15 12:00:00")
    ]
    dropped, by_spark = check(reader, tmp_path / "t", [*conditions, "c IS NULL", "c IS NOT NULL"])
    assert dropped > 20, "partition values prove something"
    if source == "TIMESTAMP_NTZ" and not shape.startswith(("format", "trunc")):
        assert dropped >= by_spark


OTHERS: list[tuple[str, dict[str, tuple[str, str]], list[str], list[str]]] = [
    ("DATE", {"p": ("INT", "YEAR(c)")}, ["DATE '2023-12-31'", "DATE '2024-01-01'", "DATE '2025-06-01'"],
     ["c >= DATE '2024-01-01'", "c < DATE '2024-01-01'", "c = DATE '2025-06-01'", "c IS NULL"]),
    ("DATE", {"p": ("DATE", "TRUNC(c, 'MM')")}, ["DATE '2023-12-31'", "DATE '2024-01-01'", "DATE '2025-06-01'"],
     ["c >= DATE '2024-01-01'", "c < DATE '2024-01-01'", "c = DATE '2025-06-01'", "c IS NULL"]),
    ("STRING", {"p": ("STRING", "SUBSTRING(c, 1, 2)")}, ["'abc'", "'abz'", "'b'", "''", "'é\U0001f33cx'"],
     ["c = 'abq'", "c > 'ac'", "c < 'ab'", "c = 'b'", "c = ''", "c IS NULL", "c LIKE 'ab%'", "c >= 'é\U0001f33c'"]),
    ("INT", {"p": ("INT", "c")}, ["1", "2", "30"], ["c = 2", "c > 2", "c IS NULL", "c <= 1"]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "columns", "values", "conditions"), OTHERS if IS_WHOLE else OTHERS[1:3])
def test_other_sources(
    spark: SparkSession,
    tmp_path: Path,
    source: str,
    columns: dict[str, tuple[str, str]],
    values: list[str],
    conditions: list[str],
) -> None:
    write(spark, tmp_path / "t", source, columns, values)
    dropped, by_spark = check(spark, tmp_path / "t", conditions)
    assert dropped >= by_spark > 0


def test_both_engines_read_generated_columns_alike(spark: SparkSession, tmp_path: Path) -> None:
    types = {"DATE": "date", "INT": "integer", "TIMESTAMP": "timestamp", "STRING": "string"}
    clock = datetime(2024, 2, 29, 23, 30)
    for number, (shape, made) in enumerate(STAMPS.items()):
        if not IS_WHOLE and number % 5:
            continue
        columns = {name: (types[kind], text) for name, (kind, text) in made.items()}
        moments = [clock + timedelta(days=17 * step) for step in range(8)]
        rows: list[dict[str, str | None]] = [
            {name: WRITTEN_AS[text](moment) for name, (_, text) in columns.items()} for moment in moments
        ]
        odd: list[dict[str, str | None]] = [dict.fromkeys(columns), dict.fromkeys(columns, "odd"), {}]
        for source in ("timestamp", "timestamp_ntz") if IS_WHOLE or number == 0 else ("timestamp",):
            log = log_of(tmp_path / f"{number}{source}", source, columns, [*rows, *odd])
            for where in ("c >= '2024-04-01' AND c < '2024-05-01 12:00:00'", "c IS NULL")[: 2 if IS_WHOLE else 1]:
                one, other = both(log.path, where, spark)
                assert one == other, (shape, source, where)
    log = log_of(
        tmp_path / "text",
        "string",
        {"p": ("string", "SUBSTRING(c, 1, 2)")},
        [{"p": p} for p in ("ab", "a", "é\U0001f33c", "", None)],
    )
    one, other = both(log.path, "c > 'abc' AND c < 'f'", spark)
    assert one == other


def test_delta_spark_refuses_a_value_that_is_not_the_generated_one(spark: SparkSession, tmp_path: Path) -> None:
    """What the evidence rests on: writers that know generated columns store no other value."""
    write(spark, tmp_path / "t", "TIMESTAMP", DAY, ["TIMESTAMP '2024-01-01 00:00:00Z'"])
    with pytest.raises(Exception, match=r"GENERATED|Generated Column|CHECK constraint"):  # of the JVM
        spark.sql(f"INSERT INTO delta.`{tmp_path / 't'}` VALUES (9, TIMESTAMP '2024-01-01 00:00:00Z', DATE '2020-01-01')")
