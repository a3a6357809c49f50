"""What a newcomer types wrongly, and what lakeprune answers: one table of (input, exit code, error code, fix).

A fix that says "write: ..." is pasted, and must be accepted. Nothing here starts Spark: what needs neither Spark nor the table is
refused before. Whether Spark refuses the same is shown by the recorded answers
(tests/predicate/test_spark_answers.py) and, for nested columns, by tests/spark/test_refusals.py.
"""

from __future__ import annotations

import json
import shlex
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

import lakeprune
from lakeprune.cli.main import main
from tests.builders import delta

# What is typed: a predicate, or after `$` a command | the exit code | the code of the error | the fix as it is shown, of
# commands a part of it. A hyphen stands for no fix, of commands for any.
TABLE = Path(__file__).with_name("messages.txt").read_text()
ROWS = [[part.strip() for part in line.rsplit(" | ", 3)] for line in TABLE.strip().splitlines()]
PREDICATES = [row for row in ROWS if not row[0].startswith("$ ")]
COMMANDS = [(row[0].removeprefix("$ "), *row[1:]) for row in ROWS if row[0].startswith("$ ")]
ACCEPTED = (
    "cast(id as int) = 1", "region != 'EU' AND cast(region as int) = 1", "_metadata.file_path LIKE '%x%'",
    "customer['name'] = 'x'", "tags[0] = 'a'", "(region, id) IN (('EU', 1L))", "trim(region, 'x') = 'EU'",
    "size(transform(tags, x -> 'a')) > 0", "coalesce(NOT NULL, active)", "CAST(array(tags) AS ARRAY<ARRAY<STRING> >) IS NULL",
    "id >> 1 = 5", "active =!active", "x'41' = region",
)  # fmt: skip
ACCEPTED_COMMANDS = (
    "explain delta.`users` -w 'age > 40'",
    "explain DELTA.`./users` -w 'age > 40'",
    "explain users -w '-age < 5'",
    "version",
)


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Every type that a row of the table is about; partitioned by region and day."""
    rows = pa.table({
        "id": pa.array([1, 1400], pa.int64()),
        "amount": [1.5, 2.5],
        "ts": pa.array([0, 1], pa.timestamp("us", "UTC")),
        "active": [True, False],
        "customer": pa.array([{"name": "x", "age": 3}] * 2, pa.struct([("name", pa.string()), ("age", pa.int32())])),
        "tags": [["a"], ["b"]],
        "Order Total": pa.array([1, 2], pa.int32()),
        "region": ["EU", "US"],
        "day": [date(2025, 1, 3)] * 2,
    })  # fmt: skip
    path = tmp_path_factory.mktemp("messages") / "sales"
    return str(delta.write_table(path, [rows], partition_by=["region", "day"]))


def asked(table: str, where: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(["explain", table, "-w", where])
    return code, capsys.readouterr().err


@pytest.mark.parametrize(("typed", "exit_code", "error", "fix"), PREDICATES, ids=[row[0] for row in PREDICATES])
def test_a_mistake_gets_the_fix_that_works(
    sales: str, typed: str, exit_code: str, error: str, fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, shown = asked(sales, typed, capsys)
    assert code == int(exit_code)
    assert f"error[{error}]" in shown
    fixes = [line.removeprefix("  fix:   ") for line in shown.splitlines() if line.startswith("  fix:   ")]
    assert fixes == ([] if fix == "-" else [fix])
    if "write: " in fix:
        assert asked(sales, fix.rpartition("write: ")[2], capsys)[0] == 0


@pytest.mark.parametrize("where", ACCEPTED)
def test_what_spark_accepts_is_accepted(sales: str, where: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(sales, where, capsys)[0] == 0


def test_what_lakeprune_cannot_evaluate_is_not_shown_as_a_fact(sales: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", sales, "-w", "soundex(region) = 'E000'"]) == 0
    shown = capsys.readouterr().out
    assert "  not evaluated:  soundex(region) = 'E000'  (Spark does, exactly, and may read fewer files)" in shown.splitlines()
    assert "stats-safe:     -" in shown
    assert "(at least 0% pruned)" in shown
    assert main(["explain", sales, "-w", "soundex(region) = 'E000'", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["analysis"]["not_evaluated"] == "soundex(region) = 'E000'"
    assert [note["code"] for note in document["analysis"]["notes"]] == ["NOT_EVALUATED"]
    (engine,) = document["engines"]
    assert engine["why"] == ["at most: it evaluates what lakeprune cannot, soundex(region) = 'E000'"]


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("date_format(day, 'EEE') = 'Fri'", "the pattern letters 'EEE'"),
        ("region RLIKE '(?i)^eu$'", "the regular expression '(?i)^eu$' may mean something else in Java"),
        ("round(day(day) / 2) = 2", "rounding a double depends on its text"),
        ("date_trunc('month', '2025-01-10') = day", "date_trunc of type string"),
    ],
)
def test_what_lakeprune_cannot_evaluate_for_a_value_is_not_shown_as_a_fact_either(
    sales: str, where: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", sales, "-w", where, "--min-pruning", "50"]) == 1
    shown = capsys.readouterr()
    assert f"  not evaluated:  {where}  (Spark does, exactly, and may read fewer files)" in shown.out.splitlines()
    assert "partition-exact" not in shown.out
    assert f"[NOT_EVALUATED] lakeprune cannot evaluate it ({why}); Spark does, exactly" in shown.out
    assert "Reads 2 of 2 files" in shown.out
    assert "at least 0% pruned" in shown.out
    failed = "total pruning 0.0% is below threshold 50.0%, as far as lakeprune can evaluate the predicate"
    assert shown.err.startswith(f"ASSERTION FAILED: {failed}; Spark may read fewer files: {where}")


@pytest.mark.parametrize(
    ("where", "files"),
    [
        ("day LIKE '2025-01-0%'", 2),
        ("day NOT LIKE '2025%'", 0),
        ("if(region = 'EU', 1, 2L) = 1", 1),
        ("greatest(length(region), 3L) = 3", 2),
        ("case region when 'EU' then 1 else 0.5D end = 0.5", 1),
        ("coalesce(id, 0) > 1000", 1),
    ],
)
def test_what_spark_casts_silently_is_evaluated(sales: str, where: str, files: int) -> None:
    report = lakeprune.explain(sales, where)
    assert report.kept_files == files
    assert [reason for clause in report.clauses for reason in clause.clause.reasons] == []


def test_a_clause_that_is_evaluated_for_every_value_is_a_fact(sales: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", sales, "-w", "date_format(day, 'yyyy') = '2024'"]) == 0
    shown = capsys.readouterr().out
    assert "partition-exact: date_format(day, 'yyyy') = '2024'" in shown
    assert "NOT_EVALUATED" not in shown


def test_a_clause_that_is_evaluated_in_part_is_named_by_its_phase(sales: str, capsys: pytest.CaptureFixture[str]) -> None:
    where = "(soundex(region) = 'E000' AND day = '2024-01-01') OR day = '2025-01-01'"
    assert main(["explain", sales, "-w", where]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "predicate:" not in lines
    assert any(line.startswith("predicate:       (soundex(region) = 'E000')") for line in lines)


@pytest.mark.parametrize("where", [row[0] for row in PREDICATES if row[2] != "LP102"])
def test_no_message_names_a_class_of_a_parser(sales: str, where: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert not any(word in asked(sales, where, capsys)[1] for word in (" expression\n", "Placeholder", "sqlglot", "None"))


@pytest.fixture
def beside_users(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.getbasetemp() / "messages"
    if not Path(folder).exists():
        delta.users(folder / "users")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("JAVA_HOME", "/nowhere")  # whoever starts Spark says LP221


@pytest.mark.usefixtures("beside_users")
@pytest.mark.parametrize(("typed", "exit_code", "error", "fix"), COMMANDS, ids=[row[0] for row in COMMANDS])
def test_a_wrong_command_line_gets_its_fix_before_spark_starts(
    typed: str, exit_code: str, error: str, fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(shlex.split(typed)) == int(exit_code)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"error[{error}] ")
    fixes = [line.removeprefix("  fix:   ") for line in shown.err.splitlines() if line.startswith("  fix:   ")]
    assert fix == "-" or (len(fixes) == 1 and fix in fixes[0])
    _, _, command = fix.partition("lakeprune explain users ")
    if command:
        assert main(["explain", "users", *shlex.split(command)]) == 0


@pytest.mark.usefixtures("beside_users")
@pytest.mark.parametrize("typed", ACCEPTED_COMMANDS)
def test_what_our_own_fixes_print_is_accepted(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(typed)) == 0, capsys.readouterr().err


@pytest.mark.usefixtures("beside_users")
def test_the_time_that_spark_takes_is_announced_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "users", "-w", "age > 40"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "starting Spark (local[*]); its packages are fetched the first time"
    assert said[1].startswith("error[LP221] the Spark engine needs Java")
    assert sum("starting Spark" in line for line in said) == 1
