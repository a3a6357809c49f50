"""What a Delta log records of a file, passed on as it is: times, statistics, deletion vectors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakeprune.planning.opening import At, open_planner
from lakeprune.predicate.tree import Profile
from lakeprune.programs.select import KEPT, Container, Fields
from tests.builders import delta
from tests.golden import GOLDEN


def listed(table: Path) -> list[Container]:
    planner = open_planner(str(table), At(), Profile(0), access={})
    return list(planner.select(planner.ask(None), KEPT, Fields(key=True, records=True)))


def test_records_are_those_of_the_log(tmp_path: Path) -> None:
    table = delta.users(tmp_path / "users")
    adds = {}
    for commit in sorted((table / "_delta_log").glob("*.json")):
        for line in commit.read_text().splitlines():
            if add := json.loads(line).get("add"):
                adds[add["path"]] = add
    found = listed(table)
    assert [file.path for file in found] == sorted(adds)
    for file in found:
        add = adds[file.path]
        assert file.record is not None
        assert file.record.modified == add["modificationTime"]
        assert json.loads(file.record.statistics or "null") == json.loads(add["stats"])
        assert file.record.vector is None
        assert file.key == file.path


@pytest.mark.golden
@pytest.mark.parametrize(
    ("name", "rows"), [("delta-kernel/table-with-dv-small", 8), ("delta/dv-partitioned-with-checkpoint", None)]
)
def test_descriptors_of_deletion_vectors_are_whole(name: str, rows: int | None) -> None:
    table = GOLDEN / name
    if not table.is_dir():
        pytest.skip("the golden tables are not here")
    found = listed(table)
    vectors = [json.loads(file.record.vector) for file in found if file.record is not None and file.record.vector is not None]
    assert vectors
    assert all(set(each) == {"storageType", "pathOrInlineDv", "offset", "sizeInBytes", "cardinality"} for each in vectors)
    assert all(isinstance(each["sizeInBytes"], int) for each in vectors)
    if rows is not None:
        assert sum(file.live or 0 for file in found) == rows
