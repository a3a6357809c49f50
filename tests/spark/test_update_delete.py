"""UPDATE and DELETE: the plan is exact, the statement does what Delta's own does, and its commit is checked."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.apps.statements.model import Fate, Status
from lakeprune.cli.main import main
from lakeprune.formats.delta.spark_scan import DeltaScan
from tests.scope import IS_WHOLE
from tests.spark.statements import actions, by_sql, columns_scanned, commits, copied, events, files_scanned, last_execution, rows
from tools.generate_schema import schema_text, target

pytestmark = pytest.mark.spark
SCHEMA = json.loads(target("statement").read_text(encoding="utf-8"))
MARCH = "year(ts) = 2024 AND month(ts) = 3 AND id % 2 = 0"


def test_regenerating_the_schema_changes_nothing() -> None:
    assert target("statement").read_text(encoding="utf-8") == schema_text("statement")


def test_one_file_is_scanned_where_delta_scans_twenty(spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events")
    plain = copied(table, "plain")

    start = last_execution(spark)
    plan = lakeprune.update(table, {"v": "v + 1"}, where=MARCH, spark=spark)
    assert files_scanned(spark, start) == [1], "step 3 reads the one undecided file"
    assert columns_scanned(spark, start) == {"ts", "id"}, "and of it the columns of the condition"
    assert plan.strengthening.as_written is not None
    assert (plan.strengthening.as_written.files, plan.skipping.candidates.files) == (20, 1)
    assert plan.strengthening.scanned is not None
    assert plan.strengthening.scanned.files == 1
    assert (plan.effects.updated, plan.effects.copied, plan.effects.write_amplification) == (50, 50, 2.0)
    assert plan.effects.rewritten.files == 1
    assert len(commits(table)) == 2, "a plan changes nothing"
    jsonschema.validate(plan.to_dict(), SCHEMA)

    start = last_execution(spark)
    done = plan.execute()
    assert max(files_scanned(spark, start)) == 1
    assert done.passed, done.to_text()
    assert done.status is Status.COMMITTED
    jsonschema.validate(done.to_dict(), SCHEMA)

    start = last_execution(spark)
    by_sql(spark, plain, MARCH, {"v": "v + 1"})
    assert max(files_scanned(spark, start)) == 20
    assert rows(spark, table) == rows(spark, plain)
    assert {a["path"] for a in actions(table, "remove")} == {a["path"] for a in actions(plain, "remove")}


def test_nothing_is_committed_when_nothing_matches(spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 2)
    for where in ("id = -1", "id = 7 AND v = 8", "FALSE"):
        done = lakeprune.delete(table, where=where, spark=spark).execute()
        assert (done.status, done.exit_code) == (Status.NOTHING_MATCHES, 0)
        assert "nothing matches" in done.to_text()
        assert done.plan.strengthening.as_written is None, "Delta is not asked what it would scan for nothing"
        jsonschema.validate(done.to_dict(), SCHEMA)
    assert len(commits(table)) == 2


@pytest.mark.parametrize("vectors", ["true", "false"] if IS_WHOLE else ["true"])
def test_files_that_match_whole_are_removed_and_the_others_rewritten_or_hidden(
    vectors: str, spark: SparkSession, tmp_path: Path
) -> None:
    table = events(spark, tmp_path / "events", 4, properties=f"'delta.enableDeletionVectors' = '{vectors}'")
    fate = Fate.VECTOR if vectors == "true" else Fate.REWRITE
    start = last_execution(spark)
    plan = lakeprune.delete(table, where="id BETWEEN 50 AND 249", spark=spark)
    assert files_scanned(spark, start) == [2], "the file that matches whole is not read"
    assert [(file.fate, file.matching) for file in plan.touched].count((Fate.REMOVE, 100)) == 1
    assert sorted((file.fate.value, file.matching) for file in plan.touched if file.fate is fate) == [(fate.value, 50)] * 2
    done = plan.execute()
    assert done.passed, done.to_text()
    assert (plan.effects.deleted, plan.effects.copied) == (200, 0 if vectors == "true" else 100)
    assert spark.read.format("delta").load(str(table)).count() == 200

    # A second DELETE meets the deletion vectors of the first, an UPDATE both.
    again = lakeprune.delete(table, where="id < 60 AND id % 2 = 0 OR id = 300", spark=spark).execute()
    assert again.passed, again.to_text()
    assert again.plan.effects.deleted == 26
    changed = lakeprune.update(table, "v = -1, n = NULL", where="id < 40 OR id > 350", spark=spark).execute()
    assert changed.passed, changed.to_text()
    assert spark.read.format("delta").load(str(table)).where("v = -1 AND n IS NULL").count() == 20 + 49


def test_a_condition_on_partitions_alone_reads_no_file(spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 8, by="p")
    start = last_execution(spark)
    plan = lakeprune.delete(table, where="p % 2 = 1 AND p < 3", spark=spark, require_partition_filter=True)
    assert files_scanned(spark, start) == []
    assert plan.statement.is_partition_only
    assert (plan.effects.removed.files, plan.effects.deleted) == (2, 200)
    assert plan.passed
    assert "Delta scans no file" in plan.to_text()
    assert plan.execute().passed
    assert files_scanned(spark, start) == [], "nor does Delta"

    start = last_execution(spark)
    update = lakeprune.update(table, "v = 0", where="p = 2", spark=spark)
    assert files_scanned(spark, start) == []
    assert update.strengthening.as_written == DeltaScan(0, 0)
    assert update.execute().passed
    assert files_scanned(spark, start) == [2], "the files that are rewritten"


def test_the_command_plans_refuses_and_executes(spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = events(spark, tmp_path / "events", 3)
    statement = ["update", str(table), "--set", "v = 0, st.x = 1 -- done", "-w", "id IN (5, 205)"]
    assert main([*statement, "--format", "json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert (document["result"], document["plan"]["effects"]["rows_updated"]) == ("planned", 2)

    guards = ["--max-files", "1", "--max-rows", "1", "--max-rewrite-bytes", "1KB", "--require-partition-filter"]
    for given in (guards, guards[:2], guards[2:4], guards[4:6], guards[6:])[: 5 if IS_WHOLE else 1]:
        assert main([*statement, *given, "--execute"]) == 1
        said = capfd.readouterr()
        assert "REFUSED by a guard, nothing was changed" in said.out
        assert said.err.count("above the limit of 1") == min(len(given), 6) // 2
        assert ("does not bound a partition column" in said.err) == (guards[6] in given)
    assert main([*statement, "--set", "n = 1"]) == 2
    assert "join both with a comma" in capfd.readouterr().err
    assert main([*statement, "--execute", "--output", str(tmp_path / "no" / "such" / "place.txt")]) == 2
    assert "cannot write" in capfd.readouterr().err
    assert len(commits(table)) == 2, "nothing was changed by any of these"

    assert main([*statement, "--execute", "--max-files", "2"]) == 0
    said = capfd.readouterr()
    assert "Result: committed as version 2, as planned" in said.out
    assert said.err == "starting Spark (local[*]); its packages are fetched the first time\n"
    assert spark.read.format("delta").load(str(table)).where("v = 0 AND st.x = 1").count() == 2
