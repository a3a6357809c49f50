"""The Spark session that flags ask for, as settings: what a session of our own is given, and that --conf has the last word."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from lakeprune.cli.parser import parsed
from lakeprune.cli.spark_session import add_iceberg, settings_of
from lakeprune.engines.spark.packages import LINES, WITHOUT_MERGE, check_merges, delta_package, iceberg_package
from lakeprune.errors import UsageError
from tests.builders import delta

ZONE = {"spark.sql.session.timeZone": "UTC"}
PARTITIONS = {"spark.databricks.delta.snapshotPartitions": "2", "spark.sql.shuffle.partitions": "4"}


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return delta.users(tmp_path_factory.mktemp("session") / "users")


def given(command: str, *flags: str) -> argparse.Namespace:
    return parsed(command, "", "", flags)


def settings(command: str, *flags: str) -> dict[str, str]:
    return dict(settings_of(given(command, *flags), "/scratch").conf)


@pytest.mark.parametrize("form", ["{}", "file://{}", "delta.`{}`"])
def test_a_small_table_is_given_few_partitions(users: Path, form: str) -> None:
    found = settings("verify", form.format(users), "-w", "age > 1")
    assert found == {"spark.sql.warehouse.dir": "/scratch", **ZONE, **PARTITIONS}


def test_what_the_user_gives_with_conf_wins(users: Path) -> None:
    wanted = {
        "spark.sql.shuffle.partitions": "64",
        "spark.sql.warehouse.dir": "/w",
        "spark.sql.session.timeZone": "Asia/Tokyo",
    }
    flags = [part for name, value in wanted.items() for part in ("--conf", f"{name}={value}")]
    found = settings("verify", str(users), "-w", "age > 1", *flags)
    assert found == {"spark.databricks.delta.snapshotPartitions": "2", **wanted}


def test_a_merge_keeps_the_partitions_of_its_shuffles(users: Path) -> None:
    flags = (str(users), "--source", "./s", "--on", "t.id = s.id", "--when-matched-delete")
    assert "spark.sql.shuffle.partitions" not in settings("merge", *flags)
    assert settings("merge", *flags)["spark.databricks.delta.snapshotPartitions"] == "2"


def test_a_large_log_keeps_sparks_own_partitions(users: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakeprune.cli.spark_session._SMALL_LOG", 10)
    assert settings("verify", str(users), "-w", "age > 1") == {"spark.sql.warehouse.dir": "/scratch", **ZONE}


@pytest.mark.parametrize("flags", [["--master", "spark://h:7077"], ["--master", "yarn"], ["--remote", "sc://h"]])
def test_a_cluster_keeps_its_own_settings(users: Path, flags: list[str]) -> None:
    assert settings("verify", str(users), "-w", "age > 1", *flags) == ZONE


@pytest.mark.parametrize(
    ("flags", "zone"),
    [
        ([], None),
        (["--conf", "spark.sql.session.timeZone=Asia/Tokyo"], "Asia/Tokyo"),
        (["--conf", "spark.sql.session.timeZone=Asia/Tokyo", "--timezone", "Europe/Rome"], "Europe/Rome"),
    ],
)
@pytest.mark.parametrize("command", ["explain", "verify", "delete"])
def test_a_time_zone_given_to_spark_is_that_of_the_command(command: str, flags: list[str], zone: str | None) -> None:
    assert given(command, "./t", "-w", "a > 1", *flags).timezone == zone


def test_an_iceberg_table_of_this_machine_is_given_its_runtime_once(tmp_path: Path, users: Path) -> None:
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "v1.metadata.json").write_text("{}")
    own = "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.0"

    def packages(*flags: str) -> str | None:
        asked = given("explain", *flags, "--engine", "spark")
        add_iceberg(asked)
        found: str | None = asked.packages
        return found

    assert packages(str(tmp_path), "--packages", "a:b:1") == f"{iceberg_package()},a:b:1"
    assert packages(str(tmp_path / "metadata" / "v1.metadata.json")) == iceberg_package()
    assert packages(str(tmp_path), "--packages", own) == own
    assert packages(str(users)) is None


def test_each_line_of_pyspark_has_its_own_connectors() -> None:
    """Spark loads what was built for it; a line without a connector is refused by name, not by a JVM."""
    assert LINES == ("3.5", "4.0", "4.1")
    assert [delta_package(line).partition(":delta-spark_")[2] for line in LINES] == ["2.12:3.3.3", "2.13:4.0.1", "4.1_2.13:4.4.0"]
    assert all(f"runtime-{line}_" in iceberg_package(line) for line in LINES)
    with pytest.raises(UsageError, match=r"no Delta connector for PySpark 4\.9 is known here") as caught:
        delta_package("4.9")
    assert caught.value.code == "LP254"


def test_a_merge_is_refused_on_lines_that_cannot_run_it() -> None:
    for line in LINES:
        if line not in WITHOUT_MERGE:
            check_merges(f"{line}.2")
            continue
        with pytest.raises(UsageError, match=r"MERGE needs Spark 4\.0") as caught:
            check_merges(f"{line}.2")
        assert caught.value.code == "LP263"
