"""The exit codes of docs/peers.md: a failed gate is 1 as in delta-explain, everything else has a code of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

from lakeprune.cli.main import main
from tests.builders.delta import write_table
from tests.soundness.peers import DELTA_EXPLAIN

CASES = (
    (["-w", "i > 5"], 0, 0),
    (["-w", "i > 5", "--min-pruning", "99"], 1, 1),
    (["-w", "nosuch = 1"], 1, 2),
    (["-w", "i >"], 1, 2),
    (["-w", "i = 'abc'"], 1, 2),
    (["-w", "i > 5", "--at-version", "99"], 1, 3),
    (["--bogus"], 2, 2),
    (["-w", "i > 5", "--min-pruning", "200"], 1, 2),
    (["-w", "sum(i) > 3"], 0, 2),
)


@pytest.mark.parametrize(("flags", "theirs", "ours"), CASES, ids=[" ".join(flags) for flags, _, _ in CASES])
def test_exit_codes_are_those_of_the_table(tmp_path: Path, flags: list[str], theirs: int, ours: int) -> None:
    table = write_table(tmp_path / "t", [pa.table({"i": [1, 9]})])
    assert main(["explain", str(table), *flags]) == ours
    if DELTA_EXPLAIN.exists():
        assert subprocess.run([str(DELTA_EXPLAIN), str(table), *flags], capture_output=True, check=False).returncode == theirs
