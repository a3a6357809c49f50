"""Locations that only Spark reaches: read and verified through Hadoop's own file systems, with the answers of a local path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.engines.spark.engine import clone
from tests.builders.delta import users
from tests.builders.untimed import untimed

pytestmark = pytest.mark.spark
WHERE = "country = 'DE' AND age > 40"


def test_a_table_behind_a_hadoop_file_system_is_explained_and_verified_like_a_local_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    local = users(tmp_path / "users")
    DeltaTable(local).create_checkpoint()
    session = clone(spark)
    session.conf.set("fs.viewfs.mounttable.lake.link./tables", f"file://{tmp_path}")
    reported = json.loads(lakeprune.explain("viewfs://lake/tables/users", WHERE, spark=session).to_json(verbose=True))
    expected = json.loads(lakeprune.explain(local, WHERE).to_json(verbose=True))
    assert untimed({**reported, "table": ""}) == untimed({**expected, "table": ""})
    found = lakeprune.verify("viewfs://lake/tables/users", WHERE, spark=session)
    assert (found.passed, found.truth.live_rows, found.truth.matching_rows) == (True, 24, 3)
