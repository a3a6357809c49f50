"""Plans verified on the tables that writers really make, what the scan costs, and what is said when it fails."""

from __future__ import annotations

import re
import shutil
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession
from pyspark.sql.functions import count_if

from lakeprune.apps.verify.verify import verify
from lakeprune.cli.main import main
from lakeprune.errors import TableError
from tests.scope import IS_WHOLE
from tests.spark.statements import _items, last_execution

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def widened(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Delta Spark: a generated partition column, a widened type, deletion vectors, a checkpoint, commits after it."""
    path = tmp_path_factory.mktemp("tables") / "widened"
    properties = "'delta.enableDeletionVectors' = 'true', 'delta.enableTypeWidening' = 'true', 'delta.checkpointInterval' = '2'"
    spark.sql(
        f"CREATE TABLE delta.`{path}` (id INT, ts TIMESTAMP, c DECIMAL(9,2), d DOUBLE, s STRING, st STRUCT<x: DATE>, "
        f"month INT GENERATED ALWAYS AS (month(ts))) USING delta PARTITIONED BY (month) TBLPROPERTIES ({properties})"
    )
    columns = (
        "CAST(id AS INT) AS id", "timestamp'2024-01-15' + make_dt_interval(CAST(id AS INT)) AS ts",
        "CAST(id / 3 AS DECIMAL(9,2)) AS c",
        "if(id % 9 = 0, double('NaN'), id * 1.5D) AS d", "if(id % 5 = 0, NULL, repeat(CAST(id AS STRING), 20)) AS s",
        "named_struct('x', date_add(date'2024-01-01', CAST(id AS INT))) AS st",
    )  # fmt: skip
    for start in (0, 30):
        rows = spark.range(start, start + 30).selectExpr(*columns).coalesce(1)
        rows.write.format("delta").mode("append").save(str(path))
    spark.sql(f"ALTER TABLE delta.`{path}` ALTER COLUMN id TYPE BIGINT")
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id % 10 = 3")
    return path


@pytest.fixture(scope="module")
def rust(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """deltalake: partitioned, a checkpoint, a commit after it."""
    path = tmp_path_factory.mktemp("tables") / "rust"
    for start in (0, 20, 40):
        ids = range(start, start + 20)
        table = pa.table(
            {
                "id": pa.array(ids, pa.int64()), "place": [f"p {number % 2}/%" for number in ids],
                "s": [f"{number:02}" * 20 for number in ids],
                "day": [date(2024, 1 + number // 20, 1 + number % 20) for number in ids], "d": [number / 3 for number in ids],
                "c": pa.array(ids, pa.int64()).cast(pa.decimal128(20, 0)),
            }
        )  # fmt: skip
        write_deltalake(path, table, mode="append", partition_by=["place"])
        if start == 20:
            DeltaTable(path).create_checkpoint()
    return path


WIDENED = [
    "id BETWEEN 20 AND 22 AND month = 2", "ts >= '2024-02-20' OR s LIKE '5%'", "d > 80 AND c < 19", "st.x = '2024-01-08'",
    "s IS NULL AND id > 30", "year(ts) = 2024 AND month(ts) = 3", "month IN (1, 3) AND NOT (id < 50)", "d = double('NaN')",
]  # fmt: skip
RUST = [
    "place = 'p 1/%' AND id < 15", "day >= '2024-03-05' OR s LIKE '05%'", "c BETWEEN 21 AND 23", "d < 1.5 AND place <> 'p 0/%'",
    "s > '39' AND s < '41'", "dayofmonth(day) = 3",
]  # fmt: skip


@pytest.mark.parametrize("name", ["widened", "rust"] if IS_WHOLE else ["rust"])
def test_plans_on_tables_of_both_writers_agree_with_their_rows(
    name: str, request: pytest.FixtureRequest, spark: SparkSession
) -> None:
    table = request.getfixturevalue(name)
    rows = spark.read.format("delta").load(str(table))
    questions = WIDENED if name == "widened" else RUST
    for where in questions if IS_WHOLE else questions[:1]:
        found = verify(table, where, spark=spark)
        assert found.passed, found.to_text()
        judged = rows.selectExpr("_metadata.file_name AS file", f"({where}) AS m")  # a pushed filter could lose rows with NaN
        matching = judged.groupBy("file").agg(count_if("m").alias("rows")).where("rows > 0").collect()
        assert found.truth.matching_rows == sum(row["rows"] for row in matching)
        assert found.truth.files_with_match == len(matching)
        assert found.truth.live_rows == rows.count()
        assert found.truth.files_with_wrong_row_count == 0


def test_each_file_is_opened_once_and_only_the_columns_of_the_predicate_are_read(
    request: pytest.FixtureRequest, spark: SparkSession
) -> None:
    table = request.getfixturevalue("widened" if IS_WHOLE else "rust")
    before = last_execution(spark)
    found = verify(table, "id > 10 AND c < 3", spark=spark)
    scans = data_scans(spark, before, table)
    assert found.report.numbers.total.files == found.truth.checked_files > 2
    assert sum(files for files, _ in scans) == found.truth.checked_files
    read = [schema for files, schema in scans if files]
    assert len(read) == 1
    vectors = {
        "_tmp_metadata_row_index",
        "__delta_internal_is_row_deleted",
    }  # no columns: where a row stands, whether it is deleted
    assert set(re.findall(r"(\w+):", read[0])) - vectors == {"id", "c"}


def data_scans(spark: SparkSession, since: int, table: Path) -> list[tuple[int, str]]:
    """Of every scan of this table's data after that execution: how many files it read, and which columns."""
    spark._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    found = []
    for execution in (execution for execution in _items(store.executionsList()) if execution.executionId() > since):
        values = store.executionMetrics(execution.executionId())
        for node in _items(store.planGraph(execution.executionId()).allNodes()):
            is_data = (
                node.name().strip() == "Scan parquet" and f"{table.name}]" in node.desc() and "_delta_log" not in node.desc()
            )
            for metric in _items(node.metrics()) if is_data else ():
                if metric.name() == "number of files read":
                    reported = values.get(metric.accumulatorId()).get() if values.contains(metric.accumulatorId()) else "0"
                    found.append((int(reported), node.desc().split("ReadSchema: ")[1]))
    return found


@pytest.mark.usefixtures("spark")  # whose session the command takes up
@pytest.mark.parametrize("harm", ["garbage", "cut", "gone"] if IS_WHOLE else ["gone"])
def test_a_damaged_or_missing_file_is_named_without_a_stack(
    harm: str, rust: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(rust, copy)
    victim = max(copy.rglob("*.parquet"))
    if harm == "gone":
        victim.unlink()
    else:
        victim.write_bytes(b"no Parquet at all" if harm == "garbage" else victim.read_bytes()[:-50])
    assert main(["verify", str(copy), "-w", "id > 5"]) == 3
    said = capfd.readouterr()
    assert said.out == ""
    assert "error[LP340]" in said.err
    assert victim.name in said.err
    assert "\tat " not in said.err
    assert "fix:" in said.err


def test_a_table_that_vanished_between_plan_and_scan_is_said_so(
    rust: Path, tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lakeprune.apps.verify import spark_rows

    copy = tmp_path / "vanishing"
    shutil.copytree(rust, copy)
    scan = spark_rows.rows_of

    def late(rows: spark_rows.Rows) -> object:
        shutil.rmtree(copy)
        return scan(rows)

    monkeypatch.setattr(spark_rows, "rows_of", late)
    with pytest.raises(TableError) as gone:
        verify(copy, "id > 5", spark=spark)
    assert gone.value.code == "LP340"
    assert str(copy) in str(gone.value)
    assert "\tat " not in str(gone.value)
