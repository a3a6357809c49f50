"""The commands and programs of the pages that need Spark: they run, and print what the page shows.

docs/commands/update.md  docs/commands/delete.md  docs/commands/merge.md  docs/commands/verify.md
docs/concepts/dataframes.md  docs/concepts/iceberg.md
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from demo.tables import users, users_flat
from lakeprune.cli.main import main
from tests.docs.blocks import Found, blocks
from tests.docs.test_pages import comparable
from tests.scope import only_whole
from tests.spark.statements import events

pytestmark = [pytest.mark.spark, only_whole]
ORDERS = (
    "id", "date'2024-12-20' + CAST(id DIV 10 AS INT) AS day", "IF(id % 2 = 0, 'x', 'y') AS tenant", "'open' AS status",
    "timestamp'2024-12-20' + make_dt_interval(CAST(id DIV 10 AS INT)) AS created_at", "CAST(id AS DOUBLE) AS price",
)  # fmt: skip
CHANGES = (*ORDERS, "0 AS p", "current_timestamp() AS ts", "1.5D AS v", "IF(id % 3 = 0, 'd', 'u') AS op")
LAYOUT = "CAST(NULL AS STRUCT<x: BIGINT, y: STRING>) AS st", "id AS n"


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of the pages, once."""
    folder = tmp_path_factory.mktemp("written")
    users(folder / "users")
    users_flat(folder / "users-flat")
    events(spark, folder / "events")
    spark.range(0, 200, 1, 4).selectExpr(*ORDERS).write.format("delta").save(str(folder / "orders"))
    changed = spark.range(1210, 1230).union(spark.range(5000, 5002)).coalesce(1)
    changed.selectExpr(*CHANGES, *LAYOUT).write.parquet(str(folder / "changes"))
    readings = folder / "readings"
    for start in (0, 100):
        spark.range(start, start + 100, 1, 1).write.format("delta").mode("append").save(str(readings))
    commit = readings / "_delta_log" / f"{1:020}.json"
    commit.write_text(commit.read_text().replace('\\"maxValues\\":{\\"id\\":199}', '\\"maxValues\\":{\\"id\\":120}'))
    for checksum in (readings / "_delta_log").glob(".*.crc"):
        checksum.unlink()
    return folder


@pytest.mark.parametrize("name", ["update", "delete", "merge", "verify"])
def test_a_page_of_a_command(
    name: str, written: Path, spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(written, tmp_path / "lake")
    for block in blocks(f"docs/commands/{name}.md"):
        execute(block, folder, spark, capfd)


def test_the_page_on_dataframes(written: Path, spark: SparkSession, capfd: pytest.CaptureFixture[str]) -> None:
    spark.read.format("delta").load(str(written / "events")).createOrReplaceTempView("sales")
    for block in blocks("docs/concepts/dataframes.md"):
        execute(block, written, spark, capfd)
    spark.catalog.dropTempView("sales")


def test_the_command_of_the_page_on_iceberg(lake: str, spark: SparkSession, tmp_path: Path) -> None:
    columns = "mission_id STRING, ts TIMESTAMP, panel_voltage DOUBLE"
    spark.sql(f"CREATE TABLE {lake}.flights ({columns}) USING iceberg PARTITIONED BY (mission_id, days(ts))")
    spark.sql(f"INSERT INTO {lake}.flights VALUES ('apollo-7', now(), 28.6), ('soyuz-1', now(), 26.0)")
    (block,) = blocks("docs/concepts/iceberg.md", "sh")
    (command,) = block.commands
    assert main(arguments(command, tmp_path / "lake" / "db")) == 0


def execute(block: Found, folder: Path, spark: SparkSession, capfd: pytest.CaptureFixture[str]) -> None:
    """As on the page, with the places of the tables here: the working directory of the JVM is another one."""
    if block.language == "python":
        names = {
            "spark": spark,
            "changes": spark.read.parquet(str(folder / "changes")),
            "df": spark.read.format("delta").load(str(folder / "events")).where("year(ts) = 2024"),
        }
        exec(block.text.replace('"./', f'"{folder}/'), names)  # noqa: S102  # it is our own page
        return
    outputs = re.split(r"^\$ .*\n", block.text, flags=re.MULTILINE)[1:] or [None] * len(block.commands)
    capfd.readouterr()
    for command, output in zip(block.commands, outputs, strict=True):
        code = main(arguments(command, folder))
        said = capfd.readouterr()
        if output is None:
            assert code == 0, said.err
        else:
            shown = said.out.replace(f"{folder}/", "./") + "".join(_after_start(said.err))
            assert comparable(shown) == comparable(output)


def arguments(command: str, folder: Path) -> list[str]:
    program, *rest = shlex.split(command)
    assert program == "lakeprune"
    places = (re.sub(r"^\./", f"{folder}/", part) for part in rest)
    return [part.replace("/lake/sales", str(folder / "events")) for part in places]


def _after_start(errors: str) -> list[str]:
    return [line for line in errors.splitlines(keepends=True) if not line.startswith("starting Spark")]
