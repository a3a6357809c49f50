"""Plans compared with rows that Delta Spark wrote: sound ones pass, tables with false statistics are caught."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakeprune.apps.verify.verify import verify
from lakeprune.cli.main import main
from lakeprune.errors import PredicateError, TableError
from lakeprune.skipping.verdict import Verdict
from tests.scope import IS_WHOLE, only_whole

pytestmark = pytest.mark.spark
COLUMNS = (
    "id", "cast(id % 7 AS int) AS n", "concat('s', id) AS s", "timestamp_seconds(id * 3600) AS ts", "id % 3 = 0 AS b",
    "CASE id % 3 WHEN 0 THEN 'a b' WHEN 1 THEN 'x%25/y' ELSE 'é+' END AS `the place`",
)  # fmt: skip


@pytest.fixture(scope="module")
def orders(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six files in three partitions with names that need escaping, two of them with deletion vectors, columns renamed since."""
    path = tmp_path_factory.mktemp("verify") / "orders"
    properties = "'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true'"
    spark.sql(
        f"CREATE TABLE delta.`{path}` (id BIGINT, n INT, s STRING, ts TIMESTAMP, b BOOLEAN, `the place` STRING) "
        f"USING delta PARTITIONED BY (`the place`) TBLPROPERTIES ({properties})"
    )
    for start in (0, 100):
        rows = spark.range(start, start + 100).selectExpr(*COLUMNS).coalesce(1)
        rows.write.format("delta").mode("append").save(str(path))
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id IN (3, 4, 150)")
    spark.sql(f"ALTER TABLE delta.`{path}` RENAME COLUMN n TO number")
    return path


QUESTIONS = [
    ("`the place` = 'é+' AND id > 120", "UTC"),
    ("date(ts) = '1970-01-05' AND b", "America/New_York"),
    ("ts < current_timestamp() -- the clock is pinned", "UTC"),
    ("id < 20", "UTC"),
    ("id >= 0", "UTC"),
    ("upper(`the place`) LIKE '%B' OR number = 3", "UTC"),
    ("s LIKE 's1%'", "UTC"),
    ("id IS NULL", "UTC"),
]


@pytest.mark.parametrize(("where", "zone"), QUESTIONS if IS_WHOLE else QUESTIONS[:1])
def test_a_sound_plan_agrees_with_the_rows(where: str, zone: str, orders: Path, spark: SparkSession) -> None:
    found = verify(orders, where, spark=spark, timezone=zone)
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    rows = session.read.format("delta").load(str(orders))
    assert found.passed, found.to_text()
    assert found.truth.live_rows == rows.count() == 197
    matching = rows.selectExpr("_metadata.file_path AS file", f"({where}\n) AS m").where("m").groupBy("file").count().collect()
    assert found.truth.matching_rows == sum(row["count"] for row in matching)
    assert found.truth.files_with_match == len(matching)
    kept = found.report.numbers.kept.files
    assert found.kept_without_match == kept - len(matching)
    assert found.truth.files_with_wrong_row_count == 0
    assert json.loads(found.to_json())["result"] == "pass"


@only_whole
def test_a_table_with_false_statistics_is_caught_and_the_file_named(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "lies"
    spark.range(100).coalesce(1).write.format("delta").save(str(path))
    spark.range(100, 200).coalesce(1).write.format("delta").mode("append").save(str(path))
    lie = path / "_delta_log" / f"{1:020}.json"
    lie.write_text(lie.read_text().replace('\\"maxValues\\":{\\"id\\":199}', '\\"maxValues\\":{\\"id\\":120}'))
    for checksum in (path / "_delta_log").glob(".*.crc"):
        checksum.unlink()
    name = next(json.loads(line)["add"]["path"] for line in lie.read_text().splitlines() if '"add"' in line)

    dropped = verify(path, "id = 150", spark=spark)
    assert not dropped.passed
    assert [(v.path, v.verdict, v.live, v.matching) for v in dropped.violations] == [(name, Verdict.DROP, 100, 1)]
    assert f"{name}: dropped, yet 1 of its 100 rows match" in dropped.to_text()

    full = verify(path, "id BETWEEN 100 AND 130", spark=spark)
    assert [(v.path, v.verdict, v.matching) for v in full.violations] == [(name, Verdict.FULL, 31)]
    assert "yet 69 of its 100 rows do not" in full.to_text()


def test_the_command_fails_loudly_when_the_rows_disagree(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table"
    spark.range(100).coalesce(1).write.format("delta").save(str(path))
    assert main(["verify", str(path), "-w", "id > 1000", "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["result"] == "pass"
    log = path / "_delta_log" / f"{0:020}.json"
    log.write_text(log.read_text().replace('\\"minValues\\":{\\"id\\":0}', '\\"minValues\\":{\\"id\\":50}'))
    for checksum in (path / "_delta_log").glob(".*.crc"):
        checksum.unlink()
    assert main(["verify", str(path), "-w", "id = 7"]) == 1
    said = capfd.readouterr()
    assert "Result: UNSOUND. The rows contradict the verdict on 1 file:" in said.out
    assert "VERIFICATION FAILED: the rows contradict the verdict on 1 file" in said.err


def test_slack_names_the_clause_that_kept_files_without_a_match(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "slack"
    spark.range(0, 200, 2, 2).write.format("delta").save(str(path))
    found = verify(path, "id = 51", spark=spark)
    assert found.passed
    assert (found.report.numbers.kept.files, found.truth.files_with_match) == (1, 0)
    assert [(slack.clause, slack.reason.value, slack.files) for slack in found.slack] == [("id = 51", "RANGES_OVERLAP", 1)]
    assert found.efficiency == 0.5
    assert found.read_amplification is None
    assert found.delta_spark is not None
    assert found.delta_spark.files == 1


def test_what_spark_cannot_evaluate_or_read_is_said_in_one_line(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "table"
    spark.range(10).coalesce(1).write.format("delta").save(str(path))
    with pytest.raises(PredicateError, match="Spark cannot evaluate the predicate"):
        verify(path, "no_such_function(id) = 1", spark=spark)
    for file in path.glob("*.parquet"):
        file.unlink()
    with pytest.raises(TableError) as gone:
        verify(path, "id = 1", spark=spark)
    assert gone.value.code == "LP340"
    assert "\tat " not in str(gone.value)
