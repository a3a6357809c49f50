"""MERGE from a source with other columns than the table: as Delta's own SQL does it, or refused in one line with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.apps.statements.merge.spark_checks import EVOLUTION
from lakeprune.apps.statements.model import Status
from lakeprune.errors import StatementError
from tests.scope import IS_WHOLE, only_whole
from tests.spark.merges import Clauses
from tests.spark.statements import commits, events
from tests.spark.test_merge_tables import PLAIN, VECTORS, both_ways

pytestmark = pytest.mark.spark
UPDATE_ALL, INSERT_ALL = ("when_matched_update", "all"), ("when_not_matched_insert", "all")
ROWS = "VALUES (3L), (130L), (900L) AS x(id)"
MORE = f"SELECT id, 0 AS p, now() AS ts, -1D AS v, named_struct('x', id, 'y', 'q') AS st, 5L AS n, 'new' AS extra FROM {ROWS}"
OTHER = f"SELECT id, -1D AS v, 'new' AS extra, named_struct('x', id, 'y', 'q', 'z', 5) AS st FROM {ROWS}"
EVOLVING: tuple[tuple[str, Clauses, tuple[str, ...]], ...] = (
    (OTHER, (UPDATE_ALL, INSERT_ALL), ("st.z", "extra")),
    (OTHER, (("when_matched_update", "extra = s.extra, st.z = t.id"),), ("st.z", "extra")),
    (OTHER, (("when_matched_delete", "AND s.id = 3"), ("when_not_matched_insert", "id = s.id, extra = s.extra")), ("extra",)),
    (MORE, (UPDATE_ALL, INSERT_ALL, ("when_not_matched_by_source_update", "AND t.id < 2 THEN v = 0")), ("extra",)),
    (MORE, (("when_matched_update", "v = s.v"),), ()),
)


@pytest.fixture
def evolving(spark: SparkSession) -> SparkSession:
    """A user's session that lets a MERGE change the schema."""
    session = spark.newSession()
    session.conf.set(EVOLUTION, "true")
    return session


@only_whole
@pytest.mark.parametrize("number", range(len(EVOLVING)) if IS_WHOLE else [1])
def test_where_the_session_lets_the_schema_change_it_changes_as_deltas_does(
    number: int, evolving: SparkSession, tmp_path: Path
) -> None:
    query, clauses, added = EVOLVING[number]
    table = events(evolving, tmp_path / "events", 2, properties=VECTORS if number % 2 else PLAIN)
    source = evolving.sql(query).coalesce(1).localCheckpoint()
    done = both_ways(evolving, table, source, "t.id = s.id", clauses)
    assert done.plan.merge is not None
    assert done.plan.merge.added_columns == added
    assert ("the table gets" in done.to_text()) == bool(added)
    names = evolving.read.format("delta").load(str(table)).columns
    assert names == ["id", "p", "ts", "v", "st", "n", *(name for name in added if "." not in name)]


def test_where_it_does_not_the_statement_is_refused_with_what_to_do(spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 2, properties=PLAIN)
    before = len(commits(table))
    for clause in (UPDATE_ALL, INSERT_ALL):
        with pytest.raises(StatementError) as caught:
            lakeprune.merge(table, OTHER, on="t.id = s.id", spark=spark, clauses=[clause])
        assert caught.value.code == "LP406"
        assert "[DELTA_MERGE_UNRESOLVED_EXPRESSION] Cannot resolve p in" in (caught.value.why or "")
        assert "set the columns that the source has (a = s.a, b = s.b); or set spark.databricks.delta.schema.autoMerge" in (
            caught.value.fix or ""
        )
    with pytest.raises(lakeprune.LakepruneError, match="column `extra` does not exist"):
        lakeprune.merge(table, OTHER, on="t.id = s.id", spark=spark, when_matched_update="extra = s.extra")
    assert len(commits(table)) == before


@only_whole
def test_a_column_that_only_the_source_has_is_left_out(spark: SparkSession, tmp_path: Path) -> None:
    table = events(spark, tmp_path / "events", 2, properties=PLAIN)
    done = both_ways(spark, table, spark.sql(MORE).coalesce(1).localCheckpoint(), "t.id = s.id", (UPDATE_ALL, INSERT_ALL))
    assert done.plan.merge is not None
    assert done.plan.merge.added_columns == ()
    assert "extra" not in spark.read.format("delta").load(str(table)).columns


@only_whole
def test_a_schema_stays_as_it_is_when_no_row_changes(evolving: SparkSession, tmp_path: Path) -> None:
    table = events(evolving, tmp_path / "events", 1)
    plan = lakeprune.merge(table, f"{MORE} WHERE id < 0", on="t.id = s.id", spark=evolving, clauses=(UPDATE_ALL, INSERT_ALL))
    assert "if a row changes, the table gets 1 new column: extra" in plan.to_text()
    done = plan.execute()
    assert (done.status, done.exit_code, len(commits(table))) == (Status.NOTHING_MATCHES, 0, 2)
