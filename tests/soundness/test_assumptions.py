"""Drops that rest on the assumption that no NaN is hidden: each is marked, and the check notices when one is not."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from lakeprune.predicate.tree import Profile
from lakeprune.programs.patterns import Signature
from tests.generator.values import NAN
from tests.soundness.check import Tally, check_seed
from tests.soundness.pruning import Pruner
from tests.soundness.verdict import Verdict


def judged(root: Path, where: str) -> tuple[list[Verdict], list[Verdict]]:
    """The strict verdicts, and those that assume that no NaN is hidden."""
    pruner = Pruner(root, Profile(now=0))
    plan = pruner.plan(where)
    strict, assumed = (list(pruner.listed(asked).values()) for asked in (plan, pruner.assuming(plan)))
    return strict, assumed


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written by deltalake, which leaves NaN out of the bounds: 1.0 to 2.0 are recorded."""
    root = tmp_path_factory.mktemp("hidden") / "table"
    rows = pa.table({"x": pa.array([1.0, 2.0, NAN], pa.float64()), "y": pa.array([1, 2, 3], pa.int64())})
    write_deltalake(root, rows)
    return root


@pytest.mark.parametrize("where", ["x > 100", "x != 5 AND x > 2", "NOT (x < 10)", "x NOT BETWEEN 0 AND 9", "x > 100 OR y > 3"])
def test_a_drop_that_a_hidden_nan_makes_wrong_is_marked(hidden: Path, where: str) -> None:
    assert judged(hidden, where) == ([Verdict.KEEP], [Verdict.ASSUMED])


@pytest.mark.parametrize("where", ["x < 1", "x = 100", "x BETWEEN 6 AND 9", "x > 100 AND y > 3"])
def test_a_drop_that_is_proven_is_not_marked(hidden: Path, where: str) -> None:
    assert judged(hidden, where) == ([Verdict.DROP], [Verdict.DROP])


@pytest.mark.parametrize(
    "where",
    [
        "isnan(x)",
        "x = double('NaN')",
        "x > double('Infinity')",
        "x < 1 OR isnan(x)",
        "NOT (x <= double('Infinity'))",
        "NOT (NOT isnan(x) AND y < 9)",
    ],
)
def test_what_asks_for_nan_is_never_assumed_away(hidden: Path, where: str) -> None:
    assert judged(hidden, where) == ([Verdict.KEEP], [Verdict.KEEP])


def test_the_check_complains_when_the_mark_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = next(seed for seed in count() if tally(seed).false_assumptions)
    assert tally(seed).violations == []
    monkeypatch.setattr(Signature, "is_assumed", False)
    assert any("without a mark" in violation for violation in tally(seed).violations)


def tally(seed: int) -> Tally:
    found = Tally()
    check_seed(seed, found, 60)
    return found
