"""The nine shapes for which the reference server drops a file with matching rows: ours keeps it, and can drop it, too."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from lakeprune.planning.planner import Planner
from tests.apps.sharing.hinting import Asked, Hint, column, compared, is_null, joined, literal, negated, planner_of
from tests.builders.delta import write_table


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    """One file: x in 1..10 with a NULL, i in 1..20, s in '1'..'9' with '50', a null partition; y has no statistics."""
    root: Path = tmp_path_factory.mktemp("shapes") / "t"
    rows = pa.table(
        {
            "p": pa.array([None] * 4, pa.string()),
            "x": pa.array([1, 5, 10, None], pa.int32()),
            "i": pa.array([1, 3, 20, 4], pa.int32()),
            "s": ["1", "50", "9", "7"],
            "y": pa.array([[1], None, [2], [3]]),
            "z": pa.array([1, 2, 3, 4], pa.int32()),
        }
    )
    return planner_of(write_table(root, [rows], partition_by=["p"]))


SHAPES: list[Hint] = [
    negated(compared("equal", "x", "5", "int")),
    negated(compared("greaterThan", "x", "5", "int")),
    joined("lessThan", literal("0", "int"), column("x", "int")),
    is_null("x", "int"),
    negated(is_null("y", "int")),
    is_null("p", "string"),
    compared("equal", "i", "3", "string"),
    compared("equal", "s", "50", "int"),
    negated(is_null("Z", "int")),
]


@pytest.mark.parametrize("hint", SHAPES)
def test_the_file_is_kept(planner: Planner, hint: Hint) -> None:
    assert len(Asked(planner, hint=hint).paths) == 1


@pytest.mark.parametrize(
    "hint",
    [
        compared("equal", "x", "11", "int"),
        joined("greaterThan", literal("0", "int"), column("x", "int")),
        negated(compared("lessThanOrEqual", "x", "10", "int")),
        negated(is_null("P", "string")),
        is_null("z", "int"),
        compared("equal", "i", "21", "string"),
    ],
)
def test_the_file_is_dropped_where_no_row_matches(planner: Planner, hint: Hint) -> None:
    assert Asked(planner, hint=hint).paths == []
