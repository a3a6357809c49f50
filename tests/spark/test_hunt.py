"""The hunt for wrong drops and wrong full matches, a share of it: tests/spark/hunting.py runs as long as one likes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from lakeprune.predicate.functions.registry import every_function
from lakeprune.predicate.read.sql.functions import CAST_FUNCTIONS
from tests.generator.nested import EVERY_TEMPLATE
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.scope import IS_WHOLE
from tests.spark.hunt import ZONES, Tally, hunt, hunted_table
from tests.spark.loose import loose_hunt

pytestmark = pytest.mark.spark
SEEDS = range(24 if IS_WHOLE else 1)
PREDICATES = 200 if IS_WHOLE else 40


@pytest.mark.parametrize("seed", SEEDS)
def test_no_file_with_a_match_is_dropped_and_none_without_is_fully_matched(
    seed: int, spark: SparkSession, tmp_path: Path
) -> None:
    tally = Tally()
    hunt(seed, PREDICATES, spark, tmp_path, tally)
    assert tally.wrong == []
    assert tally.counts["predicates judged"] > PREDICATES, "in two modes; Spark refused more than half of the predicates"
    assert tally.counts["file verdicts DROP"] > PREDICATES, "a hunt in which nothing is dropped proves nothing"


@pytest.mark.parametrize("seed", range(6 if IS_WHOLE else 1))
def test_predicates_as_people_type_them_mean_what_spark_means(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    tally = Tally()
    loose_hunt(seed, PREDICATES, spark, tmp_path, tally)
    assert tally.wrong == []
    assert tally.counts["predicates judged"] > PREDICATES // 2


@pytest.mark.parametrize("zone", sorted(set(ZONES)))
def test_the_hunt_has_predicates_in_every_zone(zone: str) -> None:
    rng = Random(zone)
    table = hunted_table(rng, zone, with_partitions=True)
    assert len({say(random_predicate(table.columns, zone, rng, judged=False)).spark for _ in range(300)}) > 200


def test_the_hunt_has_every_function() -> None:
    written = " ".join(EVERY_TEMPLATE)
    names = [name for function in every_function() for name in function.names if name.isidentifier()]
    internal = {"add_interval", "negate"}  # written as operators
    missing = [name for name in (*names, *CAST_FUNCTIONS) if name not in internal and f"{name}(" not in written]
    assert [name for name in missing if name != "case"] == []
