"""Predicates with many parts: their cost grows with their length, not with its square."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import lakeprune
from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.engines.engine import Row
from tests.builders import delta


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return delta.users(tmp_path_factory.mktemp("scaling") / "users")


def pairs(count: int) -> str:
    """What a join with a list of keys becomes."""
    return " OR ".join(f"(age = {100 + i} AND name = 'n{i}')" for i in range(count))


def test_a_list_of_key_pairs_is_planned_in_linear_time(users: Path) -> None:
    def seconds(count: int) -> float:
        started = time.process_time()
        assert lakeprune.explain(users, pairs(count)).numbers.kept.files == 0
        return time.process_time() - started

    seconds(30)  # the first one also imports
    assert seconds(240) < 20 * seconds(30)  # 8 times the length; with the square it would be 64


def test_long_and_short_predicates_give_the_same(users: Path) -> None:
    short = lakeprune.explain(users, "age > 40 AND country = 'DE'")
    (long,) = lakeprune.explain_many(users, [f"({pairs(60)} OR age > 40) AND country = 'DE'"])
    assert long.numbers.kept == short.numbers.kept


def test_values_of_one_partition_column_are_asked_for_once(users: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    query = DuckDBEngine.query

    def counted(engine: DuckDBEngine, sql: str) -> list[Row]:
        asked.append(sql)
        return query(engine, sql)

    monkeypatch.setattr(DuckDBEngine, "query", counted)
    where = " AND ".join(f"length(concat(country, '{'x' * i}')) = {i + 2}" for i in range(20))
    assert lakeprune.explain(users, where).numbers.kept.files == 6
    assert sum("SELECT DISTINCT" in sql.split(" FROM ")[0] for sql in asked) == 1
