"""Random Iceberg tables, specs and predicates, every verdict against what the rows say; and guards switched off."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.formats.iceberg.random_tables import random_iceberg_table, write
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.scope import IS_WHOLE
from tests.soundness.every_file import PER_TABLE, check_every_file
from tests.soundness.pruning import Pruner
from tests.soundness.tight import profile_of
from tests.soundness.verdict import Verdict

TABLES = max(4, int(os.environ.get("LAKEPRUNE_SOUNDNESS_CASES", "30000" if IS_WHOLE else "1200")) // 300)


def test_no_matching_file_is_dropped_and_no_full_file_has_another_row(tmp_path: Path) -> None:
    check_every_file(tmp_path, range(TABLES), random_iceberg_table, write)


@pytest.mark.parametrize("change", ["forget", "widen"])
def test_metrics_that_are_forgotten_or_wider_never_drop_a_file_more(tmp_path: Path, change: str) -> None:
    """Metamorphic: whoever knows less keeps at least as much, and calls no more files fully matched."""
    less = 0
    for seed in range(1000, 1000 + TABLES // 4):
        rng = Random(seed)
        table = random_iceberg_table(rng)
        state = rng.getstate()
        pruners = []
        known: dict[str, dict[str, Any]] = {"whole": {}, "less": {change: Random(seed)}}
        for name, changes in known.items():
            rng.setstate(state)
            write(table, tmp_path / name / str(seed), rng, **changes)
            pruners.append(Pruner(tmp_path / name / str(seed), profile_of(table)))
        for _ in range(PER_TABLE):
            where = say(random_predicate(table.columns, table.zone, rng)).spark
            whole, forgetful = (pruner.listed(pruner.plan(where)) for pruner in pruners)
            for path, verdict in forgetful.items():
                assert verdict in (Verdict.KEEP, whole[path]), f"seed {seed}: {where}: {path} {whole[path]} {verdict}"
                less += verdict is not whole[path]
    assert less, "nothing that was forgotten mattered"


def test_a_predicate_its_negation_and_its_null_cover_every_file(tmp_path: Path) -> None:
    """Ternary partitioning: each live row makes one of the three TRUE."""
    for seed in range(2000, 2000 + TABLES // 2):
        rng = Random(seed)
        table = random_iceberg_table(rng)
        write(table, tmp_path / str(seed), rng)
        pruner = Pruner(tmp_path / str(seed), profile_of(table))
        for _ in range(PER_TABLE):
            where = say(random_predicate(table.columns, table.zone, rng)).spark
            asked = (where, f"NOT ({where})", f"({where}) IS NULL")
            verdicts = [pruner.listed(pruner.plan(each)) for each in asked]
            for file in table.files:
                if file.live:
                    assert any(found[file.name] is not Verdict.DROP for found in verdicts), f"seed {seed}: {where}: {file.name}"
