"""`lakeprune explain --sql`: every scan of a query from the command line, its gates, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pyspark.sql import SparkSession

import lakeprune
import lakeprune.spark
from lakeprune.cli.main import main
from lakeprune.report.gates import GATES, Unit
from tools.generate_schema import target

pytestmark = pytest.mark.spark
SPARK = ("explain", "--engine", "spark", "--sql")


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("query") / "a b")
    rows = spark.range(0, 400).selectExpr("id", "timestamp_seconds(id * 3600) AS ts").repartitionByRange(4, "id")
    rows.write.format("delta").save(path)
    return path


def test_a_query_is_explained_in_every_form(table: str, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    query = f"SELECT * FROM delta.`{table}` WHERE id IN (5, 350)"
    assert main([*SPARK, query]) == 0
    text = capfd.readouterr().out
    assert "Delta Spark: plans 4 of 4 files" in text
    assert "Total reduction: 4 -> 2 files (50% pruned)" in text
    assert "then it plans 2 files" in text
    assert main([*SPARK, query, "--format", "json", "--verbose", "--limit", "1"]) == 0
    document = json.loads(capfd.readouterr().out)
    jsonschema.validate(document, json.loads(target("dataframe").read_text(encoding="utf-8")))
    assert [scan["explanation"]["final_files"] for scan in document["scans"]] == [2]
    assert len(document["scans"][0]["explanation"]["files"]) == 1
    page = tmp_path / "page.html"
    assert main([*SPARK, query, "--format", "html", "--output", str(page)]) == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_zone_of_a_query_is_the_one_that_is_given(table: str, capfd: pytest.CaptureFixture[str]) -> None:
    query = f"SELECT * FROM delta.`{table}` WHERE ts < '1970-01-01 05:00:00'"
    assert main([*SPARK, query, "--timezone", "Asia/Tokyo", "--format", "json"]) == 0
    (scan,) = json.loads(capfd.readouterr().out)["scans"]
    assert scan["explanation"]["session"]["timezone"] == "Asia/Tokyo"
    assert scan["explanation"]["final_files"] == scan["spark"]["files"] == 0


def test_every_gate_is_judged_on_a_query_and_on_a_dataframe(
    spark: SparkSession, table: str, capfd: pytest.CaptureFixture[str]
) -> None:
    query = f"SELECT * FROM delta.`{table}` WHERE id IN (5, 350)"
    given = {Unit.SWITCH: [], Unit.CODES: ["CONTRADICTION"]}
    flags = [["--" + name.replace("_", "-"), *given.get(gate.unit, ["0"])] for name, gate in GATES.items()]
    main([*SPARK, query, "--format", "json", *(part for flag in flags for part in flag)])
    (scan,) = json.loads(capfd.readouterr().out)["scans"]
    limits: Any = {name: {Unit.SWITCH: True, Unit.CODES: ["CONTRADICTION"]}.get(gate.unit, 0) for name, gate in GATES.items()}
    (section,) = lakeprune.spark.explain(spark.sql(query), **limits).sections
    wanted = [gate.name for gate in GATES.values()]
    assert [each["name"] for each in scan["explanation"]["assertions"]] == wanted
    assert [each.name for each in section.assertions] == wanted


def test_a_gate_that_fails_on_one_scan_is_exit_code_1(table: str, capfd: pytest.CaptureFixture[str]) -> None:
    query = f"SELECT a.id FROM delta.`{table}` a JOIN delta.`{table}` b ON a.id = b.id + 1 WHERE a.id < 50"
    assert main([*SPARK, query, "--max-files", "1"]) == 1
    said = capfd.readouterr()
    assert "ASSERTION FAILED: scan 2: 4 file(s) to read are above the limit of 1" in said.err
    assert "scan 1:" not in said.err
    assert main([*SPARK, query, "--max-files", "4"]) == 0


def test_a_statement_is_refused_and_not_run(table: str, capfd: pytest.CaptureFixture[str]) -> None:
    for statement in (f"DELETE FROM delta.`{table}`", f"CREATE TABLE delta.`{table}2` USING delta AS SELECT 1 AS x"):
        assert main([*SPARK, statement]) == 2
        said = capfd.readouterr()
        assert said.out == ""
        assert "error[LP242] this is a statement, not a query" in said.err
    assert lakeprune.explain(table).facts.version == 0
    assert not Path(f"{table}2").exists()


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (["--sql", "SELECT 1"], "LP243"),
        (["./t", "--engine", "spark", "--sql", "SELECT 1"], "LP244"),
        (["--engine", "spark", "--sql", "SELECT 1", "-w", "id = 1"], "LP244"),
        (["--engine", "spark", "--sql", "SELECT 1", "--at-version", "0"], "LP244"),
        (["--engine", "spark", "--sql", "SELECT 1", "--region", "eu-west-1"], "LP244"),
        (["--engine", "spark"], "LP202"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(flags: list[str], code: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *flags]) == 2
    said = capfd.readouterr()
    assert f"error[{code}]" in said.err
    assert said.out == ""


@pytest.mark.parametrize(
    ("query", "exit_code", "code"),
    [
        ("SELECT 1 AS x", 3, "LP345"), ("SELECT * FROM no_such_table", 3, "LP348"), ("SELECT * FROM delta.`/none`", 3, "LP348"),
        ("SELECT * FROM delta.`{table}` VERSION AS OF 9", 3, "LP348"), ("SELECT nothing FROM delta.`{table}`", 2, "LP109"),
        ("SELEC", 2, "LP109"), ("DESCRIBE HISTORY delta.`{table}`", 2, "LP242"),
    ],
)  # fmt: skip
def test_a_query_that_cannot_be_explained_says_why_and_what_to_do_without_a_stack(
    query: str, exit_code: int, code: str, table: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*SPARK, query.format(table=table)]) == exit_code
    said = capfd.readouterr()
    assert f"error[{code}]" in said.err
    assert "  fix: " in said.err
    assert "DataFrame" not in said.err
    assert said.out == ""
    assert "\tat " not in said.err
    assert "Exception" not in said.err
