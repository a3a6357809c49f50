"""`verify` on Iceberg tables and on plain Parquet files: every row is read, and no filter is pushed down."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.apps.verify.model import Verification
from lakeprune.apps.verify.spark_rows import Rows, rows_of
from lakeprune.apps.verify.verify import verify
from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.formats.registry import open_table

pytestmark = pytest.mark.spark
_ROWS = "(1, 1.0D, 'apple'), (2, double('NaN'), 'banana'), (3, -0.0D, 'cherry'), (4, NULL, NULL), (5, double('NaN'), 'apple')"


@pytest.fixture
def floats(lake: str, spark: SparkSession, tmp_path: Path) -> Path:
    """Five files of one row each: NaN, -0.0 and NULL among their values."""
    spark.sql(f"CREATE TABLE {lake}.floats (id INT, x DOUBLE, s STRING) USING iceberg PARTITIONED BY (id)")
    spark.sql(f"INSERT INTO {lake}.floats VALUES {_ROWS}")
    return tmp_path / "lake" / "db" / "floats"


def test_iceberg_spark_loses_rows_that_verify_finds_and_explain_keeps(floats: Path, lake: str, spark: SparkSession) -> None:
    """NaN is greater than every number, -0.0 equals 0.0: Iceberg's own filters drop such files, metadata read here does not."""
    truths = {"x > 0": 3, "x >= 5": 2, "x = 0.0": 1, "x < 0.5": 1, "NOT s LIKE 'a%'": 2}
    lost = {}
    for where, expected in truths.items():
        lost[where] = expected - spark.table(f"{lake}.floats").where(where).count()
        found = verify(floats, where, spark=spark)
        assert found.passed, where
        assert found.truth.matching_rows == expected, where
        assert found.report.numbers.kept.files >= expected, where
        assert found.spark is not None
        assert found.spark.name == "Iceberg Spark"
        assert found.spark.files == expected - lost[where], where
    assert lost == {"x > 0": 2, "x >= 5": 2, "x = 0.0": 1, "x < 0.5": 0, "NOT s LIKE 'a%'": 0}


def test_nothing_is_pushed_down_when_rows_are_read(floats: Path, spark: SparkSession, tmp_path: Path) -> None:
    """By the plan that Spark runs: no filter in the scan, and none above it; a query with the same predicate has both."""
    pq.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / "a.parquet")
    for table in (floats, tmp_path / "a.parquet"):
        source = open_table(str(table), DuckDBEngine()).row_source(None)
        rows = rows_of(Rows(spark, str(table), None, "UTC", None, source))
        counted = rows.selectExpr("__lakeprune_file AS url", "(x > 1.5) AS matches").groupBy("url").agg({"matches": "count"})
        ours, usual = (str(frame._jdf.queryExecution().executedPlan().toString()) for frame in (counted, rows.where("x > 1.5")))
        assert not re.search(r"(?m)^[\s+:*()\d-]*Filter", ours), ours
        assert "filters=," in ours or "PushedFilters: []" in ours, ours
        assert "x > 1.5" in usual or "GreaterThan(x,1.5)" in usual, usual


def test_deletes_time_travel_and_branches_are_those_of_the_snapshot(lake: str, spark: SparkSession, tmp_path: Path) -> None:
    name = f"{lake}.t"
    how = "TBLPROPERTIES ('format-version'='2', 'write.delete.mode'='merge-on-read')"
    spark.sql(f"CREATE TABLE {name} (id INT, x DOUBLE) USING iceberg {how}")
    spark.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ id, double(id) FROM range(10)")
    (first,) = (row[0] for row in spark.sql(f"SELECT snapshot_id FROM {name}.snapshots").collect())
    spark.sql(f"ALTER TABLE {name} CREATE BRANCH side")
    spark.sql(f"INSERT INTO {name}.branch_side VALUES (77, 77)")
    spark.sql(f"DELETE FROM {name} WHERE id IN (3, 4)")
    table = tmp_path / "lake" / "db" / "t"

    def rows(where: str, **options: Any) -> tuple[int, int]:
        found = verify(table, where, spark=spark, **options)
        assert found.passed
        return found.truth.live_rows, found.truth.matching_rows

    assert rows("id >= 3") == (8, 5)
    assert rows("id >= 3", version=first) == (10, 7)
    assert rows("id >= 3", ref="side") == (11, 8)


def test_a_falsified_bound_makes_verify_fail(floats: Path, spark: SparkSession) -> None:
    """Negative control: the recorded maximum of one file is lowered below its value."""
    assert verify(floats, "s = 'cherry'", spark=spark).passed
    (manifest,) = (place for place in (floats / "metadata").glob("*-m0.avro"))
    with manifest.open("rb") as source:
        reader: Any = fastavro.reader(source)
        schema, metadata, records = reader.writer_schema, reader.metadata, list(reader)
    for record in records:
        for kind in ("lower_bounds", "upper_bounds"):
            for bound in record["data_file"][kind]:
                if bound["value"] == b"cherry":
                    bound["value"] = b"aaa"
    header = {key: value for key, value in metadata.items() if not key.startswith("avro.")}
    with manifest.open("wb") as target:
        fastavro.writer(target, schema, records, metadata=header)
    manifest.with_name(f".{manifest.name}.crc").unlink(missing_ok=True)
    _set_length(floats, manifest)
    found = verify(floats, "s = 'cherry'", spark=spark)
    assert not found.passed
    assert [(each.verdict.value, each.matching) for each in found.violations] == [("DROP", 1)]
    assert "UNSOUND" in found.to_text()


def _set_length(table: Path, manifest: Path) -> None:
    (listed,) = (table / "metadata").glob("snap-*.avro")
    with listed.open("rb") as source:
        reader: Any = fastavro.reader(source)
        schema, metadata, records = reader.writer_schema, reader.metadata, list(reader)
    records = [{**record, "manifest_length": manifest.stat().st_size} for record in records]
    header = {key: value for key, value in metadata.items() if not key.startswith("avro.")}
    with listed.open("wb") as target:
        fastavro.writer(target, schema, records, metadata=header)
    listed.with_name(f".{listed.name}.crc").unlink(missing_ok=True)


def _folder(root: Path) -> Path:
    """Hive folders, a name that URLs escape, and files whose columns differ."""
    for day, start in (("2024-01-01", 0), ("2024-01-02", 10)):
        folder = root / f"day={day}"
        folder.mkdir(parents=True)
        columns = {"id": list(range(start, start + 10)), "x": [float("nan"), *map(float, range(start + 1, start + 10))]}
        pq.write_table(pa.table(columns), folder / "part 1%.parquet")
    pq.write_table(pa.table({"id": [100], "x": [1.0], "late": ["yes"]}), root / "day=2024-01-02" / "b.parquet")
    return root


def test_plain_parquet_files_are_verified(spark: SparkSession, tmp_path: Path) -> None:
    root = _folder(tmp_path / "rows")
    truths = {"id >= 12 AND day = '2024-01-02'": 9, "x > 15": 6, "late = 'yes'": 1, "day = '2024-01-01' AND id < 3": 3}
    for where, expected in truths.items():
        found = verify(root, where, spark=spark)
        assert found.passed, where
        assert (found.truth.live_rows, found.truth.matching_rows, found.truth.checked_files) == (21, expected, 3), where
    half = verify(root, "id >= 100", spark=spark, sample=0.000001)
    assert half.passed
    assert half.truth.checked_files == half.report.numbers.kept.files == 1
    document = json.loads(found.to_json())
    assert document["delta_spark"] is None
    assert document["spark"]["files"] == 1


def test_a_file_that_was_replaced_makes_verify_fail(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control for footers: rows that are not those whose statistics were read."""
    root = _folder(tmp_path / "rows")
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"id": [999], "x": [0.0], "late": ["no"]}), other)
    found = _verified_after(root, "id = 999", spark, lambda: other.replace(root / "day=2024-01-02" / "b.parquet"), monkeypatch)
    assert not found.passed
    assert [each.path for each in found.violations] == ["day=2024-01-02/b.parquet"]


def _verified_after(root: Path, where: str, spark: SparkSession, act: Any, monkeypatch: pytest.MonkeyPatch) -> Verification:
    from lakeprune.apps.verify import spark_rows

    usual = spark_rows.rows_to_check

    def replaced(*arguments: Any) -> Rows:
        act()
        return usual(*arguments)

    monkeypatch.setattr(spark_rows, "rows_to_check", replaced)
    return verify(root, where, spark=spark)


def test_a_copied_table_is_refused_with_the_reason(floats: Path, spark: SparkSession) -> None:
    floats.rename(floats.with_name("copy"))
    with pytest.raises(lakeprune.TableError) as caught:
        verify(floats.with_name("copy"), "id = 1", spark=spark)
    assert caught.value.code == "LP364"
