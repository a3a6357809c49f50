"""Which files of the log make up a version: hints, checkpoints of every kind, gaps, time travel."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lakeprune.errors import TableError
from tests.builders.delta import PROTOCOL, Log, add, bounds, metadata, remove
from tests.builders.engine import ENGINE
from tests.formats.delta.relation import files, opened, paths

HEAD = (PROTOCOL, metadata({"x": "long"}))
UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"


def test_commits_alone_make_a_version(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a")).commit(1, add("b"), remove("a"))
    assert paths(opened(log.path)) == ["b"]
    assert paths(opened(log.path, version=0)) == ["a"]


def test_checkpoint_and_newer_commits_are_merged(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").checkpoint(4, *HEAD, add("a"), add("b"))
    log.commit(5, remove("a"), add("c"))
    assert paths(opened(log.path)) == ["b", "c"]


@pytest.mark.parametrize("hint", ['{"version":99}', '{"version":1}', "{", "", "[]", '{"version":"x"}', '{"version":-4}', "\x00"])
def test_hint_that_is_stale_or_corrupt_changes_nothing(tmp_path: Path, hint: str) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a")).commit(1, add("b")).commit(2, add("c")).hint(hint)
    log.checkpoint(1, *HEAD, add("a"), add("b"))
    assert paths(opened(log.path)) == ["a", "b", "c"]
    assert paths(opened(log.path, version=0)) == ["a"]


def test_gap_between_commits_is_refused(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a")).commit(2, add("c"))
    with pytest.raises(TableError, match="cannot be rebuilt") as error:
        opened(log.path)
    assert "commit 1 is missing" in (error.value.why or "")


def test_gap_below_the_checkpoint_does_not_matter(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").checkpoint(5, *HEAD, add("a")).commit(6, add("b"))
    assert paths(opened(log.path)) == ["a", "b"]


def test_incomplete_multi_part_checkpoint_is_passed_over(tmp_path: Path) -> None:  # T72
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a")).commit(1, add("b")).commit(2, add("c"))
    log.checkpoint(2, *HEAD, add("a"), name=f"{2:020}.checkpoint.{1:010}.{3:010}.parquet")
    log.checkpoint(2, add("b"), name=f"{2:020}.checkpoint.{3:010}.{3:010}.parquet")
    log.checkpoint(1, *HEAD, add("a"), add("b")).hint('{"version":2,"parts":3}')
    assert paths(opened(log.path)) == ["a", "b", "c"]


def test_complete_multi_part_checkpoint_is_read_whole(tmp_path: Path) -> None:
    log = Log(tmp_path / "t")
    log.checkpoint(2, *HEAD, add("a"), name=f"{2:020}.checkpoint.{1:010}.{2:010}.parquet")
    log.checkpoint(2, add("b"), name=f"{2:020}.checkpoint.{2:010}.{2:010}.parquet")
    assert paths(opened(log.path)) == ["a", "b"]


@pytest.mark.parametrize("name", [f"{3:020}.checkpoint.{UUID}.parquet", f"{3:020}.checkpoint.parquet"])
def test_sidecars_are_read_whatever_the_name_says(tmp_path: Path, name: str) -> None:
    log = Log(tmp_path / "t")
    log.checkpoint(3, *HEAD, {"sidecar": {"path": "one.parquet"}}, {"sidecar": {"path": "t%77o.parquet"}}, name=name)
    log.sidecar("one.parquet", add("a"))
    log.sidecar("two.parquet", add("b"))
    log.commit(4, remove("a"))
    assert paths(opened(log.path)) == ["b"]


def test_json_checkpoint_with_sidecar_and_inline_files_is_read(tmp_path: Path) -> None:
    log = Log(tmp_path / "t")
    lines = [*HEAD, {"checkpointMetadata": {"version": 3}}, {"sidecar": {"path": "one.parquet"}}, add("inline", bounds(1, 2))]
    (log.log / f"{3:020}.checkpoint.{UUID}.json").write_text("\n".join(map(json.dumps, lines)))
    log.sidecar("one.parquet", add("a"))
    assert paths(opened(log.path)) == ["a", "inline"]
    assert files(opened(log.path))[1]["x"]["hi"] == 2


def test_the_metadata_of_a_table_is_what_is_read_of_its_log(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a")).commit(1, add("b"))
    log.checkpoint(1, *HEAD, {"sidecar": {"path": "one.parquet"}}, name=f"{1:020}.checkpoint.{UUID}.parquet")
    log.sidecar("one.parquet", *(add(f"{number}") for number in range(50)))
    log.commit(2, add("c"))
    read = [log.log / "_sidecars" / "one.parquet", log.log / f"{2:020}.json"]
    snapshot = opened(log.path)
    assert snapshot.metadata_bytes() == sum(place.stat().st_size for place in read)
    snapshot.keep(ENGINE)
    assert snapshot.metadata_bytes() == sum(place.stat().st_size for place in read)


def test_missing_sidecar_falls_back_to_commits_and_says_so(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a")).commit(1, add("b"))
    log.checkpoint(1, *HEAD, {"sidecar": {"path": "gone.parquet"}}, name=f"{1:020}.checkpoint.{UUID}.parquet")
    snapshot = opened(log.path)
    assert paths(snapshot) == ["a", "b"]
    assert [note.code for note in snapshot.facts.notes] == ["checkpoint_unusable"]


def test_missing_sidecar_without_another_way_is_refused(tmp_path: Path) -> None:
    log = Log(tmp_path / "t")
    log.checkpoint(1, *HEAD, {"sidecar": {"path": "gone.parquet"}})
    with pytest.raises(TableError, match="cannot be rebuilt") as error:
        opened(log.path)
    assert "gone.parquet" in (error.value.why or "")


def test_truncated_checkpoint_falls_back_or_is_refused(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a")).commit(1, add("b")).checkpoint(1, *HEAD, add("a"), add("b"))
    checkpoint = log.log / f"{1:020}.checkpoint.parquet"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-20])
    assert paths(opened(log.path)) == ["a", "b"]
    (log.log / f"{0:020}.json").unlink()
    with pytest.raises(TableError, match="cannot be rebuilt"):
        opened(log.path)


def test_empty_checkpoint_is_ignored_and_empty_commit_is_an_error(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a"))
    (log.log / f"{0:020}.checkpoint.parquet").touch()
    assert paths(opened(log.path)) == ["a"]
    (log.log / f"{1:020}.json").touch()
    with pytest.raises(TableError, match="empty"):
        opened(log.path)


def test_compaction_is_used_only_where_commits_are_missing(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a")).commit(1, add("b")).commit(2, remove("b"), add("c")).commit(3, add("d"))
    log.compaction(1, 2, remove("b"), add("wrong"))
    assert paths(opened(log.path)) == ["a", "c", "d"]
    (log.log / f"{1:020}.json").unlink()
    log.compaction(1, 2, remove("b"), add("c"))
    assert paths(opened(log.path)) == ["a", "c", "d"]


def test_unknown_names_are_ignored(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a"))
    for name in ("00000000000000000001.json.tmp", "._00000000000000000001.json", "1.json", "x.checkpoint.parquet", "_commits"):
        (log.log / name).write_text("{")
    (log.log / "_staged_commits").mkdir()
    (log.log / "_staged_commits" / f"{1:020}.{UUID}.json").write_text("{")
    assert opened(log.path).facts.version == 0


def test_version_that_does_not_exist_names_the_range(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").checkpoint(3, *HEAD, add("a")).commit(4, add("b")).commit(2, add("z"))
    for version in (5, -1, 2):
        with pytest.raises(TableError, match=f"version {version} does not exist") as error:
            opened(log.path, version=version)
        assert "3 to 4" in (error.value.fix or "")


def test_schema_of_the_version_asked_for_is_used(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD).commit(1, metadata({"x": "long", "y": "string"}, ["y"]))
    assert [field.name for field in opened(log.path, version=0).facts.schema.fields] == ["x"]
    assert opened(log.path).facts.partition_columns == ("y",)


def test_time_travel_by_file_time_is_monotone(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD).commit(1).commit(2, add("a"))
    (log.log / f"{1:020}.json").write_text("{}\n")
    for version, seconds in ((0, 1000), (1, 900), (2, 2000)):
        os.utime(log.log / f"{version:020}.json", (seconds, seconds))
    found = [opened(log.path, timestamp=t * 1_000_000).facts.version for t in (1000, 1001, 1999, 2000, 9999)]
    assert found == [0, 1, 1, 2, 2]
    with pytest.raises(TableError, match="no version that old"):
        opened(log.path, timestamp=999_000_000)


def test_time_travel_prefers_in_commit_timestamps(tmp_path: Path) -> None:
    enabled = {
        "delta.enableInCommitTimestamps": "true",
        "delta.inCommitTimestampEnablementVersion": "2",
        "delta.inCommitTimestampEnablementTimestamp": "5000",
    }
    log = Log(tmp_path / "t").commit(0, {"commitInfo": {}}, *HEAD).commit(1, {"commitInfo": {}})
    log.commit(2, {"commitInfo": {"inCommitTimestamp": 5000}}, metadata({"x": "long"}, configuration=enabled))
    log.commit(3, {"commitInfo": {"inCommitTimestamp": 7000}}).commit(4, {"commitInfo": {"inCommitTimestamp": 7001}})
    for version, seconds in ((0, 1), (1, 2), (2, 99), (3, 98), (4, 97)):
        os.utime(log.log / f"{version:020}.json", (seconds, seconds))
    asked = {1_500_000: 0, 4_999_999: 1, 5_000_000: 2, 6_999_999: 2, 7_000_000: 3, 7_001_000: 4, 99_000_000: 4}
    assert {time: opened(log.path, timestamp=time).facts.version for time in asked} == asked
