"""The two acceptance tables, written by the official writer: their statistics, and the output line by line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakeprune.cli.main import main
from tests.builders import delta

WHERE = "country = 'DE' AND age > 40"

USERS_OUTPUT = """\
Delta table: {table}
Version:     5
Predicate:   country = 'DE' AND age > 40

Predicate Analysis:
  partition-safe: country = 'DE'
  stats-safe:     age > 40
  unsplittable:   -
  confidence:     conservative

Files in snapshot: 6

Phase 1: Partition pruning [exact]
  predicate:       country = 'DE'
  files remaining: 2  (-4, 67% pruned)

Phase 2: Data skipping (min/max statistics) [conservative]
  predicate:       age > 40
  files remaining: 1  (-1, 50% pruned)

Total reduction: 6 -> 1 files (83% pruned)
"""

FLAT_OUTPUT = """\
Delta table: {table}
Version:     0
Predicate:   country = 'DE' AND age > 40

Predicate Analysis:
  partition-safe: -
  stats-safe:     country = 'DE' AND age > 40
  unsplittable:   -
  confidence:     conservative

Files in snapshot: 6

Phase 1: Data skipping (min/max statistics) [conservative]
  predicate:       country = 'DE' AND age > 40
  files remaining: 4  (-2, 33% pruned)
"""


def assert_contains_in_order(output: str, expected: str) -> None:
    """Every expected line is there, whole and in this order; other lines may stand between."""
    lines = iter(output.splitlines())
    for wanted in expected.splitlines():
        assert wanted in lines, f"missing, or out of order: {wanted!r}"


def ranges(path: Path) -> list[tuple[object, ...]]:
    """Per file in the order of the log: partition, statistics of age and country, rows."""
    found: list[tuple[object, ...]] = []
    for version in range(len(list((path / "_delta_log").glob("*.json")))):
        for add in delta.adds(path, version):
            stats = json.loads(add["stats"])
            low, high = stats["minValues"], stats["maxValues"]
            country = add["partitionValues"].get("country") or (low["country"], high["country"])
            found.append((country, low["age"], high["age"], stats["numRecords"]))
    return found


def test_users(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = delta.users(tmp_path / "users")
    assert ranges(table) == [
        ("IT", 41, 65, 3),
        ("IT", 22, 38, 5),
        ("US", 31, 55, 3),
        ("US", 18, 29, 4),
        ("DE", 40, 60, 4),
        ("DE", 20, 35, 5),
    ]
    assert main(["explain", str(table), "-w", WHERE]) == 0
    assert_contains_in_order(capsys.readouterr().out, USERS_OUTPUT.format(table=table))


def test_users_flat(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = delta.users_flat(tmp_path / "users-flat")
    assert [row[:3] for row in ranges(table)] == [
        (("AL", "US"), 18, 29),
        (("AT", "US"), 20, 35),
        (("DE", "US"), 30, 55),
        (("AT", "IT"), 22, 50),
        (("CH", "US"), 40, 65),
        (("AT", "DE"), 25, 45),
    ]
    assert main(["explain", str(table), "-w", WHERE]) == 0
    output = capsys.readouterr().out
    assert_contains_in_order(output, FLAT_OUTPUT.format(table=table))
    assert "Phase 2" not in output


def test_verbose_lists_each_file_with_its_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = delta.users_flat(tmp_path / "users-flat")
    assert main(["explain", str(table), "-w", WHERE, "-v", "--limit", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = lines[lines.index("Files:") + 1 :]
    reported = [
        ("DROPPED", 4, "country: AL..US, age: 18..29", "dropped by statistics: age > 40"),
        ("DROPPED", 4, "country: AT..US, age: 20..35", "dropped by statistics: age > 40"),
        ("KEPT   ", 3, "country: DE..US, age: 30..55", "kept: ranges overlap with country = 'DE'"),
    ]
    expected = [
        f"  [{word}] {add['path']}  ({add['size'] / 1000:.1f} KB  {rows} records)  stats({stats})  {why}"
        for (word, rows, stats, why), add in zip(reported, delta.adds(table, 0)[:3], strict=True)
    ]
    assert listed == [*expected, "  ... and 3 more files (raise --limit to see them)"]
