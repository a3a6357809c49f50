"""When a version was written: by the commit itself where the table has its own times, otherwise by the commit's file."""

from __future__ import annotations

import os
from pathlib import Path

import lakeprune
from tests.builders import delta
from tests.builders.delta import Log


def written_at(table: Path) -> int | None:
    return lakeprune.explain(table).facts.written_at


def actions(**properties: str) -> list[delta.Action]:
    metadata = delta.metadata({"x": "long"})
    metadata["metaData"]["configuration"] = properties
    return [delta.protocol(), metadata, delta.add("a.parquet")]


def test_a_commit_is_as_old_as_its_file(tmp_path: Path) -> None:
    Log(tmp_path).commit(0, *actions())
    os.utime(tmp_path / "_delta_log" / f"{0:020}.json", (1_700_000_000, 1_700_000_000))
    assert written_at(tmp_path) == 1_700_000_000_000


def test_a_table_with_times_of_its_own_says_them(tmp_path: Path) -> None:
    own = {"commitInfo": {"inCommitTimestamp": 1_600_000_000_123}}
    Log(tmp_path).commit(0, own, *actions(**{"delta.enableInCommitTimestamps": "true"}))
    assert written_at(tmp_path) == 1_600_000_000_123


def test_a_checkpoint_hides_no_time_and_invents_none(tmp_path: Path) -> None:
    commit = tmp_path / "_delta_log" / f"{0:020}.json"
    Log(tmp_path).commit(0, *actions()).checkpoint(0, *actions())
    os.utime(commit, (1_700_000_000, 1_700_000_000))
    assert written_at(tmp_path) == 1_700_000_000_000
    commit.unlink()
    assert written_at(tmp_path) is None
