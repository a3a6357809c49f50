"""Spark answers what the embedded engine answers: truth tables, random tables, golden tables."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.engines.engine import Engine
from lakeprune.engines.spark.dialect import SparkDialect
from lakeprune.engines.spark.engine import SparkEngine
from lakeprune.errors import TableError
from lakeprune.formats.lifting.transform import Range
from lakeprune.formats.registry import open_table
from lakeprune.programs.patterns import Evaluation, Pattern
from lakeprune.skipping.ladder import Seen
from lakeprune.skipping.plan import Bit
from tests.formats.lifting.cases import Case
from tests.formats.lifting.cases import all_cases as lifting_cases
from tests.formats.lifting.test_lifting import sql_of
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.scope import IS_WHOLE
from tests.skipping.cases import all_cases
from tests.skipping.containers import SparkSqlEngine
from tests.skipping.test_truth_tables import lowered
from tests.soundness.delta_log import write_table
from tests.soundness.pruning import Pruner
from tests.soundness.recorded import random_recorded_table
from tests.soundness.test_golden import TABLES
from tests.soundness.tight import profile_of
from tests.spark.documents import both

pytestmark = pytest.mark.spark
SEEDS = range(100 if IS_WHOLE else 1)
GOLDEN = TABLES if IS_WHOLE else TABLES[::28]
PREDICATES = 32


def test_every_row_of_every_truth_table_holds_on_spark(spark: SparkSession) -> None:
    cases = all_cases()
    asked = []
    for case in cases:
        mask, columns = lowered(case)
        bits = [Bit(fact) for fact in (mask.can_true, mask.can_false, mask.can_null)]
        asked.append((bits, {Seen(column): case.domains[name] for name, column in columns.items()}))
    found = SparkSqlEngine(spark).judge_all(asked)
    masks = [frozenset(letter for letter, flag in zip("TFN", flags, strict=True) if flag) for flags in found]
    assert masks == [case.mask for case in cases]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_tables_have_the_same_patterns_on_both_engines(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    rng = Random(seed)
    table = random_recorded_table(rng)
    write_table(table, tmp_path)
    profile = profile_of(table)
    embedded = Pruner(tmp_path, profile)
    said = [say(random_predicate(table.columns, table.zone, rng)).spark for _ in range(PREDICATES)]
    plans = [embedded.plan(text) for text in said]

    def patterns(engine: Engine) -> list[list[Pattern]]:
        evaluation = Evaluation(engine, open_table(str(tmp_path), engine), profile)
        return [sorted(found, key=repr) for found in evaluation.patterns(plans)]

    for text, one, other in zip(said, patterns(DuckDBEngine()), patterns(SparkEngine(spark)), strict=True):
        assert one == other, text


@pytest.mark.golden
@pytest.mark.skipif(not TABLES, reason="the golden tables are not beside this project")
@pytest.mark.parametrize("root", GOLDEN, ids=lambda root: f"{root.parent.name}/{root.name}")
def test_golden_tables_give_the_same_document_on_both_engines(root: Path, spark: SparkSession) -> None:
    refused = _refusal(root)
    if refused is not None:
        with pytest.raises(TableError) as again:
            lakeprune.explain(root, spark=spark)
        assert again.value.code == refused
        return
    names = ["`" + field.name.replace("`", "``") + "`" for field in lakeprune.explain(root).facts.schema.fields]
    where = " OR ".join(f"{name} IS NULL" for name in names) if names else None
    one, other = both(root, where, spark)
    assert one == other


def _refusal(root: Path) -> str | None:
    try:
        lakeprune.explain(root)
    except TableError as error:
        return error.code
    return None


def test_partition_values_prove_on_spark_what_the_truth_tables_say(spark: SparkSession) -> None:
    by_type: dict[str, list[Case]] = {}
    for case in lifting_cases():
        by_type.setdefault(str(case.source), []).append(case)
    for cases in by_type.values():
        selects = [f"SELECT {n} AS n, * FROM ({sql_of(case, SparkDialect())})" for n, case in enumerate(cases)]
        rows = sorted(spark.sql(" UNION ALL ".join(selects)).collect(), key=lambda row: int(row[0]))
        ends = [[bytes(end) if isinstance(end, bytearray) else end for end in row[1:3]] for row in rows]
        found = [Range(low, high, row[3]) for (low, high), row in zip(ends, rows, strict=True)]
        assert found == [case.range for case in cases]
