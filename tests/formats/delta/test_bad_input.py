"""Damaged, hostile and missing tables: a clear error with exit code 3, never a traceback, nothing written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lakeprune.engines.engine import EngineError
from lakeprune.errors import TableError, TableRefused
from tests.builders.delta import PROTOCOL, Log, add, bounds, metadata
from tests.formats.delta.relation import files, opened, paths

HEAD = (PROTOCOL, metadata({"x": "long"}))


def refused(location: Path | str, **asked: Any) -> TableError:
    with pytest.raises(TableError) as error:
        opened(location, **asked)
    assert error.value.exit_code == 3
    return error.value


def test_missing_path(tmp_path: Path) -> None:
    assert refused(tmp_path / "nowhere").code == "LP301"


def test_path_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    assert refused(tmp_path / "f").code == "LP302"


@pytest.mark.parametrize("location", ["", "a\0b", "ftp://host/x", "https://host/x", "file://elsewhere/x"])
def test_locations_that_are_none(location: str) -> None:
    assert refused(location).code in ("LP301", "LP303")


def test_directory_without_a_log(tmp_path: Path) -> None:
    assert "not a Delta table" in refused(tmp_path).what


def test_empty_log(tmp_path: Path) -> None:
    assert "empty" in refused(Log(tmp_path / "t").path).what


def test_log_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").write_text("x")
    assert refused(tmp_path).code == "LP304"


def test_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert refused(tmp_path / "a").code in ("LP302", "LP304")


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is readable to root")
def test_log_that_may_not_be_read(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD)
    log.log.chmod(0)
    try:
        assert refused(log.path).code == "LP304"
    finally:
        log.log.chmod(0o700)


@pytest.mark.parametrize("odd", ["a b", "100%", "x%20y", "ünï", "it's", "[1]*?", "a#b", "-dash", "new\nline"])
def test_location_with_any_name_is_found_as_path_url_and_relative(
    tmp_path: Path, odd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(tmp_path / odd).commit(0, *HEAD, add("a")).checkpoint(0, *HEAD, add("a")).commit(1, add("b"))
    assert paths(opened(log.path)) == ["a", "b"]
    assert paths(opened(log.path.as_uri())) == ["a", "b"]
    assert paths(opened(f"{log.path}/")) == ["a", "b"]
    monkeypatch.chdir(tmp_path)
    assert paths(opened(f"./{odd}")) == ["a", "b"]


@pytest.mark.parametrize(
    "line", ['{"add":', "{'a':1}", "not json", '{"add":{"path":"\ud83d"}}', "\ufeff{}", '{"add":{"path":"\\ud800"}}']
)
def test_unreadable_line_is_named(tmp_path: Path, line: str) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD)
    text = '{"commitInfo":{}}\n\n' + line + "\n"
    (log.log / f"{1:020}.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    snapshot = opened(log.path)
    with pytest.raises(EngineError) as error:
        files(snapshot)
    failure = snapshot.failure(error.value)
    assert failure.exit_code == 3
    assert f"{1:020}.json, line 3" in (failure.where or "")


def test_unreadable_protocol_line_is_named(tmp_path: Path) -> None:
    log = Log(tmp_path / "t")
    (log.log / f"{0:020}.json").write_text('{}\n{"protocol":{\n')
    assert "line 2" in (refused(log.path).where or "")


def test_deep_nesting_is_an_error(tmp_path: Path) -> None:
    log = Log(tmp_path / "t")
    (log.log / f"{0:020}.json").write_text('{"metaData":' + "[" * 100_000 + "]" * 100_000 + "}\n")
    assert "deeply" in (refused(log.path).why or "")


@pytest.mark.parametrize("action", [{"add": 7}, {"add": {}}, {"add": {"path": None}}, {"remove": {"size": 1}}])
def test_file_action_without_a_path_is_an_error(tmp_path: Path, action: Any) -> None:
    snapshot = opened(Log(tmp_path / "t").commit(0, *HEAD, action).path)
    with pytest.raises(EngineError, match="path"):
        files(snapshot)


@pytest.mark.parametrize("action", [
    {"protocol": {"minReaderVersion": "one"}},
    {"protocol": {"minReaderVersion": 3, "readerFeatures": "x"}},
    {"metaData": {"id": "a", "schemaString": 7}},
    {"metaData": {"id": "a", "schemaString": "{"}},
    {"metaData": {"id": "a", "schemaString": "[]"}},
    {"metaData": {"id": "a", "schemaString": '{"type":"struct","fields":[{"name":"x"}]}'}},
    {"metaData": {"id": "a", "schemaString": '{"type":"struct","fields":[{"name":5,"type":"long"}]}'}},
    {"metaData": {"id": "a", "schemaString": '{"type":"struct","fields":[]}', "partitionColumns": ["nope"]}},
    {"metaData": {"id": "a", "schemaString": '{"type":"struct","fields":[]}', "configuration": [1]}},
])  # fmt: skip
def test_malformed_protocol_or_metadata_is_refused(tmp_path: Path, action: Any) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD).commit(1, action)
    assert refused(log.path).code in ("LP308", "LP309")


@pytest.mark.parametrize(("protocol", "named"), [
    ({"minReaderVersion": 4, "minWriterVersion": 7}, "4"),
    ({"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["deletionVectors", "timeMachine"]}, "timeMachine"),
])  # fmt: skip
def test_unknown_reader_version_or_feature_is_refused_by_name(tmp_path: Path, protocol: Any, named: str) -> None:
    error = refused(Log(tmp_path / "t").commit(0, *HEAD).commit(1, {"protocol": protocol}).path)
    assert isinstance(error, TableRefused)
    assert error.code == "LP310"
    assert named in error.what


def test_unknown_writer_feature_is_only_listed(tmp_path: Path) -> None:
    protocol = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["appendOnly", "collations-preview", "brandNew"]}
    features = opened(Log(tmp_path / "t").commit(0, metadata({"x": "long"}), {"protocol": protocol}).path).facts.features
    assert features.unrecognized_writer_features == ("brandNew",)


def test_catalog_managed_table_is_read_with_a_warning(tmp_path: Path) -> None:
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["catalogManaged"],
        "writerFeatures": ["catalogManaged"],
    }
    snapshot = opened(Log(tmp_path / "t").commit(0, metadata({"x": "long"}), {"protocol": protocol}).path)
    assert [note.code for note in snapshot.facts.notes] == ["catalog_managed"]


@pytest.mark.parametrize("text", ["{", "[]", "7", '{"numFiles":"x"}', "\x00"])
def test_damaged_checksum_is_no_error(tmp_path: Path, text: str) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a"))
    (log.log / f"{0:020}.crc").write_text(text)
    facts = opened(log.path).facts
    assert facts.expected.files is None
    assert text.startswith('{"') or [note.code for note in facts.notes] == ["checksum_unreadable"]


def test_checksum_is_reported(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a"))
    (log.log / f"{0:020}.crc").write_text('{"numFiles":1,"tableSizeBytes":77}')
    expected = opened(log.path).facts.expected
    assert (expected.files, expected.bytes) == (1, 77)


def test_clustering_columns_are_given_by_logical_name(tmp_path: Path) -> None:
    field = {"name": "x", "type": "long", "nullable": True, "metadata": {"delta.columnMapping.physicalName": "col-1"}}
    protocol = {"minReaderVersion": 2, "minWriterVersion": 7, "writerFeatures": ["clustering", "domainMetadata"]}
    domain = {
        "domainMetadata": {"domain": "delta.clustering", "configuration": '{"clusteringColumns":[["col-1"]]}', "removed": False}
    }
    head = metadata({"x": field}, configuration={"delta.columnMapping.mode": "name"})
    log = Log(tmp_path / "t").commit(0, {"protocol": protocol}, head, domain)
    assert opened(log.path).facts.features.clustering_columns == ("x",)
    log.commit(1, {"domainMetadata": {"domain": "delta.clustering", "configuration": "", "removed": True}})
    assert opened(log.path).facts.features.clustering_columns is None


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = Log(tmp_path / "t").commit(0, *HEAD, add("a", bounds(1, 2))).checkpoint(0, *HEAD, add("a"))
    before = sorted(tmp_path.rglob("*"))
    files(opened(log.path))
    assert sorted(tmp_path.rglob("*")) == before
