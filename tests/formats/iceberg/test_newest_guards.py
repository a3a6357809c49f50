"""Which metadata file is the table's (T91): with each guard switched off an older one is read, and its newest file is lost."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

import lakeprune
from lakeprune.formats.iceberg import locate
from tests.formats.iceberg.tables import Entry, Layout, column, write_table

Patch = pytest.MonkeyPatch
OLD, NEW = [Entry("a", 1)], [Entry("a", 1), Entry("b", 1)]


def written(root: Path, old: str, new: str) -> Path:
    """A table whose newer version, with one file more, has the second of these names; the folder of its metadata."""
    folder = root / "metadata"
    folder.mkdir()
    for name, entries in ((old, OLD), (new, NEW)):
        how = Layout(changes={"location": "s3://lake/t"})  # so that each finds its own manifests where they are recorded
        data = write_table(root / f"of {name}", [column(1, "x", "long")], entries, None, how).read_bytes()
        (folder / name).write_bytes(gzip.compress(data) if ".gz" in name else data)
    return folder


def the_hint_is_the_last_word(patch: Patch) -> None:
    patch.setattr(locate, "_hinted", lambda storage, _names: f"v{storage.read(locate.HINT).decode()}.metadata.json")


def names_are_compared_as_text(patch: Patch) -> None:
    patch.setattr(locate, "_newest", lambda _storage, names: max(names))


def compressed_files_ignored(patch: Patch) -> None:
    known = locate._newest
    patch.setattr(locate, "_newest", lambda storage, names: known(storage, [name for name in names if ".gz" not in name]))


@pytest.mark.parametrize(
    ("old", "new", "hint", "switch_off"),
    [
        pytest.param("v1.metadata.json", "v2.metadata.json", "1", the_hint_is_the_last_word, id="a stale hint"),
        pytest.param("v9.metadata.json", "v10.metadata.json", None, names_are_compared_as_text, id="ten after nine"),
        pytest.param("v1.metadata.json", "v2.gz.metadata.json", None, compressed_files_ignored, id="gzip, one way"),
        pytest.param("00001-a.metadata.json", "00002-b.metadata.json.gz", None, compressed_files_ignored, id="gzip, another"),
    ],
)  # fmt: skip
def test_the_newest_metadata_is_read_and_an_older_one_without_the_guard(
    tmp_path: Path, monkeypatch: Patch, old: str, new: str, hint: str | None, switch_off: Callable[[Patch], None]
) -> None:
    folder = written(tmp_path, old, new)
    if hint is not None:
        (folder / "version-hint.text").write_text(hint)
    assert files(tmp_path) == ["a", "b"]
    switch_off(monkeypatch)
    assert files(tmp_path) == ["a"]


def test_of_two_metadata_files_of_one_version_none_is_guessed(tmp_path: Path, monkeypatch: Patch) -> None:
    """Two writers raced, and only a catalog records who won."""
    written(tmp_path, "00001-a.metadata.json", "00001-b.metadata.json")
    with pytest.raises(lakeprune.TableError) as problem:
        files(tmp_path)
    assert problem.value.code == "LP361"
    monkeypatch.setattr(locate, "_newest", lambda _storage, names: min(names))
    assert files(tmp_path) == ["a"], "the one that lost"


def files(root: Path) -> list[str]:
    return sorted(file.path for file in lakeprune.explain(root, "x = 5").files if file.kept)
