"""Guards of deletes: which of them apply, and what becomes of live rows with the guard switched off (T66, T67, T87, T88).

A file whose rows are all deleted is dropped, and one without deletes has as many live rows as it records: a delete that is
applied where it does not belong loses a file with matching rows, one that is not applied where it does counts rows that are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lakeprune
from lakeprune.formats.iceberg import deletes, files
from lakeprune.formats.iceberg.deletes import Deletes
from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, write_table

_X = column(1, "x", "long")
_BY_P = {0: [SpecField(3, "identity", "p", 1000, "int")]}
_FILE_PATH = 2147483546  # the column of position deletes that has paths
Patch = pytest.MonkeyPatch

DATA = Entry("d", 10, sequence=2, tuple={1000: 1})
VECTOR = Entry("x.puffin", 10, content=1, format="PUFFIN", referenced="d", tuple={1000: 1})
POSITION = Entry("pos", 10, content=1, tuple={1000: 1})
EQUALITY = Entry("eq", 1, content=2, equality_ids=[1], tuple={1000: 1})


def live(root: Path, entries: Sequence[Entry], specs: Any = None) -> list[tuple[str, int | None]]:
    """The files that are kept, and how many of their rows are live; None when that is not known."""
    write_table(root, [_X, column(3, "p", "int")], entries, specs or _BY_P, Layout(3, sequence=5))
    return sorted((file.path, file.live_rows) for file in lakeprune.explain(root, "x = 5").files if file.kept)


def every_delete_is_newer(patch: Patch) -> None:
    honest = Deletes.deleted_rows
    patch.setattr(Deletes, "deleted_rows", lambda self, path, _sequence, key: honest(self, path, 0, key))


def no_delete_is_global(patch: Patch) -> None:
    patch.setattr(files, "is_unpartitioned", lambda _fields: False)


def the_same_commit_is_too_early(patch: Patch) -> None:
    honest = Deletes.deleted_rows
    patch.setattr(Deletes, "deleted_rows", lambda self, path, sequence, key: honest(self, path, sequence + 1, key))


def every_partition_is_the_same(patch: Patch) -> None:
    patch.setattr(files, "partition_keys", lambda entries, _tuples: [(spec,) for spec in entries["spec_id"]])


def vectors_are_known_by_their_own_path(patch: Patch) -> None:
    """The last one of a Puffin file stands for all of them."""

    class Careless(Deletes):
        def __init__(self, entries: Any, *more: Any) -> None:
            last = dict(zip(entries["file_path"], entries["referenced_data_file"], strict=True))
            super().__init__({**entries, "referenced_data_file": [last[path] for path in entries["file_path"]]}, *more)

    patch.setattr(files, "Deletes", Careless)


@pytest.mark.parametrize(
    ("entries", "specs", "rows", "switch_off"),
    [
        pytest.param(
            [DATA, replace(VECTOR, sequence=1)], None, ([("d", 10)], []), every_delete_is_newer,
            id="T66: a vector that is older than the data",
        ),
        pytest.param(
            [DATA, replace(POSITION, sequence=2)], None, ([("d", None)], [("d", 10)]), the_same_commit_is_too_early,
            id="T66: position deletes of the same commit",
        ),
        pytest.param(
            [DATA, replace(EQUALITY, spec=1, tuple={})], {**_BY_P, 1: []}, ([("d", None)], [("d", 10)]), no_delete_is_global,
            id="T66: equality deletes of an unpartitioned spec",
        ),
        pytest.param(
            [DATA, replace(EQUALITY, tuple={1000: 2})], None, ([("d", 10)], [("d", None)]), every_partition_is_the_same,
            id="T66: equality deletes of another partition",
        ),
        pytest.param(
            [DATA, replace(DATA, path="e"), replace(VECTOR, referenced="e"), replace(VECTOR, rows=1)], None,
            ([("d", 9)], [("d", None), ("e", 10)]), vectors_are_known_by_their_own_path,
            id="T87: vectors that share a Puffin file",
        ),
    ],
)  # fmt: skip
def test_live_rows_are_right_and_wrong_without_the_guard(
    tmp_path: Path,
    monkeypatch: Patch,
    entries: list[Entry],
    specs: Any,
    rows: tuple[list[Any], list[Any]],
    switch_off: Callable[[Patch], None],
) -> None:
    honest, careless = rows
    assert live(tmp_path, entries, specs) == honest
    switch_off(monkeypatch)
    assert live(tmp_path, entries, specs) == careless


@pytest.mark.parametrize("bounds", [(b"hdfs://ns2/user/", b"hdfs://ns2/user0"), (b"another", b"another"), (b"z", b"a")])
def test_bounds_of_paths_do_not_narrow_what_position_deletes_are_about(tmp_path: Path, bounds: tuple[bytes, bytes]) -> None:
    """T67: nothing here could be switched off: metrics of delete files are not read."""
    low, high = bounds
    delete = replace(POSITION, metrics={"lower_bounds": {_FILE_PATH: low}, "upper_bounds": {_FILE_PATH: high}})
    assert live(tmp_path, [DATA, delete]) == [("d", None)]


def test_deletes_of_minus_zero_are_not_those_of_zero(tmp_path: Path, monkeypatch: Patch) -> None:
    """T88: partitions are the same only bit by bit."""
    spec = {0: [SpecField(4, "identity", "d", 1000, "double")]}
    data = Entry("f", 10, tuple={1000: 0.0}, sequence=1)
    delete = Entry("e", 1, content=2, equality_ids=[1], tuple={1000: -0.0}, sequence=2)
    write_table(tmp_path, [_X, column(4, "d", "double")], [data, delete], spec, Layout(sequence=3))

    def rows() -> Any:
        return lakeprune.explain(tmp_path, "x = 5").to_dict()["total_rows"]

    assert rows() == 10
    monkeypatch.setattr(deletes, "_bits", lambda value: value)
    assert rows() == 0, "labelled as not known"
