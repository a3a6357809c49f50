"""Random tables, hints and limits: nothing is lost; and the check complains when a guard is switched off."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest

import lakeprune.predicate.read.sharing.json_hints as json_hints
import lakeprune.predicate.read.sharing.json_leaves as json_leaves
import lakeprune.predicate.read.sharing.moments as moments
from lakeprune.formats.relation import LIVE
from lakeprune.predicate.tree import FALSE, Column, Expr
from lakeprune.programs import limit
from tests.apps.sharing.hinting import Asked, compared, planner_of
from tests.builders.delta import write_table
from tests.soundness.sharing.check import check_tables

CASES = int(os.environ.get("LAKEPRUNE_HINT_CASES", "160"))


def test_hints_lose_no_row_with_any_limit() -> None:
    total = check_tables(0, CASES)
    assert not total.violations, "\n".join(total.violations[:5])
    assert total.drops > total.possible_drops / 2, "a soundness test that drops nothing proves nothing"
    assert total.proven > total.cases / 10
    assert total.ignored > 0
    assert total.limited > 0


def test_when_files_that_only_may_match_count_for_a_limit_rows_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def every_row(is_full: str) -> str:  # noqa: ARG001
        return f"coalesce({LIVE}, 0)"

    monkeypatch.setattr(limit, "certain_rows", every_row)
    assert any("with limit" in each for each in check_tables(0, 400, most=1).violations)


def test_without_the_margin_of_moments_rows_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "MARGIN", 0)
    assert check_tables(21, 40, most=1).violations


def test_when_unknown_is_false_rows_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_hints, "unknown", lambda text, why: FALSE)  # noqa: ARG005
    assert check_tables(3, 40, most=1).violations


def test_a_value_beyond_the_declared_type_is_kept_by_its_guard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that casts 4294967301 to INT gets 5, or an error, or NULL: nobody here knows which."""
    table = write_table(tmp_path / "t", [pa.table({"l": [2**32 + 5]}), pa.table({"l": [6]})])
    planner, hint = planner_of(table), compared("equal", "l", "5", "int")
    assert len(Asked(planner, hint=hint).paths) == 1

    def unguarded(column: Column, low: int, high: int, inside: Expr) -> Expr:  # noqa: ARG001
        return inside

    monkeypatch.setattr(json_leaves, "_guarded", unguarded)
    assert Asked(planner, hint=hint).paths == []
