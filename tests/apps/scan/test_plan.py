"""Plans of tables whose answers can be counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lakeprune
from lakeprune.apps.scan import files
from lakeprune.apps.scan.model import Pushdown
from lakeprune.engines.duckdb.engine import DuckDBEngine
from tests.builders.delta import users


def test_a_partition_clause_is_exact_and_the_others_stay_in_the_residual(tmp_path: Path) -> None:
    users(tmp_path / "users")
    plan = lakeprune.plan(tmp_path / "users", "country = 'DE' AND age > 40")
    assert [(clause.text, clause.pushdown) for clause in plan.clauses] == [
        ("country = 'DE'", Pushdown.EXACT),
        ("age > 40", Pushdown.INEXACT),
    ]
    (file,) = plan.files.to_pylist()
    assert (file["verdict"], file["residual"], file["partition"]) == ("partial", [1], {"country": "DE"})
    assert Path(file["uri"]).stat().st_size == file["size"]
    assert (plan.totals.files_scanned, plan.totals.files_pruned, plan.totals.files_total) == (1, 5, 6)


@pytest.mark.parametrize("options", [{}, {"groups": 2}, {"limit": 3}])
def test_a_document_is_the_same_whether_its_files_are_held_or_read_twice(
    options: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users(tmp_path / "users")

    def document() -> object:
        text = lakeprune.plan(tmp_path / "users", "age > 30", **options).to_json()  # type: ignore[arg-type]
        return {**json.loads(text), "elapsed_ms": 0, "session": {}}

    held = document()
    monkeypatch.setattr(files, "_MOST_CELLS", 0)
    assert document() == held


def test_metadata_is_read_once_for_a_document_and_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users(tmp_path / "users")
    with lakeprune.open(tmp_path / "users") as table:
        plan = lakeprune.plan(table, "age > 30")
        assert plan.planner is not None
        engine = plan.planner.engine
        assert isinstance(engine, DuckDBEngine)
        before, kept = list(engine._kept), DuckDBEngine.kept
        seen: list[str] = []

        def counted(self: DuckDBEngine, sql: str) -> str:
            seen.append(kept(self, sql))
            return seen[-1]

        monkeypatch.setattr(DuckDBEngine, "kept", counted)
        plan.to_json()
        assert len(seen) == 1
        assert engine._kept == before
