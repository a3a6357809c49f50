"""Relations that an engine keeps: the same answers as without, few tables at a time, and none is dropped that is still read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from demo.delta_log import add, metadata, protocol, statistics, write_commit
from lakeprune.apps.sharing.server.config import SharedTable
from lakeprune.apps.sharing.server.tables import Opened, Tables
from lakeprune.formats.relation import Needs
from lakeprune.planning.planner import Planner
from lakeprune.programs import kept_relations
from lakeprune.programs.select import KEPT, Container, Fields, Selection, count_selected, select

COLUMNS = [f"c{number}" for number in range(10)]
FIELDS = Fields(bounds=False, records=True)


def written(root: Path) -> Path:
    """Twenty files in two partitions: number k has k in every column; the statistics of the last are missing."""
    (root / "_delta_log").mkdir(parents=True)
    actions = [protocol(), metadata(dict.fromkeys(COLUMNS, "long") | {"p": "string"}, ["p"])]
    for k in range(20):
        stats = None if k == 19 else statistics(k + 1, **dict.fromkeys(COLUMNS, (k, k, 0)))
        actions.append(add(f"p={k % 2}/{k:02}.parquet", stats, partition={"p": str(k % 2)}))
    write_commit(root / "_delta_log", 0, actions)
    return root


@pytest.fixture(params=[kept_relations.LONG, 0], ids=["short texts", "long texts"])
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Opened]:
    """Long texts are kept once, and joined."""
    monkeypatch.setattr(kept_relations, "LONG", request.param)
    tables = Tables()
    found = [tables.latest(SharedTable("s", "s", "t", str(written(tmp_path / "t"))))]
    yield found[0]
    found.clear()
    tables.close()


def asked(planner: Planner, where: str, selection: Selection = Selection(KEPT)) -> list[Container]:  # noqa: B008  # frozen
    return list(select(planner.evaluation, planner.ask(where).plan, selection, FIELDS))


def tables_of(opened: Opened) -> list[str]:
    with opened.planner() as planner:
        return [name for (name,) in planner.engine.query("SELECT table_name FROM duckdb_tables()")]


SELECTIONS = [
    Selection(KEPT),
    Selection(KEPT, rows=7),
    Selection(KEPT, limit=3),
    Selection(KEPT, after="p=0/08.parquet"),
]
WHERES = ["c0 = 3", "c0 > 3 AND c1 < 9", "p = '1' OR c2 = 4", "NOT c0 = 3", "c3 IS NULL", "p = '0'", "c0 = 3"]


@pytest.mark.parametrize("where", WHERES)
def test_the_answer_is_that_of_a_relation_that_is_not_kept(opened: Opened, where: str) -> None:
    with opened.planner() as planner, opened.planner() as other:
        plain = Planner(replace(other.evaluation, relations=None))
        for selection in SELECTIONS:
            expected = asked(plain, where, selection)
            assert asked(planner, where, selection) == expected
            assert asked(planner, where, selection) == expected, "the second time, too"
            if selection.limit is None and selection.after is None:
                assert count_selected(planner.evaluation, planner.ask(where).plan, selection) == len(expected)


def test_an_answer_in_parts_is_the_answer(opened: Opened) -> None:
    with opened.planner() as planner:
        for rows in (None, 30, 10_000):
            whole = asked(planner, "c0 > 2", Selection(KEPT, rows=rows))
            parts: list[Container] = []
            while part := asked(planner, "c0 > 2", Selection(KEPT, rows=rows, limit=4, after=parts[-1].path if parts else None)):
                parts += part
            assert parts == whole


def test_few_relations_are_kept_and_none_that_is_read(opened: Opened) -> None:
    before = len(tables_of(opened))
    with opened.planner() as slow:
        plan = slow.ask("c0 > 2").plan
        printer = slow.evaluation.printer([plan], Needs(domains=plan.domains, paths=True))
        for column in COLUMNS[1:]:
            with opened.planner() as planner:
                assert len(asked(planner, f"{column} > 2")) == 17
        assert len(tables_of(opened)) <= before + kept_relations.MOST + 2
        assert slow.engine.query(f"SELECT count(*) FROM {printer.relation.source}") == [(20,)], "it is still read"
        del printer
    with opened.planner() as planner:
        asked(planner, "c9 > 2")
        asked(planner, "c9 > 2")
    assert len(tables_of(opened)) <= before + kept_relations.MOST


def test_relations_are_few_where_they_are_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_relations, "MOST_BYTES", 1)
    tables = Tables()
    opened = tables.latest(SharedTable("s", "s", "t", str(written(tmp_path / "t"))))
    before = len(tables_of(opened))
    for column in COLUMNS:
        with opened.planner() as planner:
            assert len(asked(planner, f"{column} > 2")) == 17
    assert len(tables_of(opened)) <= before + 2
    del opened, planner
    tables.close()
