"""UPDATE, DELETE and MERGE over exotic types and names: the files and rows that Delta's own statement changes on a copy.
`python -m tests.spark.hunting statements` runs more of them.
"""

from __future__ import annotations

import traceback
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.apps.statements.model import Status
from lakeprune.errors import LakepruneError
from tests.scope import IS_WHOLE
from tests.spark.exotic import CLAUSES, ONS, SETS, condition, rows_of, some_ids, write_exotic
from tests.spark.merges import merge_sql
from tests.spark.statements import actions, by_sql, commits, copied, rows

pytestmark = pytest.mark.spark
SEEDS = range(12 if IS_WHOLE else 1)
STATEMENTS = 6 if IS_WHOLE else 2
# Two source rows match one of the target (LP443); Delta goes ahead and may lose rows (LP444); its DELETE misses CHAR (LP415).
EXPECTED_REFUSALS = ("LP443", "LP444", "LP415")


@pytest.mark.parametrize("seed", SEEDS)
def test_statements_on_exotic_types_touch_the_files_and_rows_that_delta_touches(
    seed: int, spark: SparkSession, tmp_path: Path
) -> None:
    found: list[str] = []
    tally = run(seed, STATEMENTS, spark, tmp_path, found)
    assert found == []
    assert tally.total() == STATEMENTS


def run(seed: int, count: int, spark: SparkSession, folder: Path, found: list[str]) -> Counter[str]:
    """Statements on copies of one table, each by lakeprune and by Delta; what differs is added to `found`."""
    rng = Random(f"exotic {seed}")
    mine = spark.newSession()
    mine.conf.set("spark.sql.session.timeZone", rng.choice(["UTC", "Europe/Berlin", "America/St_Johns"]))
    mine.conf.set("spark.sql.ansi.enabled", rng.choice(["true", "false"]))
    theirs = mine.newSession()
    for key in ("spark.sql.session.timeZone", "spark.sql.ansi.enabled"):
        theirs.conf.set(key, str(mine.conf.get(key)))
    theirs.conf.set("spark.databricks.delta.stats.skipping", "false")  # by which Delta itself misses rows of CHAR columns
    first = write_exotic(mine, folder / "first", rng)
    tally: Counter[str] = Counter()
    for number in range(count):
        ours, plain = copied(first, f"ours{number}"), copied(first, f"plain{number}")
        tally[one_statement((mine, theirs), ours, plain, rng, f"seed {seed}, statement {number}", found)] += 1
    return tally


def one_statement(
    sessions: tuple[SparkSession, SparkSession], ours: Path, plain: Path, rng: Random, about: str, found: list[str]
) -> str:
    spark, other = sessions
    before = len(commits(ours))
    if rng.random() < 0.4:
        on, clauses = rng.choice(ONS), rng.choice(CLAUSES)
        first, count = some_ids(rng)
        source = rows_of(spark, first, first + count, 1)
        rows_of(other, first, first + count, 1).createOrReplaceTempView("source_rows")
        text = merge_sql(plain, on, clauses)
        theirs = attempt(lambda: other.sql(text))
        mine = attempt(lambda: lakeprune.merge(ours, source, on=on, spark=spark, clauses=clauses).execute())
        kind = "merge"
    else:
        where, values = condition(rng), rng.choice(SETS)
        text = f"{values} WHERE {where}"
        theirs = attempt(lambda: by_sql(other, plain, where, values))
        if values is None:
            mine = attempt(lambda: lakeprune.delete(ours, where=where, spark=spark).execute())
        else:
            mine = attempt(lambda: lakeprune.update(ours, values, where=where, spark=spark).execute())
        kind = "delete" if values is None else "update"
    said = f"{about}: {text}"
    if isinstance(mine, BaseException):
        if not isinstance(mine, LakepruneError):
            found.append(f"TRACEBACK {said}\n{''.join(traceback.format_exception(mine))[-2500:]}")
            return f"{kind}: traceback"
        if len(commits(ours)) != before:
            found.append(f"refused and committed {said}")
        if isinstance(theirs, BaseException):
            return f"{kind}: refused by both"
        if mine.code not in EXPECTED_REFUSALS:
            found.append(f"REFUSED {said}\n{mine}")
        return f"{kind}: refused by lakeprune, {mine.code}"
    if isinstance(theirs, BaseException):
        if len(commits(ours)) != before:
            found.append(f"Delta refuses, lakeprune commits: {said}\n{str(theirs)[:500]}")
        return f"{kind}: nothing to do where Delta refuses"
    if rows(spark, ours) != rows(spark, plain):
        found.append(f"OTHER ROWS {said}\n{mine.to_text()}")  # type: ignore[attr-defined]
    if mine.status is Status.NOTHING_MATCHES:  # type: ignore[attr-defined]
        return f"{kind}: nothing matches"
    if not mine.passed:  # type: ignore[attr-defined]
        found.append(f"NOT PASSED {said}\n{mine.to_text()}")  # type: ignore[attr-defined]
    removed = [{a["path"] for a in actions(path, "remove")} for path in (ours, plain)]
    if removed[0] != removed[1]:
        found.append(f"OTHER FILES {said}\n{mine.to_text()}")  # type: ignore[attr-defined]
    return f"{kind}: same rows and files"


def attempt(action: object) -> object:
    try:
        return action()  # type: ignore[operator]
    except (LakepruneError, PySparkException) as error:
        return error
    except Exception as error:  # noqa: BLE001  # a traceback is what is hunted
        return error
