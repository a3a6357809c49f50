"""What --explain-why and the HTML page ask beyond the patterns gives the same answers on Spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakeprune
from demo.tables import users, users_flat
from tests.scope import only_whole

pytestmark = [pytest.mark.spark, only_whole]


@pytest.mark.parametrize(("write", "where"), [(users, "country = 'DE' OR age < 25"), (users_flat, "age IN (20, 30, 64)")])
def test_diagnoses_are_the_same_on_both_engines(
    write: Callable[[Path], Path], where: str, spark: SparkSession, tmp_path: Path
) -> None:
    table = write(tmp_path / "table")
    embedded = lakeprune.explain(table, where, explain_why=True)
    assert embedded.diagnoses
    assert lakeprune.explain(table, where, explain_why=True, spark=spark).diagnoses == embedded.diagnoses


def test_the_page_shows_the_same_pictures_on_both_engines(spark: SparkSession, tmp_path: Path) -> None:
    table = users(tmp_path / "users")
    where = "country = 'DE' AND age > 40"
    embedded = lakeprune.explain(table, where)
    assert lakeprune.explain(table, where, spark=spark).picture() == embedded.picture()
