"""One Spark session for the whole run, tuned for many small queries; without Java every test here is skipped, with the reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lakeprune.engines.spark.session import SparkSettings, open_session
from lakeprune.errors import UsageError
from tests.spark.processes import DELTA

# A compiler that stops early, one collector, no code generation: five times faster for queries over a handful of rows.
_SMALL = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    try:
        session = open_session(SparkSettings("local[2]", conf=tuple(_SMALL.items()), packages=DELTA))
    except UsageError as error:
        if error.code not in ("LP221", "LP222"):
            raise
        pytest.skip(f"no Spark here: {error.what}")
    yield session
    session.stop()
