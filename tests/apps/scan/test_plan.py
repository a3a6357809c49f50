"""Plans of tables whose answers can be counted by hand."""

from __future__ import annotations

from pathlib import Path

import lakeprune
from lakeprune.apps.scan.model import Pushdown
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
