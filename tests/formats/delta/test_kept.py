"""A snapshot whose log is kept by the engine answers as one that reads its log every time."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeprune.planning.opening import At, open_planner
from lakeprune.predicate.tree import Profile
from lakeprune.programs.select import EVERY, Container, Fields
from tests.builders import delta

BOUNDS = delta.statistics(10, x=(0, 9, 0))


def users(path: Path) -> Path:
    return delta.users(path)


def churned(path: Path) -> Path:
    """Adds, removes, a deletion vector that replaces another, a checkpoint below it all."""
    first, second = delta.deletion_vector(2), delta.deletion_vector(4, name="ab^-aqEH.-t@S}K{vb[*k!")
    log = delta.Log(path)
    log.commit(0, delta.featured("deletionVectors"), delta.metadata({"x": "integer"}))
    log.commit(1, *(delta.add(f"{name}.parquet", BOUNDS) for name in "abc"))
    log.commit(2, delta.remove("a.parquet"), delta.remove("b.parquet"), delta.add("b.parquet", BOUNDS, dv=first))
    log.commit(3, delta.remove("b.parquet", dv=first), delta.add("b.parquet", BOUNDS, dv=second), delta.add("d.parquet"))
    return path


def listed(table: Path, where: str | None, *, kept: bool) -> list[Container]:
    planner = open_planner(str(table), At(), Profile(0), access={})
    with planner.engine.awake():
        if kept:
            planner.snapshot.keep(planner.engine)
        return list(planner.select(planner.ask(where), EVERY, Fields(key=True, records=True)))


@pytest.mark.parametrize(
    ("make", "where"),
    [(users, None), (users, "country = 'DE' AND age > 40"), (churned, None), (churned, "x > 3"), (churned, "x > 20")],
)
def test_what_is_kept_is_what_is_read(tmp_path: Path, make: object, where: str | None) -> None:
    assert callable(make)
    table: Path = make(tmp_path / "t")
    read = listed(table, where, kept=False)
    assert read
    assert listed(table, where, kept=True) == read


def test_a_log_that_is_kept_may_disappear(tmp_path: Path) -> None:
    table = churned(tmp_path / "t")
    planner = open_planner(str(table), At(), Profile(0), access={})
    with planner.engine.awake():
        planner.snapshot.keep(planner.engine)
        for commit in (table / "_delta_log").iterdir():
            commit.unlink()
        assert [file.path for file in planner.select(planner.ask(None), EVERY)] == ["b.parquet", "c.parquet", "d.parquet"]
