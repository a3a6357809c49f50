"""`lakeprune.sharing.read` on Spark: executors fetch the files, Spark applies predicate and limit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakeprune
import lakeprune.sharing
from lakeprune.apps.sharing.reading.read import Offer
from tests.apps.sharing.server.served import serving
from tests.apps.sharing.server.shared_tables import TABLES
from tests.scope import IS_WHOLE


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root: Path = tmp_path_factory.mktemp("shared")
    with serving({name: make(root / name) for name, make in TABLES.items()}) as running:
        (root / "p.share").write_text(running.profile())
        yield f"{root / 'p.share'}#share1.s."


# What the connector of Delta Sharing is held to (nine conditions, with their counts), and what only Spark can evaluate.
COUNTS = [
    (None, 30, 3),
    ("x <> 5", 29, 3),
    ("5 < id", 24, 3),
    ("id in (1,2,25)", 3, 2),
    ("id <=> 3", 1, 1),
    ("s is null", 0, 0),
    ("s = 's003' or cast(id as string)='4'", 2, 3),  # a cast has no hint
    ("d='2021-04-29' and id <> 12", 9, 1),
    ("cast(d as date)=date'2021-04-29'", 10, 3),
    ("ts <= timestamp'2021-04-28 00:00:03.000500'", 4, 1),
    ("s LIKE '%5'", 3, 3),
    ("id % 7 = 3 AND id < 10", 1, 1),
]


@pytest.mark.parametrize(("where", "rows", "most"), COUNTS if IS_WHOLE else COUNTS[3::4])
def test_rows_are_those_of_the_condition_and_files_are_left_out(
    spark: SparkSession, share: str, where: str | None, rows: int, most: int
) -> None:
    reported: list[Offer] = []
    frame = lakeprune.sharing.read(share + "part", where, spark=spark, on_offer=reported.append)
    assert frame.count() == rows
    assert reported[0].files <= most


def test_vectors_mappings_columns_and_limits(spark: SparkSession, share: str) -> None:
    dv = lakeprune.sharing.read(share + "dv", spark=spark)
    assert sorted(row.value for row in dv.collect()) == list(range(1, 9))
    assert lakeprune.sharing.read(share + "mapped", "p = 'x y'", spark=spark).columns == ["id", "p"]
    assert lakeprune.sharing.read(share + "empty", spark=spark).count() == 0
    assert lakeprune.sharing.read(share + "nulls", "d IS NULL", spark=spark).count() == 3
    few = lakeprune.sharing.read(share + "part", "id > 3", columns=["s"], limit=3, spark=spark)
    assert few.columns == ["s"]
    assert few.count() == 3
    types = dict(lakeprune.sharing.read(share + "part", spark=spark).dtypes)
    assert types == {"id": "int", "x": "double", "s": "string", "ts": "timestamp", "d": "string"}
