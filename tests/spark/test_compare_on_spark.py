"""`compare` with Spark among the engines, in a process of its own, as users call it."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from lakeprune.apps.compare.compare import compare
from lakeprune.apps.compare.model import Status
from tests.scope import only_whole
from tests.spark.lake import write_lake


@only_whole
def test_spark_says_what_it_pushes_and_the_kernel_what_it_opens(spark: SparkSession, tmp_path: Path) -> None:
    lake = write_lake(spark, tmp_path)
    keys = ", ".join(str(number) for number in (5, 7, 11, 13, 17, 19, 23, 29, 31))
    where = f"year(ts) = 2023 AND p = 0 AND id < 450 AND s >= 'a' AND n NOT IN ({keys})"
    found = compare(lake.orders, where, engines=["spark", "lakeprune"])
    by_spark, by_lakeprune = found.engines
    assert (by_spark.status, by_lakeprune.status) == (Status.RAN, Status.RAN), found
    assert by_spark.rows == by_lakeprune.rows
    assert by_lakeprune.files_opened == found.files_needed == 3
    assert by_spark.files_opened is not None
    assert found.files_needed <= by_spark.files_opened < found.files_total
    pushed = " ".join(by_spark.pushed)
    assert "LessThan(id,450)" in pushed, "a long list of filters is shown whole"
    assert "p#" in pushed
    assert "year" not in pushed
    assert {clause.text: clause.pushdown for clause in found.clauses}["p = 0"] == "Exact"
