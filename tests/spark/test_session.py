"""Spark that cannot be had is said in clear words, quickly, with the right exit code; what runs is silent."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakeprune
from demo.tables import users
from lakeprune.cli.main import main
from lakeprune.engines.spark.session import SparkSettings, open_session
from tests.builders.untimed import untimed
from tests.scope import only_whole

pytestmark = pytest.mark.spark


def explain(table: Path, *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lakeprune", "explain", str(table), "-w", "age > 40", *flags]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment}, timeout=300)


def test_a_machine_without_java_is_told_what_to_install(tmp_path: Path) -> None:
    found = explain(users(tmp_path / "users"), "--engine", "spark", JAVA_HOME=str(tmp_path / "nowhere"))
    assert found.returncode == 2
    assert found.stdout == ""
    assert "error[LP221] the Spark engine needs Java" in found.stderr
    assert "install Java 17" in found.stderr


def test_a_java_that_is_too_old_is_named(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_392\"' >&2\n")
    java.chmod(0o755)
    found = explain(users(tmp_path / "users"), "--engine", "spark", JAVA_HOME=str(tmp_path))
    assert found.returncode == 2
    assert "error[LP222] Java is older than 17" in found.stderr
    assert "1.8.0_392" in found.stderr


@pytest.mark.parametrize(("flag", "form"), [("--master", "spark://127.0.0.1:{}"), ("--remote", "sc://127.0.0.1:{}")])
def test_an_address_where_nobody_listens_is_an_error_within_seconds(flag: str, form: str, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = form.format(probe.getsockname()[1])
    found = explain(users(tmp_path / "users"), "--engine", "spark", flag, address)
    assert found.returncode == 2
    assert f"error[LP225] nothing answers at {address}" in found.stderr
    assert "Traceback" not in found.stderr


def test_the_token_of_an_address_is_in_no_message(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"sc://127.0.0.1:{probe.getsockname()[1]}"
    found = explain(users(tmp_path / "users"), "--engine", "spark", "--remote", f"{address}/;token=hidden;use_ssl=true")
    assert found.returncode == 2
    assert found.stderr.startswith(f"connecting to Spark ({address})\nerror[LP225] nothing answers at {address}\n")
    assert "hidden" not in found.stderr


def test_flags_for_spark_without_spark_are_refused(tmp_path: Path) -> None:
    found = explain(users(tmp_path / "users"), "--master", "local[2]")
    assert found.returncode == 2
    assert "error[LP226] --master is for Spark" in found.stderr


def test_a_package_that_cannot_be_resolved_is_named(tmp_path: Path) -> None:
    found = explain(users(tmp_path / "users"), "--engine", "spark", "--packages", "org.example:no-such-thing:1.0")
    assert found.returncode == 2
    assert "error[LP223] a package of Spark cannot be had" in found.stderr
    assert "no-such-thing" in found.stderr
    assert "\tat " not in found.stderr


@only_whole
def test_the_command_prints_the_same_on_spark_and_nothing_else(tmp_path: Path) -> None:
    table = users(tmp_path / "users")
    on_spark = explain(table, "--engine", "spark", "--master", "local[1]")
    assert on_spark.returncode == 0
    assert on_spark.stderr == "starting Spark (local[1])\n"
    assert on_spark.stdout == explain(table).stdout


def test_a_second_question_reuses_the_session(spark: SparkSession) -> None:
    assert open_session(SparkSettings("local[2]")).sparkContext is spark.sparkContext


def test_settings_of_the_callers_session_change_nothing_and_stay(spark: SparkSession, tmp_path: Path) -> None:
    table = users(tmp_path / "users")
    expected = lakeprune.explain(table, "country = 'DE' AND age > 40").to_dict(verbose=True)
    mine = spark.newSession()
    settings = {
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.caseSensitive": "false",
    }
    for key, value in settings.items():
        mine.conf.set(key, value)
    found = lakeprune.explain(table, "country = 'DE' AND age > 40", spark=mine).to_dict(verbose=True)
    assert {key: mine.conf.get(key) for key in settings} == settings
    assert untimed(found) == untimed(expected)


def test_a_damaged_log_is_an_error_of_the_table_without_a_stack(spark: SparkSession, tmp_path: Path) -> None:
    table = users(tmp_path / "users")
    commit = table / "_delta_log" / f"{3:020}.json"
    commit.write_text(commit.read_text()[:-40])
    with pytest.raises(lakeprune.TableError) as found:
        lakeprune.explain(table, "age > 40", spark=spark)
    assert found.value.code == "LP306"
    assert f"{3:020}.json" in str(found.value)
    assert "\tat " not in str(found.value)


def test_options_of_object_stores_are_not_passed_over_when_spark_reads_the_store(spark: SparkSession) -> None:
    with pytest.raises(lakeprune.UsageError) as refused:
        lakeprune.explain("s3a://bucket/table", spark=spark, storage_options={"aws_region": "x"})
    assert refused.value.code == "LP228"


def test_keys_inside_a_location_are_never_repeated(spark: SparkSession) -> None:
    with pytest.raises(lakeprune.TableError) as failed:
        lakeprune.explain("s3a://key:hidden@bucket/table", spark=spark)
    assert failed.value.code == "LP304"
    assert "s3a://...@bucket/table" in str(failed.value)
    assert "S3AFileSystem not found" in str(failed.value)
    assert "--packages" in str(failed.value)
    assert "hidden" not in str(failed.value)


def test_a_setting_without_a_value_is_refused(tmp_path: Path) -> None:
    found = explain(users(tmp_path / "users"), "--engine", "spark", "--conf", "spark.executor.memory")
    assert found.returncode == 2
    assert "--conf: this is not a setting\n  where: lakeprune explain\n  fix:   write its name, `=` and its value" in found.stderr


@pytest.mark.usefixtures("spark")
def test_a_query_that_spark_refuses_is_said_without_the_stack_of_the_jvm(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    table = users(tmp_path / "users")
    assert main(["verify", str(table), "-w", "no_such_function(age) = 1"]) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert "\nerror[LP107] Spark cannot evaluate the predicate" in said.err
    assert "  fix: " in said.err
    assert "stacktrace" not in said.err
    assert len(said.err.splitlines()) <= 5, "that Spark starts, and four lines of the error"
