"""Random MERGEs: the plan names the files that Delta's own MERGE removes on a copy, and the tables are equal afterwards."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import lakeprune
from lakeprune.apps.statements.execution import Execution
from lakeprune.apps.statements.model import Status
from lakeprune.errors import StatementError
from tests.scope import IS_WHOLE, only_whole
from tests.spark.merges import CLAUSES, ONS, make_source, make_target, merge_sql
from tests.spark.statements import actions, changes, commits, copied, rows
from tests.spark.test_update_delete import SCHEMA

pytestmark = pytest.mark.spark
ROUNDS = 40 if IS_WHOLE else 1
METRICS = (
    "numTargetRowsInserted",
    "numTargetRowsUpdated",
    "numTargetRowsDeleted",
    "numTargetRowsCopied",
    "numTargetFilesRemoved",
)
LAYOUTS = (
    (None, "'delta.enableDeletionVectors' = 'false'"),
    ("p", "'delta.enableDeletionVectors' = 'false', 'delta.columnMapping.mode' = 'name'"),
    (None, "'delta.enableDeletionVectors' = 'false', 'delta.enableChangeDataFeed' = 'true'"),
    ("p", "'delta.enableDeletionVectors' = 'true'"),
)


def executed(table: Path, source: DataFrame, **options: Any) -> Execution | str:
    """What came of it, or the error."""
    try:
        return lakeprune.merge(table, source, **options).execute()
    except StatementError as error:
        return str(error)


@only_whole
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_the_plan_is_what_deltas_own_merge_does(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    chance = random.Random(seed)
    by, properties = LAYOUTS[seed % len(LAYOUTS)]
    first = make_target(spark, tmp_path / "first", chance, by=by, properties=properties)
    for number in range(3):
        on, clauses = chance.choice(ONS), chance.choice(CLAUSES)
        source = make_source(spark, chance)
        table, plain = copied(first, f"ours{number}"), copied(first, f"plain{number}")
        reported = f"seed {seed}, {merge_sql(plain, on, clauses)}"
        source.createOrReplaceTempView("source_rows")
        before = len(commits(plain))
        options = {"clauses": clauses, "strengthen": chance.random() < 0.7, "timezone": "Europe/Berlin"}
        done = executed(table, source, on=on, spark=spark, **options)
        if isinstance(done, str):
            assert len(commits(table)) == before
            if "LP444" in done:  # Delta goes ahead, and loses rows
                continue
            assert "LP443" in done, f"{reported}\n{done}"
            with pytest.raises(PySparkException, match="DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"):
                spark.sql(merge_sql(plain, on, clauses))
            continue
        spark.sql(merge_sql(plain, on, clauses))
        assert rows(spark, table) == rows(spark, plain), reported
        jsonschema.validate(done.to_dict(), SCHEMA)
        if done.status is Status.NOTHING_MATCHES:
            assert len(commits(table)) == before, reported
            continue
        assert done.passed, f"{reported}\n{done.to_text()}"
        assert {a["path"] for a in actions(table, "remove")} == {a["path"] for a in actions(plain, "remove")}, reported
        ours, theirs = (actions(path, "commitInfo")[0]["operationMetrics"] for path in (table, plain))
        assert {name: ours[name] for name in METRICS} == {name: theirs[name] for name in METRICS}, reported
        if "ChangeDataFeed" in properties:
            assert changes(spark, table) == changes(spark, plain), reported
