"""What a log has lost must not look like a smaller table: empty commits, lines that are no actions, files removed meanwhile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lakeprune
from lakeprune.engines.engine import EngineError
from lakeprune.errors import TableError
from tests.builders.delta import PROTOCOL, Log, add, bounds, metadata
from tests.formats.delta.relation import files, opened, paths

HEAD = (PROTOCOL, metadata({"x": "long"}))


@pytest.mark.parametrize("content", ["", "\n", "  \r\n\t\n"])
@pytest.mark.parametrize("version", [0, 1, 2])
def test_an_empty_commit_is_refused_even_below_newer_metadata(tmp_path: Path, version: int, content: str) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a")).commit(1, add("b")).commit(2, *HEAD, add("c"))
    assert paths(opened(log.path)) == ["a", "b", "c"]
    (log.log / f"{version:020}.json").write_text(content)
    with pytest.raises(TableError) as error:
        opened(log.path)
    assert error.value.code == "LP307"
    assert f"{version:020}.json" in (error.value.where or "")


def test_an_empty_commit_below_a_checkpoint_does_not_matter(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a")).commit(1, add("b")).checkpoint(1, *HEAD, add("a"), add("b"))
    (log.log / f"{0:020}.json").write_text("")
    assert paths(opened(log.path)) == ["a", "b"]


@pytest.mark.parametrize("line", ["[1, 2]", "null", "5", '"add"', "true", '[{"add":{"path":"b","size":1}}]'])
def test_a_line_that_is_json_but_no_object_is_refused(tmp_path: Path, line: str) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a"))
    (log.log / f"{1:020}.json").write_text(f'{{"commitInfo":{{}}}}\n{line}\n')
    snapshot = opened(log.path)
    with pytest.raises(EngineError) as error:
        files(snapshot)
    assert f"{1:020}.json, line 2" in (snapshot.failure(error.value).where or "")


@pytest.mark.parametrize("padding", [0, 2_000_000])
def test_a_commit_that_is_removed_after_opening_is_told_not_passed_over(tmp_path: Path, padding: int) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a", bounds(1, 2))).commit(1, add("b", bounds(5, 9)))
    log.commit(2, {"commitInfo": {"padding": "x" * padding}}, add("c", bounds(7, 8)))
    report = lakeprune.explain(log.path, "x > 4")
    assert [file.path for file in report.files] == ["a", "b", "c"]
    (log.log / f"{2:020}.json").unlink()
    with pytest.raises(TableError, match="gone since the table was opened") as error:
        _ = report.files
    assert f"{2:020}.json" in (error.value.where or "")
    with pytest.raises(TableError, match="gone"):
        report.to_text(verbose=True)


def test_a_setting_of_thousands_of_digits_is_only_a_setting(tmp_path: Path) -> None:
    settings = {"delta.dataSkippingStringPrefixLength": "9" * 5000}
    log = Log(tmp_path / "t").commit(0, PROTOCOL, metadata({"s": "string"}, configuration=settings), add("a"))
    assert lakeprune.explain(log.path, "s > 'x'").numbers.kept.files == 1


@pytest.mark.parametrize("odd", ["²", "9" * 5000, "٣", ""])
def test_odd_settings_of_commit_times_are_ignored(tmp_path: Path, odd: str) -> None:
    settings = {
        "delta.enableInCommitTimestamps": "true",
        "delta.inCommitTimestampEnablementVersion": odd,
        "delta.inCommitTimestampEnablementTimestamp": "5",
    }
    log = Log(tmp_path / "t")
    info = {"commitInfo": {"inCommitTimestamp": 1000}}
    log.commit(0, info, PROTOCOL, metadata({"x": "long"}, configuration=settings), add("a"))
    assert json.loads((log.log / f"{0:020}.json").read_text().splitlines()[0]) == info
    assert opened(log.path, timestamp=2_000_000).facts.version == 0
