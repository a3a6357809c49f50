"""Decimals whose bounds deltalake itself recorded: through doubles and saturated 64-bit integers (T25, T93)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from tests.generator.values import scaled
from tests.soundness.delta_log import write_table
from tests.soundness.pruning import Pruner
from tests.soundness.recorded import recorded_by_deltalake
from tests.soundness.scenes import Scene, table_of
from tests.soundness.tight import profile_of
from tests.soundness.truth import Seen
from tests.soundness.verdict import Verdict, complaint
from tests.soundness.writers import Writer

LIMIT = 2**63
TYPES = [(19, 0), (20, 0), (28, 0), (38, 0), (18, 2), (38, 2), (38, 10), (38, 37), (38, 38)]
TESTS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    "x = {}": lambda d, k: d == k,
    "x <=> {}": lambda d, k: d == k,
    "x IN ({}, -3)": lambda d, k: d in (k, -3),
    "x >= {}": lambda d, k: d >= k,
    "x > {}": lambda d, k: d > k,
    "x <= {}": lambda d, k: d <= k,
    "x < {}": lambda d, k: d < k,
    "x != {}": lambda d, k: d != k,
    "NOT (x BETWEEN {0} AND {0})": lambda d, k: d != k,
}


def values_of(precision: int, scale: int) -> list[Decimal]:
    """The ends of the type, and what lies around the limits of doubles and of 64-bit integers."""
    top = 10**precision - 1
    centres = [top, LIMIT, LIMIT - 1, 5163575153583593754, 1234567890123456789, 9007199254740993, 10**17 + 1, 1, 0]
    units = [sign * (centre + step) for centre in centres for step in (-1, 0, 1) for sign in (1, -1)]
    units += [sign * centre * 10**scale for centre in centres for sign in (1, -1)]
    return [scaled(unit, scale) for unit in dict.fromkeys(units) if abs(unit) <= top]


@pytest.mark.parametrize(("precision", "scale"), TYPES)
def test_no_decimal_is_lost_by_what_deltalake_records(tmp_path: Path, precision: int, scale: int) -> None:
    values = values_of(precision, scale)
    asked = [(where.format(f"{k:f}"), test, k) for k in values[::2] for where, test in TESTS.items()]
    pruner = written(tmp_path / "table", values, precision, scale)
    wrong = []
    for (where, test, literal), verdicts in zip(asked, pruner.verdicts([pruner.plan(w) for w, _, _ in asked]), strict=True):
        for value, verdict in zip(values, verdicts, strict=True):
            truth = test(value, literal)
            problem = complaint(verdict, Seen(true=truth, false=not truth))
            if problem is not None:
                wrong.append(f"{value:f}: {where}: {problem}")
    assert wrong == []


def test_a_saturated_bound_still_proves_its_other_side(tmp_path: Path) -> None:
    """9223372036854775807 as a minimum: every value is about that or more."""
    pruner = written(tmp_path / "table", [Decimal("9" * 38), Decimal("-" + "9" * 38)], 38, 0)
    assert pruner.verdicts([pruner.plan("x < 9000000000000000000")]) == [[Verdict.DROP, Verdict.FULL]]


def written(root: Path, values: list[Decimal], precision: int, scale: int) -> Pruner:
    """A table of one file per value, with the statistics that deltalake recorded."""
    made = table_of(Scene(f"decimal({precision},{scale})", [[value] for value in values], Writer.RUST))
    table = recorded_by_deltalake(made)
    write_table(table, root)
    return Pruner(root, profile_of(table))
