"""Guards of tuples, specs, counts and metrics: a table that needs each, and the guard switched off.

T12, T23, T49, T50, T85, T86, T89, T92. Those of deletes (T66, T67, T87, T88) are in test_delete_guards.py, those of the newest
metadata file (T91) in test_newest_guards.py, of columns that a file lacks (T55, T56, T58) in row_groups/test_absent_guards.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

import lakeprune
from lakeprune.formats.iceberg import entries, files, manifest_list, schema, specs, transforms
from lakeprune.formats.iceberg.avro import reader
from lakeprune.formats.iceberg.avro.schema import AvroType, parse_schema
from lakeprune.formats.iceberg.avro.wanted import Node, Wanted, find
from lakeprune.formats.iceberg.entries import Part
from lakeprune.formats.iceberg.metrics_sql import MetricsSql
from lakeprune.formats.lifting.hour import Hour
from lakeprune.formats.lifting.identity import Identity
from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, encoded, write_table

_X, _Y, _TS = column(1, "x", "long"), column(2, "y", "long"), column(3, "ts", "timestamp")
_BELOW, _ABOVE = "10000000-0000-4000-8000-000000000000", "90000000-0000-4000-8000-000000000000"
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


def uuids_of_one_sign_and_the_other(root: Path) -> None:
    """As Java writes them: 90... is negative and so the least, 10... comes after it. The maximum is not recorded."""
    metrics: dict[str, dict[int, Any]] = {
        "value_counts": {4: 2},
        "null_value_counts": {4: 0},
        "lower_bounds": {4: UUID(_ABOVE).bytes},
    }
    write_table(root, [column(4, "u", "uuid")], [Entry("f", 2, metrics=metrics)])


def two_columns_asked_for_against_their_order(root: Path) -> None:
    write_table(root, [_X, _Y], [Entry("f", 10, metrics=_bounds({1: (0, 9), 2: (100, 109)}))])


def a_column_added_with_a_default(root: Path) -> None:
    """The file was written before the column was added: its metrics are missing, and its rows have the default."""
    country = column(5, "country", "string", **{"initial-default": "US", "write-default": "US"})
    write_table(root, [_X, country], [Entry("f", 10, metrics=_bounds({1: (0, 9)}))], None, Layout(3))


def one_path_twice(root: Path) -> None:
    write_table(root, [_X], [Entry("f", 10, metrics=_bounds({1: range_})) for range_ in ((0, 9), (10, 19))])


def _bounds(ranges: dict[int, tuple[int, int]]) -> dict[str, dict[int, Any]]:
    return {
        "value_counts": dict.fromkeys(ranges, 10),
        "null_value_counts": dict.fromkeys(ranges, 0),
        "lower_bounds": {key: encoded(low, "long") for key, (low, _) in ranges.items()},
        "upper_bounds": {key: encoded(high, "long") for key, (_, high) in ranges.items()},
    }


def uuids_in_one_order(patch: Patch) -> None:
    patch.delitem(schema._UNUSABLE, "uuid")
    patch.setattr(files, "decoded", lambda values, _type: [value and str(UUID(bytes=value)) for value in values])


def keys_taken_by_their_order(patch: Patch) -> None:
    """The first key that a file has goes to the first column that was asked for."""

    def by_place(node: Node) -> Node:
        keys = dict(zip(sorted(node.keys), node.keys.values(), strict=True))
        return Node(node.columns, keys, {place: by_place(below) for place, below in node.fields.items()})

    def careless(type_: AvroType, wanted: Sequence[Wanted]) -> Node:
        return by_place(find(type_, wanted))

    patch.setattr(reader, "find", careless)
    patch.setattr(reader, "_reader_of", lambda text, wanted: reader.Reader(parse_schema(text), wanted))  # nothing is remembered


def missing_metrics_are_nulls(patch: Patch) -> None:
    honest = MetricsSql.items

    def careless(self: MetricsSql, names: Any, needs: Any) -> list[str]:
        raw, is_null = self.raw, names.all_null(self.column)
        is_missing = f"{raw.lo} IS NULL AND {raw.hi} IS NULL AND {raw.nulls} IS NULL AS {is_null}"
        return [is_missing if item.endswith(f" AS {is_null}") else item for item in honest(self, names, needs)]

    patch.setattr(MetricsSql, "items", careless)


def files_are_known_by_their_paths(patch: Patch) -> None:
    honest = entries.read_entries

    def once(part: Part) -> Part:
        first = [path not in part.columns["file_path"][:place] for place, path in enumerate(part.columns["file_path"])]
        return replace(
            part, columns={item: [v for v, is_new in zip(vs, first, strict=True) if is_new] for item, vs in part.columns.items()}
        )

    patch.setattr(files, "read_entries", lambda *asked: [once(part) for part in honest(*asked)])


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
        pytest.param(uuids_of_one_sign_and_the_other, f"u = '{_BELOW}'", uuids_in_one_order, id="T23"),
        pytest.param(two_columns_asked_for_against_their_order, "y = 105 AND x = 5", keys_taken_by_their_order, id="T86"),
        pytest.param(a_column_added_with_a_default, "country = 'US'", missing_metrics_are_nulls, id="T89"),
        pytest.param(one_path_twice, "x = 15", files_are_known_by_their_paths, id="T92"),
    ],
)
def test_a_file_that_may_match_is_kept_and_lost_without_the_guard(
    tmp_path: Path, monkeypatch: Patch, write: Callable[[Path], None], where: str, switch_off: Callable[[Patch], None]
) -> None:
    write(tmp_path)
    assert kept(tmp_path, where) == ["f"]
    switch_off(monkeypatch)
    assert kept(tmp_path, where) == []


def kept(root: Path, where: str) -> list[str]:
    return sorted(file.path for file in lakeprune.explain(root, where, nan_policy="strict").files if file.kept)
