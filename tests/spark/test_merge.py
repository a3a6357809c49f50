"""MERGE: the shapes that users write, what Delta scans for them with and without the keys of the source, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

import lakeprune
from lakeprune.apps.statements.merge import checked
from lakeprune.apps.statements.merge.model import ObstacleKind
from lakeprune.apps.statements.model import Status
from lakeprune.apps.statements.plan import StatementPlan
from lakeprune.cli.main import main
from lakeprune.formats.delta.spark_scan import DeltaScan
from tests.scope import IS_WHOLE, only_whole
from tests.spark.merges import merge_sql
from tests.spark.statements import EVENTS, actions, columns_scanned, commits, copied, events, files_scanned, last_execution, rows
from tests.spark.test_update_delete import SCHEMA

pytestmark = pytest.mark.spark
UPSERT = (("when_matched_update", "all"), ("when_not_matched_insert", "all"))


def some_events(spark: SparkSession, *ids: int) -> DataFrame:
    return spark.createDataFrame([(i,) for i in ids], "id BIGINT").selectExpr(*EVENTS).withColumn("v", -sql.col("v"))


def kinds(plan: StatementPlan) -> list[ObstacleKind]:
    assert plan.merge is not None
    return [obstacle.kind for obstacle in plan.merge.obstacles]


def test_the_keys_of_the_source_prune_the_scan_of_the_target(spark: SparkSession, tmp_path: Path) -> None:
    """The shapes of which Delta scans all 20 files, measured by the metrics of its scans."""
    first = events(spark, tmp_path / "events")
    matched = some_events(spark, *range(1210, 1230))
    mixed = some_events(spark, *range(1210, 1230), 5000, 5001)
    shapes: list[tuple[DataFrame, str, Any, int, int]] = [
        (matched, "t.id = s.id", UPSERT, 20, 1),
        (mixed, "t.id = s.id", UPSERT, 20, 1),
        (mixed, "t.id = s.id", UPSERT[1:], 20, 1),
        (matched, "t.id = s.id AND t.id >= 1210 AND t.id <= 1229", UPSERT, 1, 1),
        (matched, "t.id = s.id", (("when_matched_delete", "AND t.ts >= '2024-03-20' AND t.ts < '2024-03-21'"),), 1, 1),
        (mixed, "t.id = s.id", (("when_matched_update", "all"), ("when_not_matched_by_source_delete", "AND t.id < 5")), 20, 20),
    ]
    chosen = shapes if IS_WHOLE else [shapes[1]]
    for number, (source, on, clauses, before, after) in enumerate(chosen):
        table, plain = copied(first, f"ours{number}"), copied(first, f"plain{number}")
        start = last_execution(spark)
        plan = lakeprune.merge(table, source, on=on, spark=spark, clauses=clauses)
        assert set(files_scanned(spark, start)) <= {after}, "step 3 reads the candidates and nothing else"
        assert columns_scanned(spark, start) <= {"id", *(["ts"] if "t.ts" in str(clauses) else [])}, "and what conditions need"
        assert plan.strengthening.as_written is not None
        assert plan.strengthening.as_written.files == before
        start = last_execution(spark)
        done = plan.execute()
        assert max(files_scanned(spark, start), default=0) == after
        assert done.passed, done.to_text()
        jsonschema.validate(done.to_dict(), SCHEMA)

        source.createOrReplaceTempView("source_rows")
        start = last_execution(spark)
        spark.sql(merge_sql(plain, on, clauses))
        assert max(files_scanned(spark, start), default=0) == before
        assert rows(spark, table) == rows(spark, plain)
        assert {a["path"] for a in actions(table, "remove")} == {a["path"] for a in actions(plain, "remove")}


def test_a_range_that_misses_a_key_would_be_caught(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: with a bound that is too narrow the row is inserted again, and step 7 says so."""
    table = events(spark, tmp_path / "events", 3)
    source = some_events(spark, *range(100, 110))
    monkeypatch.setattr(checked, "delta_condition", lambda *_: "t.id BETWEEN 100 AND 104")
    monkeypatch.setattr(checked.CheckedMerge, "scan", lambda _, beside: DeltaScan(3 - len(beside), 1))
    done = lakeprune.merge(table, source, on="t.id = s.id", spark=spark, clauses=UPSERT).execute()
    assert spark.read.format("delta").load(str(table)).count() == 305
    assert not done.passed
    assert {check.name for check in done.reconciliation.differences} >= {"numTargetRowsInserted", "numTargetRowsUpdated"}  # type: ignore[union-attr]


def test_what_keeps_files_from_being_skipped_is_reported_with_what_to_add(spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 8, by="p")
    source = some_events(spark, 5, 405, 405).selectExpr("id", "p", "v", "ts", "n", "st", "CAST(id AS STRING) AS word")
    by_word = lakeprune.merge(table, source.limit(1), on="t.id = s.word", spark=spark, clauses=UPSERT)
    assert kinds(by_word) == [ObstacleKind.NO_LAYOUT_KEY, ObstacleKind.UNUSABLE_CONJUNCT]
    assert by_word.merge is not None
    layout, cast = by_word.merge.obstacles
    assert layout.fix is not None
    assert "AND t.p = s.p" in layout.fix
    assert (layout.files_before, layout.files_after) == (8, 2)
    assert "compared after a cast" in cast.message
    added = lakeprune.merge(table, source.limit(1), on="t.id = s.word AND t.p = s.p", spark=spark, clauses=UPSERT)
    assert (added.strengthening.as_written.files, added.strengthening.scanned.files) == (8, 2)  # type: ignore[union-attr]
    assert ObstacleKind.NO_LAYOUT_KEY not in kinds(added)

    odd = "SELECT * FROM VALUES (5L, 0), (405L, 0), (NULL, 0) AS x(id, p)"
    plan = lakeprune.merge(table, odd, on="t.id = s.id", spark=spark, when_not_matched_by_source_delete="AND t.id < 9")
    assert kinds(plan) == [ObstacleKind.NOT_MATCHED_BY_SOURCE, ObstacleKind.NULL_KEYS]
    assert plan.strengthening.condition is None
    assert "scans all of it" in plan.to_text()
    assert "so that the rest of the MERGE can be pruned: Delta would scan 2 files instead of 8" in plan.to_text()


def test_rows_that_several_source_rows_match_are_refused_before_anything_is_written(spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 2)
    twice = "SELECT * FROM VALUES (5L, 'x'), (7L, 'y'), (7L, 'z') AS x(id, word)"
    for update in ("AND s.word = 'none' THEN v = 0", "v = 0")[: 2 if IS_WHOLE else 1]:
        with pytest.raises(lakeprune.StatementError) as caught:
            lakeprune.merge(table, twice, on="t.id = s.id", spark=spark, when_matched_update=update)
        assert caught.value.code == "LP443"
        assert "2 source rows match one target row with the key t.id = s.id: 7; one of them is {" in str(caught.value)
    # Delta lets a plain DELETE pass.
    plan = lakeprune.merge(table, twice, on="t.id = s.id", spark=spark, when_matched_delete=True)
    assert kinds(plan) == [ObstacleKind.REPEATED_KEYS]
    done = plan.execute()
    assert done.passed, done.to_text()
    assert done.plan.effects.deleted == 2


def test_a_delete_in_which_delta_would_lose_rows_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    feed = "'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'false'"
    table = events(spark, tmp_path / "events", 2, properties=feed)
    clauses = [("when_matched_delete", True), ("when_not_matched_insert", "id = s.id")]
    twice = "SELECT id FROM range(40, 56) UNION ALL SELECT 41L UNION ALL SELECT id FROM range(900, 903)"
    with pytest.raises(lakeprune.StatementError) as caught:
        lakeprune.merge(table, twice, on="t.id = s.id", spark=spark, clauses=clauses)
    assert caught.value.code == "LP444"
    assert "with the key t.id = s.id: 41" in str(caught.value)
    once = lakeprune.merge(table, f"SELECT DISTINCT id FROM ({twice})", on="t.id = s.id", spark=spark, clauses=clauses).execute()
    assert once.passed, once.to_text()
    assert len(rows(spark, table)) == 200 - 16 + 3


def test_rows_that_only_delta_finds_to_match_twice_are_named_too(spark: SparkSession, tmp_path: Path) -> None:
    """A file that our metadata excludes by the clause is scanned by Delta, whose skipping does not know year(); it refuses."""
    table = events(spark, tmp_path / "events", 11)
    twice = "SELECT * FROM VALUES (5L, 'x'), (1005L, 'y'), (1005L, 'z') AS x(id, word)"
    update = "AND year(t.ts) = 2023 THEN v = 0"
    plan = lakeprune.merge(table, twice, on="t.id = s.id", spark=spark, when_matched_update=update)
    assert (plan.skipping.candidates.files, plan.effects.updated) == (1, 1)
    assert plan.strengthening.scanned is not None
    assert plan.strengthening.scanned.files == 2
    with pytest.raises(lakeprune.StatementError) as caught:
        plan.execute()
    assert caught.value.code == "LP443"
    assert "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE" in caught.value.what
    assert "2 source rows match one target row with the key t.id = s.id: 1005" in (caught.value.why or "")
    assert "keep one source row per key" in (caught.value.fix or "")
    assert len(commits(table)) == 2


@only_whole
def test_a_source_is_read_once(spark: SparkSession, tmp_path: Path) -> None:
    """rand() would give other keys to the execution than to the plan, and rows would be inserted twice or not at all."""
    table = events(spark, tmp_path / "events", 2)
    source = spark.range(50).selectExpr("CAST(rand() * 400 AS BIGINT) AS id").distinct()
    plan = lakeprune.merge(table, source, on="t.id = s.id", spark=spark, when_not_matched_insert="id = s.id")
    done = plan.execute()
    assert done.passed, done.to_text()
    ids = spark.read.format("delta").load(str(table)).select("id")
    assert ids.count() == ids.distinct().count() == 200 + plan.effects.inserted  # type: ignore[operator]


def test_a_commit_between_plan_and_execution_is_planned_afresh_with_the_same_source(spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 2)
    source = spark.range(150, 160).selectExpr("id", "rand() AS v")
    plan = lakeprune.merge(table, source, on="t.id = s.id", spark=spark, when_matched_update="v = s.v")
    some_events(spark, 155, 905).write.format("delta").mode("append").save(str(table))
    done = plan.execute()
    assert done.passed, done.to_text()
    assert "planned afresh, other files are to be changed" in done.to_text()
    assert (plan.effects.updated, done.plan.effects.updated) == (10, 11)
    assert spark.read.format("delta").load(str(table)).where("id = 155").select("v").distinct().count() == 1


@only_whole
def test_the_command_plans_and_executes(spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = events(spark, tmp_path / "events", 3, properties="'delta.enableDeletionVectors' = 'true'")
    changes = tmp_path / "changes"
    some_events(spark, 5, 105, 900).selectExpr("*", "IF(id = 5, 'd', 'u') AS op").write.parquet(str(changes))
    statement = ["merge", str(table), "--source", str(changes), "--on", "t.id = s.id -- the key"]
    statement += ["--when-matched-delete", "AND s.op = 'd'", "--when-matched-update", "v = s.v", "--when-not-matched-insert"]
    statement += ["AND s.op = 'u' THEN id = s.id, p = s.p, v = s.v"]
    assert main([*statement, "--format", "json"]) == 0
    document = json.loads(capfd.readouterr().out)
    jsonschema.validate(document, SCHEMA)
    effects = document["plan"]["effects"]
    assert [effects[f"rows_{what}"] for what in ("updated", "deleted", "inserted", "copied")] == [1, 1, 1, 0]
    assert main([*statement, "--max-rows", "2", "--execute"]) == 1
    assert "REFUSED by a guard" in capfd.readouterr().out
    assert len(commits(table)) == 2
    assert main([*statement, "--execute"]) == 0
    said = capfd.readouterr()
    assert "Result: committed as version 2, as planned" in said.out
    assert said.err == "starting Spark (local[*]); its packages are fetched the first time\n"
    assert spark.read.format("delta").load(str(table)).where("v < 0").count() == 2


@pytest.mark.parametrize(
    ("on", "clauses", "code"),
    [
        ("t.id = s.nix", UPSERT, "LP406"),
        ("id = id", UPSERT, "LP446"),
        ("t.id = s.id AND rand() > 0.5", UPSERT, "LP404"),
        ("t.id = s.id", (("when_matched_update", "nix = 1"),), "LP102"),
        ("t.id = s.id", (("when_matched_update", "AND THEN all"),), "LP440"),
        ("t.id = s.id", (("when_not_matched_by_source_update", "all"),), "LP441"),
        ("t.id = s.id", (), "LP256"),
        ("t.id IN (SELECT 1)", UPSERT, "LP406"),
        ("t.id = s.id", (("when_matched_update", "v = struct(1)"),), "LP406"),
    ],
)
def test_what_cannot_work_is_refused_in_one_line(
    on: str, clauses: Any, code: str, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> None:
    table = tmp_path_factory.getbasetemp() / "refusals"
    if not table.exists():
        events(spark, table, 1)
    with pytest.raises(lakeprune.LakepruneError) as caught:
        lakeprune.merge(table, some_events(spark, 1), on=on, spark=spark, clauses=clauses)
    assert caught.value.code == code, str(caught.value)
    assert "\tat " not in str(caught.value)


@pytest.mark.parametrize(
    ("on", "value", "fix"),
    [
        ("t.id = s.id AND v > 1", "s.v", "say whose column it is: t.name for the target's, s.name for the source's"),
        ("t.id = s.id", "open", "did you mean the text?  v = 'open'"),
    ],
)
def test_a_name_that_spark_cannot_resolve_gets_a_fix(
    on: str, value: str, fix: str, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> None:
    table = tmp_path_factory.getbasetemp() / "unresolved"
    if not table.exists():
        events(spark, table, 1)
    with pytest.raises(lakeprune.StatementError) as caught:
        lakeprune.merge(table, some_events(spark, 1), on=on, spark=spark, when_matched_update={"v": value})
    assert (caught.value.code, caught.value.fix) == ("LP406", fix), str(caught.value)


def test_a_table_that_only_takes_new_rows_takes_inserts(spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 2, properties="'delta.appendOnly' = 'true'")
    source = some_events(spark, 7, 900)
    with pytest.raises(lakeprune.StatementError, match="only takes new rows"):
        lakeprune.merge(table, source, on="t.id = s.id", spark=spark, clauses=UPSERT)
    done = lakeprune.merge(table, source, on="t.id = s.id", spark=spark, clauses=UPSERT[1:]).execute()
    assert done.passed, done.to_text()
    assert (done.plan.effects.inserted, done.plan.effects.touched.files) == (1, 0)


def test_nothing_is_committed_when_nothing_changes(spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 2)
    empty = some_events(spark, 1).limit(0)
    for source, clauses in ((some_events(spark, 900), UPSERT[:1]), (empty, UPSERT))[: 2 if IS_WHOLE else 1]:
        done = lakeprune.merge(table, source, on="t.id = s.id", spark=spark, clauses=clauses).execute()
        assert (done.status, done.exit_code) == (Status.NOTHING_MATCHES, 0)
    assert len(commits(table)) == 2
