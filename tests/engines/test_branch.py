"""Branches of the embedded engine: one database, and everything that a branch keeps ends with the branch."""

from __future__ import annotations

import threading

import pytest

from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.engines.engine import EngineError


def tables(engine: DuckDBEngine) -> int:
    ((count,),) = engine.query("SELECT count(*) FROM duckdb_tables()")
    return int(count)


def test_what_a_branch_keeps_is_dropped_with_it() -> None:
    engine = DuckDBEngine()
    with engine.awake():
        mine = engine.kept("SELECT 1 AS x")
        branch = engine.branch()
        with branch.awake():
            theirs = branch.kept(f"SELECT x + 1 AS x FROM {mine}")
            assert branch.query(f"SELECT x FROM {theirs}") == [(2,)]
            inner = branch.branch()
            with inner.awake():
                assert inner.query(f"SELECT x FROM {theirs}") == [(2,)]
                inner.kept("SELECT 3 AS x")
                assert tables(engine) == 3
            assert tables(engine) == 2
        assert engine.query(f"SELECT x FROM {mine}") == [(1,)]
        with pytest.raises(EngineError):
            engine.query(f"SELECT x FROM {theirs}")
        assert tables(engine) == 1


def test_a_branch_that_outlives_its_engine_ends_quietly() -> None:
    engine = DuckDBEngine()
    branch = engine.branch()
    with branch.awake(), engine.awake():
        branch.kept("SELECT 1 AS x")


def test_branches_work_side_by_side() -> None:
    engine, found = DuckDBEngine(), []

    def work(number: int) -> None:
        branch = engine.branch()
        with branch.awake():
            kept = branch.kept(f"SELECT {number} + range AS x FROM range(5000)")
            found.append((number, sum(1 for _ in branch.stream(f"SELECT x FROM {kept}"))))

    with engine.awake():
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert tables(engine) == 0
    assert sorted(found) == [(number, 5000) for number in range(8)]
