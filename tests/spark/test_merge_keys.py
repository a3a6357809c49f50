"""The keys of a source beside ON, for keys of every type: the same pairs of rows match, and none is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

import lakeprune
from tests.scope import IS_WHOLE

pytestmark = pytest.mark.spark
TYPES = {
    "tiny": "CAST(id % 100 AS TINYINT)",
    "small": "CAST(id AS SMALLINT)",
    "long": "id - 5000000000",
    "flo": "CAST(id / 10 AS FLOAT)",
    "dou": "CAST(id / 10 AS DOUBLE)",
    "dec": "CAST(id / 8 AS DECIMAL(12,3))",
    "day": "date_add(date'2024-01-01', CAST(id AS INT))",
    "ts": "timestamp'2024-10-27 01:30:00' + make_dt_interval(0, 0, CAST(id AS INT), 0.000001)",
    "ntz": "timestamp_ntz'2024-10-27 01:30:00' + make_dt_interval(0, 0, CAST(id AS INT), 0.000001)",
    "flag": "id % 2 = 0",
    "word": "concat(substr('a\\'b%_\\\\é', CAST(id % 7 AS INT) + 1), id)",
    "nested": "named_struct('x', id, 'y', CAST(id AS STRING))",
}
NAMES = [name if name != "nested" else "nested.x" for name in TYPES]
# Files do not tell these apart: tiny and flag repeat, words are in no order, an hour that clocks show twice may be either.
SPREAD = ("tiny", "flag", "word", "ts")


@pytest.fixture(scope="module")
def berlin(spark: SparkSession) -> SparkSession:
    """A session in a zone whose clocks are set back within the data."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    session.conf.set("spark.sql.ansi.enabled", "false")  # the random MERGEs run with it
    return session


@pytest.fixture(scope="module")
def table(berlin: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight files of 40 rows, in the order of nearly every column."""
    path = tmp_path_factory.mktemp("keys") / "table"
    columns = [f"IF(id % 17 = 0, NULL, {expression}) AS {name}" for name, expression in TYPES.items()]
    berlin.range(0, 320, 1, 8).selectExpr("id", *columns).write.format("delta").save(str(path))
    return path


@pytest.mark.parametrize("name", NAMES if IS_WHOLE else ["ts", "nested.x"])
def test_the_condition_of_a_key_of_any_type_loses_no_match(name: str, berlin: SparkSession, table: Path) -> None:
    """Keys of one file, one of the last, NULL, and one that no row has."""
    target = berlin.read.format("delta").load(str(table))
    keys = target.where("id BETWEEN 41 AND 78 OR id = 319").unionAll(target.limit(1).selectExpr(*_nothing(target)))
    for operator in ("=", "<=>") if IS_WHOLE else ("<=>",):
        on = f"t.{name} {operator} s.{name}"
        expected = target.alias("t").join(keys.alias("s"), sql.expr(on), "left_semi").count()
        plan = lakeprune.merge(table, keys, on=on, spark=berlin, when_matched_delete=True)
        assert plan.effects.deleted == expected > 0
        assert plan.merge is not None
        condition = plan.merge.keys[0].condition
        assert condition is not None
        kept = target.alias("t").where(condition)
        assert kept.join(keys.alias("s"), sql.expr(on), "left_semi").count() == expected, condition
        if operator == "=" and name not in SPREAD:
            assert plan.skipping.candidates.files == 2, "the file of the keys, and the last"
            assert plan.strengthening.scanned is not None
            assert plan.strengthening.scanned.files == 2, condition


def _nothing(frame: DataFrame) -> list[str]:
    return [f"CAST(NULL AS {field.dataType.simpleString()}) AS {field.name}" for field in frame.schema]
