"""The demo's part on Spark: a table by delta-spark, a DataFrame explained, a plan verified."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from demo.on_spark import show_trips
from tests.scope import only_whole

pytestmark = pytest.mark.spark


@only_whole
def test_the_demo_explains_a_data_frame_and_verifies_its_plan(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show_trips(spark, tmp_path / "trips")
    shown = capsys.readouterr().out
    assert "year(started)" in shown
    assert "Result: sound." in shown
    kept, matched = map(int, re.findall(r"24 in the table, (\d+) kept, (\d+) hold a match", shown)[0])
    assert 0 < matched <= kept < 5
