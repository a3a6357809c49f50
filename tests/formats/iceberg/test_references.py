"""Branches, tags, times and ids: which snapshot is read, with which schema, and what is answered when there is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg import types as t
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table

import lakeprune
from lakeprune.cli.main import main
from tests.builders import delta
from tests.formats.iceberg.tables import Entry, Layout, column, write_table


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    """One row on `main` and under the tag `first`; another on the branch `trial`; then `x` is called `y`."""
    folder = tmp_path_factory.mktemp("references")
    catalog = SqlCatalog("references", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", Schema(t.NestedField(1, "x", t.LongType())))
    table.append(pa.table({"x": [1]}))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    table.manage_snapshots().create_tag(snapshot.snapshot_id, "first").create_branch(snapshot.snapshot_id, "trial").commit()
    table.append(pa.table({"x": [100]}), branch="trial")
    with table.update_schema() as update:
        update.rename_column("x", "y")
    yield table
    catalog.close()


def kept(table: Table, where: str, **options: Any) -> int:
    report = lakeprune.explain(table.location().removeprefix("file://"), where, **options)
    return sum(file.kept for file in report.files)


def test_a_branch_is_its_own_snapshot_with_the_current_schema(table: Table) -> None:
    assert kept(table, "y = 100", ref="trial") == 1
    assert kept(table, "y = 1", ref="trial") == 1
    assert kept(table, "y = 100") == kept(table, "y = 100", ref="main") == 0


def test_a_tag_is_its_snapshot_with_the_schema_of_its_time(table: Table) -> None:
    assert kept(table, "x = 1", ref="first") == 1
    assert kept(table, "x = 100", ref="first") == 0
    with pytest.raises(lakeprune.PredicateError, match="`y`"):
        kept(table, "y = 1", ref="first")


def test_our_files_of_a_reference_are_those_that_pyiceberg_plans(table: Table) -> None:
    for name, reference in table.metadata.refs.items():
        planned = {
            task.file.file_path.removeprefix(table.location() + "/")
            for task in table.scan(snapshot_id=reference.snapshot_id).plan_files()
        }
        report = lakeprune.explain(table.location().removeprefix("file://"), ref=name)
        assert {file.path for file in report.files} == planned
        assert report.facts.version == reference.snapshot_id


def test_an_unknown_reference_lists_the_known_ones(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", table.location().removeprefix("file://"), "--at-ref", "trail"]) == 3
    error = capsys.readouterr().err
    assert "error[LP312] there is no branch or tag `trail`" in error
    assert "fix:   the table has first (tag), main (branch), trial (branch)" in error


def test_main_of_metadata_without_references_is_the_current_snapshot(tmp_path: Path) -> None:
    write_table(tmp_path, [column(1, "id", "long")], [Entry("a")])
    assert lakeprune.explain(tmp_path, ref="main").facts.version == 7
    with pytest.raises(lakeprune.TableError, match="no branch or tag `x`") as caught:
        lakeprune.explain(tmp_path, ref="x")
    assert caught.value.fix == "the table has none: leave it out"


def test_a_table_without_a_snapshot_has_an_empty_main_and_no_time(tmp_path: Path) -> None:
    empty = {"current-snapshot-id": -1, "snapshots": [], "snapshot-log": []}
    write_table(tmp_path, [column(1, "id", "long")], [], None, Layout(changes=empty))
    assert list(lakeprune.explain(tmp_path, "id > 5", ref="main").files) == []
    with pytest.raises(lakeprune.TableError, match="no snapshot that old") as caught:
        lakeprune.explain(tmp_path, timestamp="2024-01-01")
    assert caught.value.why == "the table's snapshot log is empty"
    with pytest.raises(lakeprune.TableError, match="snapshot 7 does not exist") as caught:
        lakeprune.explain(tmp_path, version=7)
    assert caught.value.fix == "available snapshots: none"


def test_a_reference_to_a_snapshot_that_is_not_listed_is_an_error(tmp_path: Path) -> None:
    refs = {"old": {"snapshot-id": 3, "type": "tag"}}
    write_table(tmp_path, [column(1, "id", "long")], [Entry("a")], None, Layout(changes={"refs": refs}))
    with pytest.raises(lakeprune.TableError, match="snapshot 3 does not exist") as caught:
        lakeprune.explain(tmp_path, ref="old")
    assert "the tag old leads to it" in str(caught.value.why)
    assert caught.value.fix == "available snapshots: 7"


def test_an_expired_snapshot_is_gone_and_the_others_are_read(tmp_path: Path) -> None:
    catalog = SqlCatalog("expiry", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse")
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", Schema(t.NestedField(1, "x", t.LongType())))
    table.append(pa.table({"x": [1]}))
    table.append(pa.table({"x": [100]}))
    first, second = table.snapshots()
    table.maintenance.expire_snapshots().by_id(first.snapshot_id).commit()
    assert kept(table, "x > 0") == kept(table, "x > 0", version=second.snapshot_id) == 2
    with pytest.raises(lakeprune.TableError, match=f"snapshot {first.snapshot_id} does not exist") as caught:
        kept(table, "x > 0", version=first.snapshot_id)
    assert (caught.value.why, caught.value.fix) == (
        "it never existed, or has expired",
        f"available snapshots: {second.snapshot_id}",
    )
    catalog.close()


def test_a_time_that_is_too_early_names_the_earliest_snapshot(tmp_path: Path) -> None:
    write_table(tmp_path, [column(1, "id", "long")], [Entry("a")])
    with pytest.raises(lakeprune.TableError) as caught:
        lakeprune.explain(tmp_path, timestamp="1969-12-31")
    assert (caught.value.code, caught.value.why) == ("LP313", "the earliest snapshot is of 1970-01-01 00:00:01")


def test_many_snapshots_are_listed_from_the_newest_and_not_all(tmp_path: Path) -> None:
    place = write_table(tmp_path, [column(1, "id", "long")], [Entry("a")])
    metadata = json.loads(place.read_text())
    metadata["snapshots"] += [
        {**metadata["snapshots"][0], "snapshot-id": number, "timestamp-ms": number} for number in range(100, 120)
    ]
    place.write_text(json.dumps(metadata))
    with pytest.raises(lakeprune.TableError) as caught:
        lakeprune.explain(tmp_path, version=12)
    assert str(caught.value.fix).startswith("available snapshots: 7, 119, 118")
    assert str(caught.value.fix).endswith("and 11 older ones")


def test_formats_without_references_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow.parquet as pq

    delta.users(tmp_path / "users")
    (tmp_path / "files").mkdir()
    pq.write_table(pa.table({"x": [1]}), tmp_path / "files/a.parquet")
    for place, words in (("users", "Delta tables have no branches"), ("files", "plain Parquet files have no branches")):
        assert main(["explain", str(tmp_path / place), "--at-ref", "main"]) == 3
        error = capsys.readouterr().err
        assert f"error[LP367] {words} and tags" in error
        assert "  fix:   " in error


def test_one_way_to_name_a_version_is_enough(tmp_path: Path) -> None:
    for options, words in (
        ({"ref": "main", "version": 7}, "both a version and a branch or tag"),
        ({"ref": "main", "timestamp": "2024"}, "both a timestamp and a branch or tag"),
    ):
        with pytest.raises(lakeprune.UsageError, match=words):
            lakeprune.explain(tmp_path, **options)
    with pytest.raises(lakeprune.UsageError, match="not the name of a branch or tag"):
        lakeprune.explain(tmp_path, ref="")


@pytest.mark.parametrize(
    "changes",
    [
        {"schemas": [{"schema-id": 0, "fields": 5}]},
        {"schemas": []},
        {"partition-specs": [{"spec-id": 5, "fields": []}]},
        {"snapshots": 5},
    ],
)  # fmt: skip
def test_metadata_that_is_not_understood_is_named_with_a_fix(tmp_path: Path, changes: dict[str, Any]) -> None:
    place = write_table(tmp_path, [column(1, "id", "long")], [Entry("a")], None, Layout(changes=changes))
    with pytest.raises(lakeprune.TableError) as caught:
        lakeprune.explain(tmp_path)
    assert (caught.value.code, caught.value.where) == ("LP362", str(place))
    assert "an earlier metadata file" in str(caught.value.fix)
