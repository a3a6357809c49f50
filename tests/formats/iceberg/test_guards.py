"""Guards of tuples, specs, counts and deletes: a table that needs each, and the guard switched off (T12, T49, T50, T85, T88)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lakeprune
from lakeprune.formats.iceberg import deletes, entries, manifest_list, specs, transforms
from lakeprune.formats.lifting.hour import Hour
from lakeprune.formats.lifting.identity import Identity
from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, write_table

_X, _Y, _TS = column(1, "x", "long"), column(2, "y", "long"), column(3, "ts", "timestamp")
_NO_SUMMARIES = Layout(summaries=False)
Patch = pytest.MonkeyPatch


def far_hours(root: Path) -> None:
    """Hour 2**31 + 10, some 245,000 years after 1970, as 32 bits have it."""
    spec = {0: [SpecField(3, "hour", "ts_hour", 1000, "int")]}
    write_table(root, [_TS], [Entry("f", 1, tuple={1000: -(2**31) + 10})], spec, _NO_SUMMARIES)


def void(root: Path) -> None:
    spec = {0: [SpecField(1, "void", "x", 1000, "long")]}
    write_table(root, [_X], [Entry("f", 1, tuple={1000: None})], spec, _NO_SUMMARIES)


def two_specs_of_one_field_id(root: Path) -> None:
    """As version 1 numbers them: each spec begins with 1000."""
    several = {0: [SpecField(1, "identity", "x", 1000, "long")], 1: [SpecField(2, "identity", "y", 1000, "long")]}
    write_table(root, [_X, _Y], [Entry("f", 1, tuple={1000: 5}), Entry("g", 1, spec=1, tuple={1000: 7})], several, _NO_SUMMARIES)


def uncounted(root: Path) -> None:
    missing = {"added_files_count": None, "existing_files_count": None}
    write_table(root, [_X], [Entry("f", 1)], None, Layout(recorded=lambda listed: {**listed, **missing}))


def trust_far_hours(patch: Patch) -> None:
    patch.setattr(Hour, "farthest", 2**31)


def trust_void(patch: Patch) -> None:
    known = transforms.transform_of
    patch.setattr(specs, "_TELLING", re.compile("void"))
    patch.setattr(
        transforms, "transform_of", lambda name, source, *_: Identity(source) if name == "void" else known(name, source)
    )


def current_spec_for_all(patch: Patch) -> None:
    patch.setattr(entries, "_spec_of", lambda _manifest, _file, default: default)


def missing_counts_are_zero(patch: Patch) -> None:
    patch.setattr(manifest_list, "_count", lambda number: number or 0)


@pytest.mark.parametrize(
    ("write", "where", "switch_off"),
    [
        pytest.param(far_hours, "ts > '2024-01-01 00:00:00'", trust_far_hours, id="T12"),
        pytest.param(void, "x = 5", trust_void, id="T49"),
        pytest.param(two_specs_of_one_field_id, "y = 6", current_spec_for_all, id="T50"),
        pytest.param(uncounted, "x = 5", missing_counts_are_zero, id="T85"),
    ],
)
def test_a_file_that_may_match_is_kept_and_lost_without_the_guard(
    tmp_path: Path, monkeypatch: Patch, write: Callable[[Path], None], where: str, switch_off: Callable[[Patch], None]
) -> None:
    write(tmp_path)
    assert kept(tmp_path, where) == ["f"]
    switch_off(monkeypatch)
    assert kept(tmp_path, where) == []


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


def kept(root: Path, where: str) -> list[str]:
    return sorted(file.path for file in lakeprune.explain(root, where, nan_policy="strict").files if file.kept)
