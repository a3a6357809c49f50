"""Random tables and predicates: verify counts what plain Spark SQL counts in the Parquet files, and no plan is contradicted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession
from pyspark.sql.functions import count_if

from lakeprune.apps.verify.verify import verify
from lakeprune.errors import PredicateError
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.scope import IS_WHOLE
from tests.soundness.delta_log import write_data
from tests.soundness.tables import Table, random_table

pytestmark = pytest.mark.spark
SEEDS = range(30 if IS_WHOLE else 1)
PREDICATES = 8 if IS_WHOLE else 2


@pytest.mark.parametrize("seed", SEEDS)
def test_the_verified_truth_is_the_brute_force_count(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    rng = Random(seed)
    table = written(plain(random_table(rng)), tmp_path)
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")
    session.conf.set("spark.sql.session.timeZone", table.zone)
    lake = tmp_path / "lake"
    schema = session.read.format("delta").load(str(lake)).schema
    rows = session.read.schema(schema).parquet(str(lake))
    judged = 0
    for _ in range(PREDICATES * 3):
        where = say(random_predicate(table.columns, table.zone, rng)).spark
        try:
            found = verify(lake, where, spark=session, timezone=table.zone)
        except PredicateError:
            continue  # what Spark itself refuses has no truth
        # Not rows.where: pushed into Parquet, a comparison with NaN loses rows, as footers leave NaN out of their bounds.
        judged_rows = rows.selectExpr("_metadata.file_name AS file", f"({where}) AS m")
        matching = judged_rows.groupBy("file").agg(count_if("m").alias("rows")).where("rows > 0").collect()
        assert found.is_sound, found.to_text()
        assert found.truth.live_rows == rows.count()
        assert found.truth.matching_rows == sum(row["rows"] for row in matching), where
        assert found.truth.files_with_match == len(matching), where
        assert found.truth.files_with_wrong_row_count == 0
        judged += 1
        if judged == PREDICATES:
            return
    pytest.fail("Spark refused nearly every predicate")


def plain(table: Table) -> Table:
    """Its data columns whose names every writer takes, under their own names."""
    kept = [column for column in table.data_columns if all(part.isidentifier() and part.isascii() for part in column.path)]
    return replace(table, columns=tuple(replace(column, physical=column.path) for column in kept), mapped=False)


def written(table: Table, folder: Path) -> Table:
    """One commit of deltalake for each file that has rows."""
    parquet = folder / "parquet"
    parquet.mkdir()
    for file in table.files:
        write_data(table, file, parquet)
        rows = pq.read_table(parquet / file.name)
        if rows.num_rows:
            write_deltalake(folder / "lake", rows, mode="append")
    return table
