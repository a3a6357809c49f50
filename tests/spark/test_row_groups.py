"""Row groups on Spark: footers are read on executors, and the document is that of the embedded engine."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import lakeprune
from demo.delta_log import add
from lakeprune.engines.engine import Row
from lakeprune.engines.spark.engine import SparkEngine
from lakeprune.errors import TableError
from tests.builders.untimed import untimed
from tests.formats.parquet.random_files import know_less, texts_of
from tests.formats.row_groups.delta import delta_of, groups
from tests.formats.row_groups.tables import write_delta
from tests.formats.row_groups.test_bloom import by_deltalake
from tests.formats.row_groups.test_explain import parts
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.scope import IS_WHOLE, only_whole
from tests.soundness.tables import random_table

pytestmark = pytest.mark.spark
SEEDS = range(30)
WHERES = ["x < 20 AND y < 20", "x = 42", "country = 'DE' OR x = 155", "x > 1000"]


def documents(table: Path, where: str, spark: SparkSession, **options: Any) -> list[dict[str, Any]]:
    """Of the embedded engine and of Spark, with every file."""
    options = {"row_groups": True, "timezone": "UTC", "now": "2024-01-31", **options}
    reports = [lakeprune.explain(table, where, **options), lakeprune.explain(table, where, spark=spark, **options)]
    return [untimed(report.to_dict(verbose=True)) for report in reports]


@pytest.mark.parametrize("where", WHERES if IS_WHOLE else WHERES[:1])
def test_the_document_is_that_of_the_embedded_engine(spark: SparkSession, tmp_path: Path, where: str) -> None:
    embedded, by_spark = documents(parts(tmp_path / "t"), where, spark)
    assert by_spark == embedded


@only_whole
@pytest.mark.parametrize("seed", SEEDS)
def test_random_tables_have_the_same_row_groups_on_both_engines(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    rng = Random(seed)
    table = random_table(rng)
    write_delta(table, tmp_path / "t", rng)
    for file in table.files:
        if rng.random() < 0.5:
            know_less(tmp_path / "t" / file.name, texts_of(table), rng)
    for _ in range(8):
        where = say(random_predicate(table.columns, "UTC", rng)).spark
        embedded, by_spark = documents(tmp_path / "t", where, spark)
        assert by_spark == embedded, where


def test_files_that_spark_writes_in_many_row_groups(spark: SparkSession, tmp_path: Path) -> None:
    """Written by parquet-mr: every type that it has statistics of, against the rows."""
    rows = spark.sql("""
        SELECT id, CAST(id AS INT) AS i, concat('name ', lpad(id, 6, '0')) AS s, CAST(id AS DECIMAL(20, 3)) AS m,
               CAST(id AS DOUBLE) AS d, CAST(timestamp_micros(id * 1000000) AS TIMESTAMP_NTZ) AS ts,
               rpad('', 200, uuid()) AS noise FROM range(0, 20000, 1, 1)""")
    place = tmp_path / "t"
    (
        rows.write.option("parquet.block.size", 100_000).option("parquet.page.size.row.check.min", 10)
        .option("parquet.page.size.row.check.max", 100).option("parquet.block.row.count.limit", 1_000).parquet(str(place))
    )  # fmt: skip
    (data,) = place.glob("*.parquet")
    file = pq.ParquetFile(data)
    assert file.num_row_groups > 10
    values = [file.read_row_group(number, columns=["id"])["id"].to_pylist() for number in range(file.num_row_groups)]
    for where, wanted in {
        "id = 7777": {7777},
        "i BETWEEN 100 AND 120": set(range(100, 121)),
        "s = 'name 012345'": {12345},
        "m = 500.000": {500},
        "d <= 3": {0, 1, 2, 3},
        "ts = TIMESTAMP_NTZ'1970-01-01 01:00:00'": {3600},
    }.items():
        kept = [number for number, verdict in enumerate(groups(place, where, data.name)) if verdict != "D"]
        assert kept == [number for number, ids in enumerate(values) if wanted & set(ids)], where


def test_bloom_filters_that_spark_writes(spark: SparkSession, tmp_path: Path) -> None:
    """Of parquet-mr: no value that is there is excluded, most others are."""
    place = tmp_path / "t"
    rows = spark.sql("""
        SELECT CAST(n AS INT) AS i, n AS l, concat('s', n) AS s, date_add(DATE '2024-01-01', CAST(n AS INT)) AS d
        FROM (SELECT id * 37 % 1000 * 2 AS n FROM range(0, 1000, 1, 1))""")
    writer = rows.write
    for column in "ilsd":
        writer = writer.option(f"parquet.bloom.filter.enabled#{column}", "true")
        writer = writer.option(f"parquet.bloom.filter.expected.ndv#{column}", "1000")
    writer.option("parquet.enable.dictionary", "false").parquet(str(place))
    (data,) = place.glob("*.parquet")
    there = ["i = 74", "l = 74", "s = 's74'", "d = DATE'2024-03-15'"]
    absent = ["i = 75", "l = 75", "s = 's75'", "d = DATE'2024-03-16'"]
    assert [groups(place, where, data.name, bloom=True) for where in there] == ["K"] * 4
    assert [groups(place, where, data.name, bloom=True) for where in absent] == ["D"] * 4


def test_bloom_filters_that_are_not_consulted_are_named_in_every_output(spark: SparkSession, tmp_path: Path) -> None:
    table = by_deltalake(tmp_path / "t")
    asked = [(True, "on Spark only footers are read"), (False, "--bloom does for = and IN")]
    for is_asked, why in asked if IS_WHOLE else asked[:1]:
        report = lakeprune.explain(table, "i = 1", row_groups=True, spark=spark, bloom=is_asked)
        (note,) = report.to_dict()["notes"]
        assert note["code"] == "bloom_filters_not_consulted"
        assert why in note["message"]
        assert note["message"] in " ".join(report.to_text().split())
        assert report.row_groups is not None
        assert report.row_groups.kept.row_groups == int(note["message"].split()[0])


def test_a_footer_that_cannot_be_read_is_named(spark: SparkSession, tmp_path: Path) -> None:
    table = parts(tmp_path / "t")
    (table / "FR.parquet").unlink()
    with pytest.raises(TableError, match="the footer of a data file cannot be read") as problem:
        lakeprune.explain(table, "x = 142", row_groups=True, spark=spark)
    assert problem.value.where == "FR.parquet"
    (table / "FR.parquet").write_bytes(b"PAR1 encrypted PARE")
    report = lakeprune.explain(table, "x = 142", row_groups=True, spark=spark)
    assert [note.code for note in report.facts.notes] == ["footers_not_read"]


@only_whole
def test_hundreds_of_footers_are_read_by_many_tasks_and_only_counts_come_home(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What 100,000 files are on a cluster: tasks of a few footers each; the driver sees paths and patterns, never a statistic."""
    root = tmp_path / "t"
    root.mkdir()
    actions = []
    for number in range(320):
        first = 40 * number
        pq.write_table(pa.table({"x": range(first, first + 40), "y": range(40)}), root / f"{number}.parquet", row_group_size=10)
        actions.append(add(f"{number}.parquet", size=(root / f"{number}.parquet").stat().st_size))
    table = delta_of(root, {"x": "long", "y": "long"}, actions)
    came: list[int] = []
    query = SparkEngine.query

    def counted(self: SparkEngine, sql: str) -> list[Row]:
        rows = query(self, sql)
        came.append(0 if sql.startswith("SELECT file_key, size") else len(rows))
        return rows

    monkeypatch.setattr(SparkEngine, "query", counted)
    spark.sparkContext.setJobGroup("footers", "hundreds of footers")
    found = lakeprune.explain(table, "x = 4242 AND y < 20", row_groups=True, spark=spark)
    tracker = spark.sparkContext.statusTracker()
    stages = [
        tracker.getStageInfo(stage)
        for job in tracker.getJobIdsForGroup("footers")
        for stage in getattr(tracker.getJobInfo(job), "stageIds", ())
    ]
    tasks = [stage.numTasks for stage in stages if stage is not None]
    assert 20 in tasks, tasks  # of 16 footers each
    assert max(came) <= 10, came
    assert (found.summary.row_groups_total, found.summary.row_groups_kept) == (1280, 1)
    assert untimed(found.to_dict()) == untimed(lakeprune.explain(table, "x = 4242 AND y < 20", row_groups=True).to_dict())
