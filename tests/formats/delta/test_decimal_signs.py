"""The sign of a wide decimal: Spark rounds `abs(d)` and `-d` to 34 digits, so that other rows match than arithmetic says."""

from __future__ import annotations

from pathlib import Path

import pytest

import lakeprune
from tests.builders.delta import PROTOCOL, add, metadata, statistics, write_log

WIDE, ROUND = 10**35 + 1, 10**35


@pytest.mark.parametrize("digits", [36, 38])
@pytest.mark.parametrize("where", [f"abs(d) = {ROUND}", f"abs(d) < {WIDE}", f"-d = {ROUND}", f"negative(d) <= {ROUND}"])
def test_a_file_whose_rows_match_by_rounding_is_kept(tmp_path: Path, where: str, digits: int) -> None:
    """In Spark 4.1 each of these is TRUE of -100000000000000000000000000000000001."""
    file = add("a", statistics(1, d=(-WIDE, -WIDE, 0)))
    table = write_log(tmp_path / "t", [[PROTOCOL, metadata({"d": f"decimal({digits},0)"}), file]])
    plan = lakeprune.plan(table, where)
    assert (plan.totals.files_scanned, plan.files.column("verdict").to_pylist()) == (1, ["partial"])


def test_smaller_values_are_still_told_apart(tmp_path: Path) -> None:
    files = [add(name, statistics(1, d=(low, low + 9, 0))) for name, low in (("a", 0), ("b", 100), ("c", -109))]
    table = write_log(tmp_path / "t", [[PROTOCOL, metadata({"d": "decimal(38,18)"}), *files]])
    assert lakeprune.plan(table, "abs(d) < 50").files.column("path").to_pylist() == ["a"]
