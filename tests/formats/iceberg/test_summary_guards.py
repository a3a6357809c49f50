"""Negative controls: each guard of partition summaries switched off loses a manifest with a matching row."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lakeprune.formats.iceberg import summaries
from tests.formats.iceberg.tables import encoded
from tests.formats.iceberg.test_manifests import _each, is_read, one


@pytest.mark.parametrize(
    ("guard", "where", "values", "change"),
    [
        ("nan", "c > 5", [1.0, math.nan], {"contains_nan": None}),
        ("order", "c = 1.5", [1.0, 2.0], {"lower_bound": encoded(9.0, "double"), "upper_bound": encoded(1.0, "double")}),
        ("null", "c IS NULL", [1.0, None], {}),
        ("bound", "c > 5", [1.0, math.nan], {"lower_bound": encoded(math.nan, "double"), "contains_nan": False}),
        ("length", "c IS NULL", [1.0, None], {"lower_bound": b"x", "contains_null": False}),
    ],
)
def test_without_its_guard_a_manifest_with_a_match_would_be_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guard: str, where: str, values: list[Any], change: dict[str, Any]
) -> None:
    """Negative controls: what `_range` guards is switched off by a summary that is believed too much."""
    root = one(tmp_path, "double", "identity", values, lambda listed: _each(listed, **change))
    assert is_read(root, where)

    def believed(self: Any, manifest: Any, spec: int, place: int, read: summaries.Decoder) -> summaries.Range:  # noqa: ARG001
        summary = manifest.summaries[place]
        low, high = read([summary.lower, summary.upper])
        no_null = True if guard == "null" else not summary.contains_null
        return summaries.Range(low, high, no_null, bool(summary.contains_nan))

    monkeypatch.setattr(summaries.ManifestSnapshot, "_range", believed)
    assert not is_read(root, where)


@pytest.mark.parametrize(
    ("type_", "value", "where"),
    [
        ("string", "abcdefghijklmnopqrs", "c = 'abcdefghijklmnopqrs'"),
        ("binary", b"abcdefghijklmnopqrs", "c = X'6162636465666768696A6B6C6D6E6F70717273'"),
    ],
)
def test_without_its_guard_a_truncated_upper_bound_loses_the_value_that_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, type_: str, value: Any, where: str
) -> None:
    """Negative control of T16."""
    cut = {"lower_bound": b"abc", "upper_bound": b"abcdefghijklmnop"}
    root = one(tmp_path, type_, "identity", [value], lambda listed: _each(listed, **cut))
    assert is_read(root, where)
    monkeypatch.setattr(summaries, "_CUT", 10**9)
    assert not is_read(root, where)


def test_without_its_guard_missing_bounds_are_taken_for_nulls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control of T51: bounds are also left out by writers that do not record them."""
    root = one(tmp_path, "int", "identity", [3, None], lambda listed: _each(listed, lower_bound=None, upper_bound=None))
    assert is_read(root, "c = 3")
    honest = summaries._proven

    def trusting(dialect: Any, seen: Any, fields: Any) -> Any:
        ((name, _),) = fields
        return replace(honest(dialect, seen, fields), all_null=f"({name}_lo IS NULL AND {name}_hi IS NULL)")

    monkeypatch.setattr(summaries, "_proven", trusting)
    assert not is_read(root, "c = 3")


def test_without_its_guard_summaries_of_another_number_of_fields_are_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control: whose summary is the first of two, when the spec has one field?"""

    def two(listed: dict[str, Any]) -> dict[str, Any]:
        other = {**listed["partitions"][0], "lower_bound": encoded(90, "int"), "upper_bound": encoded(99, "int")}
        return {**listed, "partitions": [other, *listed["partitions"]]}

    root = one(tmp_path, "int", "identity", [3, 7], two)
    assert is_read(root, "c = 5")
    honest = summaries.ManifestSnapshot._range

    def careless(self: Any, manifest: Any, *asked: Any) -> summaries.Range:
        return honest(self, replace(manifest, summaries=manifest.summaries[:1]), *asked)

    monkeypatch.setattr(summaries.ManifestSnapshot, "_range", careless)
    assert not is_read(root, "c = 5")
