"""Beside deltalake and delta-explain on a table that Delta Spark wrote, with float columns: the same files or fewer."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.scope import IS_WHOLE
from tests.soundness.peers import DELTA_EXPLAIN, PREDICATES, kept_by_delta_explain, kept_by_deltalake, kept_by_us

pytestmark = pytest.mark.spark
COLUMNS = (
    "id AS i", "concat('k', id) AS s", "id + 0.5D AS r", "CAST(id + 0.5D AS FLOAT) AS f",
    "CAST(id AS DECIMAL(10, 2)) + 0.34 AS d", "CASE WHEN id DIV 10 % 2 = 0 THEN CAST(id AS INT) END AS n",
    "DATE'2024-01-01' + CAST(id DIV 10 AS INT) AS t", "id DIV 10 % 2 = 1 AS q",
    "CASE WHEN id DIV 10 % 2 = 0 THEN 'a' ELSE 'b' END AS p",
)  # fmt: skip


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("peers") / "table"
    rows = spark.range(0, 50, 1, 5).selectExpr(*COLUMNS)
    rows.write.format("delta").partitionBy("p").save(str(place))
    return place


@pytest.mark.parametrize("where", PREDICATES if IS_WHOLE else PREDICATES[1::4])
def test_we_keep_no_file_that_a_peer_drops(where: str, table: Path) -> None:
    ours = kept_by_us(table, where)
    for theirs in (kept_by_deltalake(table, where), kept_by_delta_explain(table, where) if DELTA_EXPLAIN.exists() else None):
        assert theirs is None or ours <= theirs
