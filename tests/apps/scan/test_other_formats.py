"""Plans of Iceberg tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lakeprune
from lakeprune.apps.scan.model import Pushdown
from lakeprune.formats.iceberg.applying import NAMED, DeleteFiles
from lakeprune.formats.iceberg.entries import Item
from tests.builders.iceberg import flights


def test_an_iceberg_plan_has_typed_values_and_uris_in_the_folder_that_was_given(tmp_path: Path) -> None:
    flights(tmp_path / "flights")
    (tmp_path / "flights").rename(tmp_path / "copied")
    plan = lakeprune.plan(tmp_path / "copied", "mission_id = 'apollo-7'", groups=2)
    files = plan.files.to_pylist()
    assert plan.clauses[0].pushdown is Pushdown.EXACT
    assert plan.totals.files_scanned + plan.totals.files_pruned == plan.totals.files_total
    assert len(files) == plan.totals.files_scanned > 0
    assert {file["partition"]["mission_id"] for file in files} == {"apollo-7"}
    assert all(file["uri"] == f"{tmp_path}/copied/{file['path']}" for file in files)
    assert lakeprune.ScanPlan.from_json(plan.to_json(), table=tmp_path / "copied").files.equals(plan.files)


def test_delete_files_apply_by_sequence_and_a_vector_replaces_position_deletes() -> None:
    rows: list[dict[Item, Any]] = [
        {"content": 1, "file_path": "dv.puffin", "file_format": "PUFFIN", "record_count": 3, "referenced_data_file": "a",
         "content_offset": 4, "content_size_in_bytes": 40},
        {"content": 1, "file_path": "pos.parquet", "file_format": "PARQUET", "record_count": 2},
        {"content": 2, "file_path": "eq.parquet", "file_format": "PARQUET", "record_count": 1, "equality_ids": [1]},
    ]  # fmt: skip
    every = {"sequence_number": 5, "spec_id": 1}
    entries = {name: [row.get(name, every.get(str(name))) for row in rows] for name in (*NAMED, "spec_id")}
    found = DeleteFiles(entries, [(1, "x")] * 3, frozenset(), lambda path: f"/t/{path}")
    kinds = {
        (path, sequence): [
            word for word in ("vector", "position", "equality") if word in (found.applying(path, sequence, (1, "x")) or "")
        ]
        for path in ("a", "b")
        for sequence in (4, 5, 6)
    }
    assert kinds == {
        ("a", 4): ["vector", "equality"], ("a", 5): ["vector"], ("a", 6): [],
        ("b", 4): ["position", "equality"], ("b", 5): ["position"], ("b", 6): [],
    }  # fmt: skip
    assert found.applying("b", 4, (1, "y")) is None
