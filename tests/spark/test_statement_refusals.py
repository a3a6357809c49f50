"""Step 1: what cannot mean the same twice, what Spark would not accept, and tables nobody may change, all refused in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.cli.main import main
from lakeprune.errors import LakepruneError, UsageError
from tests.scope import only_whole
from tests.spark.processes import DELTA, connect_server
from tests.spark.statements import commits, copied, events, rows

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return events(spark, tmp_path_factory.mktemp("refusals") / "events", 2)


@pytest.mark.parametrize(
    ("values", "where", "code", "words"),
    [
        ("v = 1 WHERE id = 5 --", "id = 7", "LP401", "near 'WHERE'"),
        ("v = 1 x", "id = 7", "LP401", "a name stands behind it"),
        ("v = rand()", "id = 7", "LP404", "rand() gives another answer every time"),
        ("v = 1", "uuid() = 'x'", "LP404", "uuid()"),
        ("v = 1", "element_at(shuffle(array(id, v)), 1) = 1", "LP404", "shuffle()"),
        ("v = monotonically_increasing_id()", "id = 7", "LP404", "monotonically_increasing_id()"),
        ("v = (SELECT 1)", "id = 7", "LP405", "a subquery cannot be assigned"),
        ("v = st", "id = 7", "LP406", "cannot cast"),
        ("v = 'abc'", "id = 7", "LP406", "'abc'"),
        ("v = sum(id)", "id = 7", "LP406", "UNSUPPORTED_EXPR_FOR_OPERATOR"),
        ("v = open", "id = 7", "LP406", "fix:   did you mean the text?  v = 'open'"),
        ("v = `open`, n = 1", "id = 7", "LP406", "fix:   did you mean the text?  v = 'open'"),
        ("v = nobody(id)", "id = 7", "LP406", "Cannot resolve routine `nobody`"),
        ("v = 1", "nobody(id) = 7", "LP406", "Cannot resolve routine `nobody`"),
        ("v = 1", "current_time() IS NULL", "LP411", "cannot be pinned"),
        ("w = 1", "id = 7", "LP102", "column `w` does not exist"),
        ("v = 1", "idd = 7", "LP102", "did you mean id?"),
        ("v = 1", "id IN (SELECT 1)", "LP105", "a subquery"),
        ("v = 1", "id = 7) OR (TRUE", "LP101", "closes nothing"),
        ("v = 1", "id = 'seven'", "LP106", "not a value of type long"),
    ],
)
def test_wrong_statements_are_refused_in_one_line(
    values: str, where: str, code: str, words: str, table: Path, spark: SparkSession
) -> None:
    with pytest.raises(LakepruneError) as refused:
        lakeprune.update(table, values, where=where, spark=spark)
    assert refused.value.code == code
    assert refused.value.exit_code == 2
    assert words in str(refused.value)
    assert "\tat " not in str(refused.value)
    assert len(str(refused.value).splitlines()) <= 6


def test_random_functions_without_a_known_name_are_found_by_the_analyser(table: Path, spark: SparkSession) -> None:
    from pyspark.sql.functions import udf

    dice = udf(lambda: 4, "int").asNondeterministic()
    spark.udf.register("dice", dice)
    with pytest.raises(LakepruneError) as refused:
        lakeprune.delete(table, where="dice() = id", spark=spark)
    assert refused.value.code in ("LP404", "LP406")


def test_the_clock_is_allowed_in_set_and_pinned_in_the_condition(table: Path, spark: SparkSession) -> None:
    plan = lakeprune.update(
        table,
        "ts = current_timestamp()",
        where="ts < current_timestamp() AND id = 3 -- now",
        spark=spark,
        now="2024-01-01T00:00:00Z",
    )
    assert plan.statement.executed == "ts < timestamp_micros(1704067200000000) AND id = 3"
    assert plan.effects.updated == 1
    again = plan.again(None)
    assert again.statement.executed == plan.statement.executed, "planned afresh, it is still the same moment"


def test_tables_that_may_not_be_changed_are_refused(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = events(spark, tmp_path / "closed", 1, properties="'delta.appendOnly' = 'true'")
    assert main(["delete", str(closed), "-w", "id = 1", "--execute"]) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert "error[LP407] the table only takes new rows" in said.err

    strange = copied(events(spark, tmp_path / "known", 1), "strange")
    first = commits(strange)[0]
    declared = '{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["fromTheFuture"]}}'
    kept = [line for line in first.read_text().splitlines() if '"protocol"' not in line]
    first.write_text("\n".join([*kept, declared]) + "\n")
    for checksum in [*(strange / "_delta_log").glob("*.crc"), *(strange / "_delta_log").glob(".*.crc")]:
        checksum.unlink(missing_ok=True)
    with pytest.raises(LakepruneError) as refused:
        lakeprune.delete(strange, where="id = 1", spark=spark)
    assert refused.value.code == "LP408"
    assert "fromTheFuture" in str(refused.value)

    locked = events(spark, tmp_path / "locked", 1)
    real = os.access  # nobody refuses anything to root
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("_delta_log") and real(path, mode))
    with pytest.raises(LakepruneError) as denied:
        lakeprune.delete(locked, where="id = 1", spark=spark)
    assert denied.value.code == "LP409"
    assert denied.value.where == str(locked / "_delta_log")


@pytest.mark.parametrize(
    ("options", "code"), [({"max_files": -1}, "LP252"), ({"max_rows": "5"}, "LP252"), ({"max_rewrite_bytes": 1.5}, "LP252")]
)
def test_limits_that_are_no_numbers_are_refused(options: dict[str, Any], code: str, table: Path, spark: SparkSession) -> None:
    with pytest.raises(UsageError) as refused:
        lakeprune.delete(table, where="id = 1", spark=spark, **options)
    assert refused.value.code == code


def test_an_option_nobody_knows_is_refused(table: Path, spark: SparkSession) -> None:
    with pytest.raises(TypeError, match="has no option 'max_file'"):
        lakeprune.delete(table, where="id = 1", spark=spark, max_file=1)  # type: ignore[call-arg]  # the mistake under test


def test_the_callers_session_stays_as_it_was(table: Path, spark: SparkSession) -> None:
    mine = spark.newSession()
    settings = {
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.ansi.doubleQuotedIdentifiers": "true",
        "spark.databricks.delta.commitInfo.userMetadata": "mine",
    }
    for key, value in settings.items():
        mine.conf.set(key, value)
    # Five hours behind UTC: only the session's own zone makes it five past midnight there.
    plan = lakeprune.update(table, "v = -2", where="ts = '2022-12-31 19:05:00'", spark=mine)
    assert plan.statement.zone == "America/New_York"
    assert plan.effects.updated == 1
    before = rows(spark, table)
    done = plan.execute()
    assert done.passed, done.to_text()
    assert {key: mine.conf.get(key) for key in settings} == settings
    assert len(set(rows(spark, table)) - set(before)) == 1
    history = spark.sql(f"DESCRIBE HISTORY delta.`{table}` LIMIT 1").collect()[0]
    assert history["userMetadata"].startswith("mine lakeprune:")


SCRIPT = """
import sys, lakeprune
from lakeprune.engines.spark.session import SparkSettings, open_session
spark = open_session(SparkSettings("local[1]", packages=sys.argv[2] or None))
try:
    lakeprune.delete(sys.argv[1], where="id = 1", spark=spark)
except lakeprune.LakepruneError as error:
    print(error.code)
"""


@only_whole
@pytest.mark.parametrize(("packages", "code"), [("", "LP227"), (DELTA, "LP253")])
def test_a_session_without_delta_is_told_what_it_lacks(packages: str, code: str, table: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(table), packages]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == [code]


@only_whole
def test_spark_connect_is_refused_in_one_sentence(table: Path, tmp_path: Path) -> None:
    with connect_server(tmp_path) as address:
        command = [sys.executable, "-m", "lakeprune", "delete", str(table), "-w", "id = 1", "--remote", address, "--execute"]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (2, "")
    assert "error[LP250] statements need a classic Spark session" in found.stderr
