"""A small table's relation, held between the question about files and the one about row groups: read once, the same answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakeprune
from demo.delta_log import add, statistics
from lakeprune.formats import merging
from lakeprune.formats.relation import Relation
from lakeprune.programs import held_relation
from tests.builders.untimed import untimed
from tests.formats.row_groups.delta import delta_of

COLUMNS = {"x": "long", "y": "long", "country": "string"}
WHERES = ["x < 25", "x = 42 AND y < 100", "country = 'DE' OR y > 150", "y IS NULL", "x = 1000"]


def written(root: Path) -> Path:
    """Two partitions of 100 rows in ten row groups; the log says of one file what it holds, and of the other nothing."""
    root.mkdir()
    actions = []
    for number, country in enumerate(["DE", "FR"]):
        first = 100 * number
        rows = pa.table({"x": list(range(first, first + 100)), "y": list(range(first + 99, first - 1, -1))})
        pq.write_table(rows, root / f"{country}.parquet", row_group_size=10)
        stats = statistics(100, x=(first, first + 99, 0)) if number else None
        actions.append(add(f"{country}.parquet", stats, partition={"country": country}))
    return delta_of(root, COLUMNS, actions, partition_by=["country"])


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Relation]:
    """The relations that are made of metadata."""
    found: list[Relation] = []
    whole = merging.merged_relation

    def counted(*arguments: Any) -> Relation:
        found.append(whole(*arguments))
        return found[-1]

    monkeypatch.setattr(held_relation, "merged_relation", counted)
    return found


def test_row_groups_of_a_small_table_read_its_log_once(tmp_path: Path, read: list[Relation]) -> None:
    table = written(tmp_path / "t")
    lakeprune.explain(table, "x < 25 AND y > 80", row_groups=True)
    files = [relation for relation in read if "add" in relation.source]
    assert len(files) == 1
    read.clear()
    lakeprune.explain_many(table, [f"x = {number}" for number in range(40)], row_groups=True)
    assert len([relation for relation in read if "add" in relation.source]) == 1


def test_the_log_of_a_large_table_is_read_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: list[Relation]) -> None:
    monkeypatch.setattr(held_relation, "MOST_BYTES", 0)
    lakeprune.explain(written(tmp_path / "t"), "x < 25", row_groups=True)
    assert len([relation for relation in read if "add" in relation.source]) == 2


@pytest.mark.parametrize("where", WHERES)
def test_what_is_held_changes_no_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    table = written(tmp_path / "t")
    held = lakeprune.explain(table, where, row_groups=True).to_dict(verbose=True)
    monkeypatch.setattr(held_relation, "MOST_BYTES", 0)
    assert untimed(held) == untimed(lakeprune.explain(table, where, row_groups=True).to_dict(verbose=True))
