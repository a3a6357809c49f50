"""Filters of Spark plans, translated: on random tables no file with a matching row is dropped, and little pruning is lost.

The rows decide, by DuckDB and in a second spelling of the predicate; its first spelling, read as text, is the measure of what
could be pruned.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakeprune.apps.dataframes.conditions import question_of
from lakeprune.apps.dataframes.spark_plans import plan_of_frame
from lakeprune.apps.dataframes.spark_scans import reading_of
from lakeprune.planning.opening import At, open_planner
from lakeprune.planning.planner import Planner
from lakeprune.skipping.plan import Plan
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.scope import IS_WHOLE
from tests.soundness.delta_log import write_table
from tests.soundness.pruning import Pruner
from tests.soundness.tables import Table, random_table
from tests.soundness.tight import profile_of
from tests.soundness.truth import Seen, Truth
from tests.soundness.verdict import Verdict, complaint

pytestmark = pytest.mark.spark
SEEDS = range(40) if IS_WHOLE else (1, 6)
PREDICATES = 40 if IS_WHOLE else 14


@pytest.mark.parametrize("seed", SEEDS)
def test_no_file_with_a_matching_row_is_dropped(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    rng = Random(seed)
    table = random_table(rng)
    nodes = {said.spark: said for said in (say(random_predicate(table.columns, table.zone, rng)) for _ in range(PREDICATES))}
    texts = nodes.keys()
    write_table(table, tmp_path / "table")
    frame = _loaded(spark, table, tmp_path / "table", is_ansi=seed % 2 == 0)
    pruner = Pruner(tmp_path / "table", profile_of(table))
    planner = _planner(tmp_path / "table", table)

    plans = {text: plan for text in texts if (plan := _translated(frame, text, planner)) is not None}
    found = dict(zip(plans, pruner.verdicts(list(plans.values())), strict=True))
    read = dict(zip(plans, pruner.verdicts([pruner.plan(text) for text in plans]), strict=True))
    truth = Truth(table, tmp_path / "table")
    seen = dict(zip(nodes, truth.seen([node.duckdb for node in nodes.values()]), strict=True))
    truth.close()
    drops = lost = 0
    for text, verdicts in found.items():
        drops += verdicts.count(Verdict.DROP)
        lost += sum(a is Verdict.DROP and b is not Verdict.DROP for a, b in zip(read[text], verdicts, strict=True))
        for verdict, rows in zip(verdicts, seen[text] or [], strict=seen[text] is not None):
            assert not _is_wrong(verdict, rows, text), (text, complaint(verdict, rows))
    for text in texts - plans.keys():
        assert not any(rows.true for rows in seen[text] or []), f"Spark folded it away, yet a row matches: {text}"
    assert drops > 0
    assert lost * 20 <= drops, "a filter of the plan should prune as its text does"


def _is_wrong(verdict: Verdict, rows: Seen, text: str) -> bool:
    """Spark takes a comparison with a number beyond every LONG for TRUE, on NULL too: then all rows do match for it."""
    if verdict is Verdict.FULL and re.search(r"\d{19}", text):
        return rows.false
    return complaint(verdict, rows) is not None


def _loaded(spark: SparkSession, table: Table, root: Path, *, is_ansi: bool) -> DataFrame:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", table.zone)
    session.conf.set("spark.sql.ansi.enabled", str(is_ansi).lower())
    session.conf.set("spark.databricks.delta.stats.skipping", "false")  # Delta's own choice is of no interest here
    return session.read.format("delta").load(str(root))


def _planner(root: Path, table: Table) -> Planner:
    return open_planner(str(root), At(), profile_of(table), access={})


def _translated(frame: DataFrame, text: str, planner: Planner) -> Plan | None:
    """The plan of the filters that Spark leaves on the scan; None where it leaves no scan."""
    scans = reading_of(plan_of_frame(frame.where(text))).scans
    if not scans:
        return None
    (scan,) = scans
    assert scan.format == "delta"
    return question_of(scan, planner).plan
