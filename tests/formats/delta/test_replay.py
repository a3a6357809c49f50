"""Which files are alive: keys, order inside a commit, replaced adds, deletion vectors, paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.delta import PROTOCOL, Action, Log, add, bounds, deletion_vector, featured, metadata, remove
from tests.formats.delta.relation import files, opened, paths

SCHEMA = metadata({"x": "long"})
VECTORS = featured("deletionVectors")
OLD, NEW = deletion_vector(3, name="old"), deletion_vector(5, name="new")


@pytest.mark.parametrize("order", [1, -1])
def test_deletion_vector_replaces_its_file_in_either_order(tmp_path: Path, order: int) -> None:  # T71
    swap = [add("a", bounds(1, 9), dv=OLD), remove("a")][::order]
    log = Log(tmp_path / "t").commit(0, VECTORS, SCHEMA, add("a", bounds(1, 9))).commit(1, *swap)
    (file,) = files(opened(log.path))
    assert (file["has_dv"], file["deleted"], file["rows"], file["x"]["hi"]) == (True, 3, 10, 9)


@pytest.mark.parametrize("order", [1, -1])
def test_deletion_vector_replaces_its_file_of_a_checkpoint(tmp_path: Path, order: int) -> None:
    swap = [add("a", bounds(1, 9), dv=NEW), remove("a", dv=OLD)][::order]
    log = Log(tmp_path / "t").checkpoint(1, VECTORS, SCHEMA, add("a", bounds(1, 9), dv=OLD), add("b")).commit(2, *swap)
    assert [(file["path"], file["deleted"]) for file in files(opened(log.path))] == [("a", 5), ("b", 0)]


def test_offset_of_a_deletion_vector_is_part_of_its_key(tmp_path: Path) -> None:
    without, zero = (deletion_vector(3, offset, name="old") for offset in (None, 0))
    log = Log(tmp_path / "t").commit(0, VECTORS, SCHEMA, add("a", dv=without)).commit(1, remove("a", dv=zero))
    assert paths(opened(log.path)) == ["a"]


def test_remove_of_another_vector_leaves_the_file(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").checkpoint(1, VECTORS, SCHEMA, add("a", dv=OLD)).commit(2, remove("a", dv=NEW))
    assert paths(opened(log.path)) == ["a"]


def test_newest_add_of_a_path_replaces_its_statistics(tmp_path: Path) -> None:  # T70
    log = Log(tmp_path / "t").commit(0, PROTOCOL, SCHEMA, add("a")).commit(1, add("a", bounds(0, 0)))
    (file,) = files(opened(log.path))
    assert file["x"]["hi"] == 0
    log.commit(2, add("a"))
    (file,) = files(opened(log.path))
    assert file["x"]["hi"] is None


def test_add_replaces_the_same_path_of_a_checkpoint(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").checkpoint(1, PROTOCOL, SCHEMA, add("a"), add("b")).commit(2, add("a", bounds(0, 0)))
    assert [(file["path"], file["x"]["hi"]) for file in files(opened(log.path))] == [("a", 0), ("b", None)]


def test_add_with_another_vector_replaces_the_path_even_without_a_remove(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").checkpoint(1, VECTORS, SCHEMA, add("a", dv=OLD)).commit(2, add("a", dv=NEW))
    assert [file["deleted"] for file in files(opened(log.path))] == [5]


def test_file_removed_and_added_again_is_alive(tmp_path: Path) -> None:
    log = (
        Log(tmp_path / "t")
        .commit(0, PROTOCOL, SCHEMA, add("a"))
        .commit(1, remove("a"))
        .commit(2, add("a"))
        .commit(3, remove("b"))
    )
    assert paths(opened(log.path)) == ["a"]
    assert paths(opened(log.path, version=1)) == []


@pytest.mark.parametrize("in_checkpoint", [False, True])
def test_bounds_of_a_file_whose_rows_came_back_are_not_trusted(tmp_path: Path, in_checkpoint: bool) -> None:  # T65
    before = (VECTORS, SCHEMA, add("a", bounds(10, 10), dv=NEW))
    log = Log(tmp_path / "t")
    if in_checkpoint:
        log.checkpoint(0, *before)
    else:
        log.commit(0, *before)
    log.commit(1, add("a", bounds(10, 10), dv=OLD))
    (file,) = files(opened(log.path))
    assert (file["x"]["lo"], file["x"]["no_null"], file["deleted"]) == (None, False, 3)


def test_bounds_of_a_file_restored_to_no_vector_are_not_trusted(tmp_path: Path) -> None:  # T65
    log = Log(tmp_path / "t").commit(0, VECTORS, SCHEMA, add("a", bounds(10, 10), dv=OLD))
    log.commit(1, remove("a", dv=OLD), add("a", bounds(10, 10)))
    (file,) = files(opened(log.path))
    assert (file["x"]["lo"], file["has_dv"], file["deleted"]) == (None, False, 0)


def test_fully_deleted_file_says_so(tmp_path: Path) -> None:  # T64
    log = Log(tmp_path / "t").commit(0, VECTORS, SCHEMA, add("a", bounds(1, 9, rows=5), dv=NEW))
    (file,) = files(opened(log.path))
    assert file["rows"] - file["deleted"] == 0


def test_vector_that_hides_more_rows_than_there_are_tells_nothing(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, VECTORS, SCHEMA, add("a", bounds(1, 9, rows=2), dv=NEW))
    (file,) = files(opened(log.path))
    assert file["deleted"] is None


def test_paths_are_compared_decoded_and_relative(tmp_path: Path) -> None:  # T43
    root = tmp_path / "a table"
    here = root.as_posix()
    actions: list[Action] = [add("p%3D1/a%20b"), add("plain"), add(f"file:{here.replace(' ', '%20')}/c"), add("100%"), add("d+e")]
    log = Log(root).commit(0, PROTOCOL, SCHEMA, *actions)
    assert len(paths(opened(root))) == 5
    log.commit(
        1, remove("p=1/a b"), remove(f"file://{here.replace(' ', '%20')}/plain"), remove("c"), remove("100%25"), remove("d e")
    )
    assert paths(opened(root)) == ["d+e"]


def test_absolute_path_outside_the_table_is_kept(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, PROTOCOL, SCHEMA, add("file:/elsewhere/x"), add("/elsewhere/y"))
    log.commit(1, remove("/elsewhere/x"))
    assert paths(opened(log.path)) == ["/elsewhere/y"]


def test_large_and_small_commits_are_read_together(tmp_path: Path) -> None:
    many = [add(f"f{i:05}", bounds(i, i)) for i in range(9000)]
    log = Log(tmp_path / "t").commit(0, PROTOCOL, SCHEMA, *many).commit(1, remove("f00000"), add("g", bounds(1, 1)))
    snapshot = opened(log.path)
    assert (log.log / f"{0:020}.json").stat().st_size > 1 << 20
    assert len(paths(snapshot)) == 9000


def test_empty_table_has_no_files(tmp_path: Path) -> None:
    assert files(opened(Log(tmp_path / "t").commit(0, PROTOCOL, SCHEMA).path)) == []
    assert files(opened(Log(tmp_path / "u").checkpoint(0, PROTOCOL, SCHEMA).path)) == []
