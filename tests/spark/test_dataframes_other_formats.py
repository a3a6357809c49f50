"""`lakeprune.spark.explain` on Iceberg tables and Parquet files: the report that Delta has, beside what Spark itself plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import lakeprune.spark
from lakeprune.engines.spark.nodes import class_name, descendants
from lakeprune.engines.spark.planned import iceberg_tasks
from tests.scope import IS_WHOLE

pytestmark = pytest.mark.spark
_MOMENT = "TIMESTAMP_NTZ'2024-01-01 00:00:00' + make_interval(0, 0, 0, int(id % 5), int(id % 7))"
_DAY = "date_add(DATE'1970-01-01', int(id - 50))"
_COLUMNS = f"int(id) AS id, concat(char(int(97 + id % 9)), id) AS s, {_MOMENT} AS ts, decimal(id) / 4 AS m, {_DAY} AS d"


@pytest.fixture
def flights(lake: str, spark: SparkSession) -> str:
    """Five days of ten rows, by day and by bucket."""
    name = f"{lake}.flights"
    spark.sql(
        f"CREATE TABLE {name} (id INT, s STRING, ts TIMESTAMP_NTZ, m DECIMAL(12,4), d DATE) USING iceberg "
        "PARTITIONED BY (days(ts), bucket(3, id))"
    )
    spark.sql(f"INSERT INTO {name} SELECT {_COLUMNS} FROM range(100)")
    return name


def _planned(frame: DataFrame) -> set[str]:
    """The files that Iceberg Spark plans to read, by their names."""
    found = set()
    for node in descendants(frame._jdf.queryExecution().sparkPlan()):
        if class_name(node) == "BatchScanExec":
            found |= {str(task.file().location()).rsplit("/", 1)[-1] for task in iceberg_tasks(node.scan())}
    return found


def test_an_iceberg_scan_is_explained_beside_what_iceberg_plans(flights: str, spark: SparkSession) -> None:
    """Also conditions that partition values decide, which Spark leaves to Iceberg."""
    frame = spark.table(flights).where("ts >= '2024-01-02' AND ts < '2024-01-03' AND id < 60 AND upper(s) = 'A'")
    found = lakeprune.spark.explain(frame)
    (section,) = found.sections
    (report,) = found.reports
    assert (section.scan.format, section.scan.table) == ("iceberg", flights)
    assert report.predicate is not None
    assert all(text in report.predicate for text in ("ts >= '2024-01-02'", "ts < '2024-01-03'", "id < 60", "upper(s) = 'A'"))
    assert report.predicate.count("id < 60") == 1
    assert section.scan.spark is not None
    assert section.scan.spark.files == len(_planned(frame)) == report.engines[0].files
    assert (report.engines[0].name, report.engines[0].basis) == ("Iceberg Spark", "planned")
    assert 0 < report.numbers.kept.files <= len(_planned(frame)) < report.numbers.total.files
    assert "Iceberg Spark: plans" in found.to_text()


def test_gates_are_judged_by_what_iceberg_plans(flights: str, spark: SparkSession) -> None:
    """`coalesce(id, 0) = 5` is nothing that Iceberg uses, and metadata decides it."""
    frame = spark.table(flights).where("coalesce(id, 0) = 5")
    total = len(_planned(frame))
    assert not lakeprune.spark.explain(frame, max_files=total - 1).passed
    assert lakeprune.spark.explain(frame, max_files=total).passed
    by_metadata = lakeprune.spark.explain(frame, max_files=total - 1, gate_on="metadata")
    assert by_metadata.passed
    assert by_metadata.reports[0].numbers.kept.files < total


def test_snapshots_branches_and_metadata_tables(flights: str, spark: SparkSession, tmp_path: Path) -> None:
    (first,) = (row[0] for row in spark.sql(f"SELECT snapshot_id FROM {flights}.snapshots").collect())
    spark.sql(f"ALTER TABLE {flights} CREATE BRANCH side")
    spark.sql(f"INSERT INTO {flights} SELECT {_COLUMNS} FROM range(100, 101)")
    spark.sql(f"INSERT INTO {flights}.branch_side SELECT {_COLUMNS} FROM range(100, 103)")

    def total(query: str) -> int:
        (report,) = lakeprune.spark.explain(spark, query).reports
        return report.numbers.total.files

    before = total(f"SELECT * FROM {flights} VERSION AS OF {first} WHERE id > 3")
    assert total(f"SELECT * FROM {flights} WHERE id > 3") == before + 1
    assert total(f"SELECT * FROM {flights} VERSION AS OF 'side' WHERE id > 3") == before + 3
    by_path = lakeprune.spark.explain(
        spark.read.format("iceberg").load(str(tmp_path / "lake" / "db" / "flights")).where("id = 1")
    )
    assert by_path.reports[0].numbers.total.files == before + 1
    with pytest.raises(lakeprune.TableError, match="not a table of rows"):
        lakeprune.spark.explain(spark, f"SELECT * FROM {flights}.files")


def test_parquet_files_are_explained_beside_what_spark_lists(spark: SparkSession, tmp_path: Path) -> None:
    for day in range(3):
        folder = tmp_path / "rows" / f"day={day}"
        folder.mkdir(parents=True)
        for part in range(2):
            start = day * 100 + part * 10
            pq.write_table(pa.table({"id": list(range(start, start + 10))}), folder / f"{part}.parquet")
    frame = spark.read.parquet(str(tmp_path / "rows")).where("day >= 1 AND id < 105")
    found = lakeprune.spark.explain(frame)
    (section,) = found.sections
    (report,) = found.reports
    assert section.scan.spark is not None
    assert section.scan.spark.files == 4, "Spark itself prunes folders only"
    assert (report.numbers.total.files, report.numbers.kept.files) == (6, 1)
    assert (report.engines[0].name, report.engines[0].files) == ("Spark", 4)
    assert not lakeprune.spark.explain(frame, max_files=3).passed
    assert lakeprune.spark.explain(frame, max_files=3, gate_on="metadata").passed
    several = spark.read.parquet(str(tmp_path / "rows" / "day=1"), str(tmp_path / "rows" / "day=2")).where("id < 105")
    (section,) = lakeprune.spark.explain(several).sections
    assert section.report is None
    unmet = lakeprune.spark.explain(several, assert_stats=True, require_full_attribution=True)
    assert [one.passed for one in unmet.sections[0].assertions] == [False, False]


def _wheres() -> list[str]:
    literals: dict[str, tuple[Any, ...]] = {
        "id": ("0", "37", "99", "200"),
        "s": ("'a'", "'e4'", "'zz'"),
        "ts": ("TIMESTAMP_NTZ'2024-01-02 03:00:00'", "TIMESTAMP_NTZ'2024-01-04 00:00:00'"),
        "m": ("12.25", "24.75"),
        "d": ("DATE'1969-12-31'", "DATE'1970-01-01'", "DATE'1970-02-19'"),
    }
    plain = [f"{c} {op} {v}" for c, values in literals.items() for v in values for op in ("=", "<", "<=", ">", ">=", "<>")]
    mixed = ["id IN (3, 98) AND d < DATE'1970-01-01'", "s LIKE 'b%' OR id < 5", "NOT (ts < TIMESTAMP_NTZ'2024-01-04 00:00:00')"]
    mixed += ["NOT s LIKE 'a%' AND id > 90", "s IS NULL", "m BETWEEN 1 AND 2 OR d = DATE'1970-02-19'"]
    return [*plain, *mixed] if IS_WHOLE else [*plain[::13], *mixed[:3]]


def test_kept_files_are_a_subset_of_what_iceberg_plans_and_hold_every_match(
    flights: str, spark: SparkSession, tmp_path: Path
) -> None:
    """Without floating-point columns, where Iceberg itself loses rows; matches by rows read without a filter."""
    table, wheres = spark.table(flights), _wheres()
    items = ", ".join(f"count_if({where}) AS w{number}" for number, where in enumerate(wheres))
    counted = {
        row["_file"].rsplit("/", 1)[-1]: row
        for row in spark.sql(f"SELECT _file, {items} FROM {flights} GROUP BY _file").collect()
    }
    less = 0
    for number, report in enumerate(lakeprune.explain_many(tmp_path / "lake" / "db" / "flights", wheres, nan_policy="strict")):
        kept = {file.path.rsplit("/", 1)[-1] for file in report.files if file.kept}
        matching = {name for name, row in counted.items() if row[f"w{number}"]}
        planned = _planned(table.where(wheres[number]))
        assert matching <= kept <= planned, wheres[number]
        less += len(planned) < len(counted)
    assert less > len(wheres) / 3
