"""Tables written by Delta Spark and the kernel: generated predicates over their own values, judged by their rows."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import lakeprune
from lakeprune.errors import TableError
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.golden import GOLDEN
from tests.scope import IS_WHOLE
from tests.soundness.golden_rows import GoldenRows, Unreadable
from tests.soundness.verdict import Verdict, complaint

TABLES = sorted(log.parent for kind in ("delta", "delta-kernel") for log in (GOLDEN / kind).glob("*/_delta_log"))
PREDICATES = 12
SHARE = TABLES if IS_WHOLE else TABLES[::3]

pytestmark = [pytest.mark.golden, pytest.mark.skipif(not TABLES, reason="the golden tables are not beside this project")]


@pytest.mark.parametrize("root", SHARE, ids=lambda root: f"{root.parent.name}/{root.name}")
def test_verdicts_on_a_golden_table_agree_with_its_rows(root: Path) -> None:
    try:
        files = lakeprune.explain(root, "true", timezone="UTC").files
    except TableError as refused:
        pytest.skip(f"refused: {refused.what}")
    if any(file.num_records != file.live_rows for file in files):
        pytest.skip("deletion vectors: which rows are live is not in the Parquet files")
    report = lakeprune.explain(root, "true", timezone="UTC")
    try:
        rows = GoldenRows(root, report.facts.schema, files)
    except Unreadable as unreadable:
        pytest.skip(str(unreadable))
    columns = tuple(column for column in rows.columns if column.pool)
    if not columns:
        pytest.skip("no column has a value to ask for")
    rng = Random(root.name)
    said = [say(random_predicate(columns, "UTC", rng)) for _ in range(PREDICATES)]
    for one, found in zip(
        said, lakeprune.explain_many(root, [s.spark for s in said], timezone="UTC", nan_policy="strict"), strict=True
    ):
        seen = rows.seen(one.duckdb)
        if seen is None:
            continue
        for file, outcome in zip(found.files, seen, strict=True):
            problem = complaint(Verdict(file.verdict.value), outcome)
            assert problem is None, f"{problem}: {file.path} for {one.spark} ({file.bounds}, {file.partition_values})"
