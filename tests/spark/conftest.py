"""One Spark session for the whole run, tuned for many small queries; without Java every test here is skipped, with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakeprune.engines.spark.packages import iceberg_package
from lakeprune.engines.spark.session import SparkSettings, open_session
from lakeprune.errors import UsageError
from tests.spark.lake import Lake, write_lake, write_t20
from tests.spark.processes import DELTA

# A compiler that stops early, one collector, no code generation: five times faster for queries over a handful of rows.
# By itself such a compiler has room for 48 MB of code: the JVM threw code away, and compiled it again, all the time.
# The parser's cache takes 250 MB after thousands of predicates: in the default heap, half of the time went into garbage.
_SMALL = {
    "spark.driver.memory": "3g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    try:
        session = small_session()
    except UsageError as error:
        if error.code not in ("LP221", "LP222"):
            raise
        pytest.skip(f"no Spark here: {error.what}")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def small_lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """For tests that only read it."""
    return write_lake(spark, tmp_path_factory.mktemp("small") / "lake")


@pytest.fixture(scope="session")
def t20(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For tests that only read it."""
    return write_t20(spark, tmp_path_factory.mktemp("small") / "t20")


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """A namespace for Iceberg tables, in a catalog whose folder is `lake` below the test's own."""
    catalog = f"c{abs(hash(tmp_path)):x}"
    spark.conf.set(f"spark.sql.catalog.{catalog}", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set(f"spark.sql.catalog.{catalog}.type", "hadoop")
    spark.conf.set(f"spark.sql.catalog.{catalog}.warehouse", str(tmp_path / "lake"))
    yield f"{catalog}.db"
    for key in ("", ".type", ".warehouse"):
        spark.conf.unset(f"spark.sql.catalog.{catalog}{key}")


def small_session() -> SparkSession:
    return open_session(SparkSettings("local[2]", conf=tuple(_SMALL.items()), packages=f"{DELTA},{iceberg_package()}"))
