"""Partition values that become text: what Spark prints on a real table is what the plan has printed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from lakeprune.apps.verify.verify import verify
from tests.builders.delta import add, metadata, write_log
from tests.scope import IS_WHOLE
from tests.soundness.judging import MODERN

pytestmark = pytest.mark.spark
VALUES = {
    "decimal(10,2)": ("7.5", "100", "-0", "7.50"),
    "double": ("1e10", "-0.0", "100", "0.1", "816075259554e7"),
    "date": ("2024-01-05",),
    "boolean": ("true",),
}


@pytest.mark.parametrize("type_", VALUES if IS_WHOLE else ["decimal(10,2)"])
def test_text_of_a_partition_value_is_sparks(spark: SparkSession, tmp_path: Path, type_: str) -> None:
    root, recorded = tmp_path / "table", VALUES[type_]
    files = [add(f"f{n}.parquet", partition={"p": text}, stats='{"numRecords":1}') for n, text in enumerate(recorded)]
    write_log(root, [[MODERN, metadata({"x": "integer", "p": type_}, ["p"]), *files]])
    for n in range(len(recorded)):
        pq.write_table(pa.table({"x": pa.array([n], pa.int32())}), root / f"f{n}.parquet")
    printed = [row[0] for row in spark.read.format("delta").load(str(root)).selectExpr("cast(p AS string)").collect()]
    texts = list(dict.fromkeys([*recorded, *printed]))
    for text in texts if IS_WHOLE else texts[::4]:
        where = f"cast(p AS string) = '{text}' OR concat(p, '!') = '{text}?' OR length(p) = {len(text)} + 100"
        assert verify(root, where, spark=spark).passed, where
