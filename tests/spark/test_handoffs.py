"""Rows of every hand-off equal a full read with the filter through Spark, on tables of other projects, from planned files alone.

Outside Spark the kernel says which files are opened; Spark says it by its own metrics, and by the file of each row.
"""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from lakeprune.apps.compare.opens import Opens
from lakeprune.apps.scan.handoff.opening import local_path
from lakeprune.apps.scan.handoff.table import canonical
from lakeprune.apps.scan.model import ScanPlan
from lakeprune.apps.scan.options import ScanOptions
from lakeprune.apps.scan.plan import plan
from lakeprune.errors import LakepruneError
from lakeprune.predicate.write.show import name_text
from lakeprune.values.literals import format_value
from tests.apps.scan.rows import WAYS, arrow, rows_of
from tests.formats.delta.test_golden import tables
from tests.golden import GOLDEN
from tests.scope import IS_WHOLE
from tests.spark.test_plan_to_spark import files_of

pytestmark = [pytest.mark.spark, pytest.mark.golden]

SHARE = (
    "delta/dv-partitioned-with-checkpoint", "delta/type-widening", "delta/data-reader-partition-values",
    "delta/data-skipping-basic-stats-all-types-columnmapping-name", "delta/time-travel-schema-changes-a",
    "delta/parquet-all-types",  # maps and structs among them
)  # fmt: skip
REFUSED = {"LP281": "no form outside Spark", "LP370": "a partition value without a type", "LP378": "its files are not there"}
MOST_ROWS = 20_000  # of a table whose rows are compared one by one; of larger ones the conditions pick few


def chosen() -> list[Path]:
    return [path for path in tables() if IS_WHOLE or path.relative_to(GOLDEN).as_posix() in SHARE]


@pytest.mark.parametrize("path", chosen(), ids=lambda path: path.relative_to(GOLDEN).as_posix())
def test_rows_are_those_of_spark(path: Path, spark: SparkSession) -> None:
    try:
        whole = plan(str(path))
        rows = arrow(whole)
    except LakepruneError as refused:
        if refused.code not in REFUSED:
            raise
        pytest.skip(f"{refused.code}: {REFUSED[refused.code]}")
    frame = spark.read.format("delta").load(str(path))
    schema = rows.schema
    assert frame.count() == rows.num_rows
    if rows.num_rows <= MOST_ROWS:
        expected_rows = rows_of(frame.toArrow(), schema)
        for way in WAYS:
            assert rows_of(way(whole), schema) == expected_rows, way.__name__
    asked = 0
    turns = iter(cycle(WAYS))
    with Opens(places(whole)) as opens:
        for predicate in predicates(whole, rows):
            expected = frame.where(predicate)
            asked += 1
            if rows.num_rows > MOST_ROWS and expected.count() > MOST_ROWS:
                continue
            wanted = rows_of(expected.toArrow(), schema)
            for way in WAYS if IS_WHOLE else [next(turns)]:
                made = plan(str(path), predicate)
                opens.so_far()
                assert rows_of(way(made), schema) == wanted, f"{predicate} by {way.__name__}"
                assert opens.so_far() == set(places(made)), f"{predicate} by {way.__name__}"
    assert asked or not rows.num_rows or not any(_is_plain(whole, name) for name in schema.names)


@pytest.mark.parametrize("path", chosen(), ids=lambda path: path.relative_to(GOLDEN).as_posix())
def test_spark_reads_the_planned_files(path: Path, spark: SparkSession) -> None:
    """Also what has no form outside Spark."""
    try:
        whole = plan(str(path))
        known = set(whole.files.column("uri").to_pylist())
    except LakepruneError as refused:
        if refused.code != "LP370":
            raise
        pytest.skip(f"{refused.code}: {REFUSED[refused.code]}")
    if not all(Path(place).exists() for place in places(whole)):
        pytest.skip(REFUSED["LP378"])
    frame = spark.read.format("delta").load(str(path))
    assert whole.to_spark(spark).schema.names == frame.schema.names
    few = frame.limit(1000).toArrow()
    for predicate in (None, *predicates(whole, few)[:: 1 if IS_WHOLE else 3]):
        made = plan(str(path), predicate)
        rows, opened = read(made.to_spark(spark))
        assert rows == read(frame.where(predicate or "TRUE"))[0], predicate
        assert opened <= made.totals.files_scanned, predicate
        named = made.to_spark(spark, ScanOptions(file_column="the file")).select("the file").distinct().collect()
        assert {row[0] for row in named} <= set(made.files.column("uri").to_pylist()) <= known, predicate


def read(frame: DataFrame) -> tuple[list[str], int]:
    """The rows, or how many they are, and the files opened for them; a map has no order, and Spark sorts by none."""
    some = frame.limit(MOST_ROWS + 1)
    rows = some.collect()
    return sorted(map(repr, rows)) if len(rows) <= MOST_ROWS else [str(frame.count())], files_of(some)


def places(made: ScanPlan) -> list[str]:
    """Where the files of a plan lie on this machine."""
    found = [local_path(uri) for uri in made.files.column("uri").to_pylist()]
    return [str(Path(place).resolve()) for place in found if place is not None]


def predicates(whole: ScanPlan, rows: pa.Table) -> list[str]:
    """Conditions around a value of every plain column."""
    found = []
    for number, name in enumerate(rows.column_names):
        column = _plain_column(whole, name)
        if column is None or not rows.num_rows:
            continue
        value = canonical(rows.column(name)[rows.num_rows // 2])
        text = name_text((name,))
        if value is None:
            found.append(f"{text} IS NULL")
            continue
        literal = format_value(value, column, "UTC")
        found.append(f"{text} {('>=', '<=', '=', '<', '!=')[number % 5]} {literal}")
        found.append(f"NOT ({text} > {literal}) OR {text} IS NULL")
    return found if IS_WHOLE else found[:6]


def _plain_column(whole: ScanPlan, name: str) -> Any:
    assert whole.planner is not None
    field = next(field for field in whole.planner.facts.schema.fields if field.name == name)
    return field.type if field.type.family is not None else None


def _is_plain(whole: ScanPlan, name: str) -> bool:
    return _plain_column(whole, name) is not None
