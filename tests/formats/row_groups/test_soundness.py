"""Random tables of many small row groups, random predicates: every row group's verdict against what its rows say."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from lakeprune.errors import LakepruneError
from lakeprune.report.attribution import attribute
from tests.formats.iceberg.random_tables import random_iceberg_table
from tests.formats.parquet.random_files import know_less, texts_of, write_rows
from tests.formats.parquet.test_soundness import hive_table
from tests.formats.row_groups.tables import (
    GroupTruth,
    groups_of,
    kept_groups,
    row_groups_of,
    types_of,
    widen,
    write_delta,
    write_iceberg,
)
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.scope import IS_WHOLE
from tests.soundness.delta_log import arrow_rows
from tests.soundness.pruning import Pruner
from tests.soundness.tables import Table, random_table
from tests.soundness.tight import profile_of
from tests.soundness.verdict import Verdict, complaint

TABLES = max(3, int(os.environ.get("LAKEPRUNE_SOUNDNESS_CASES", "30000" if IS_WHOLE else "1800")) // 600)
PER_TABLE = 30 if IS_WHOLE else 12
Write = Callable[[Table, Path, Random], None]


def _write_folders(table: Table, root: Path, rng: Random) -> None:
    for file in table.files:
        write_rows(arrow_rows(table, file), root / file.name, rng)


FORMATS: dict[str, tuple[Callable[[Random], Table], Write]] = {
    "parquet": (hive_table, _write_folders),
    "delta": (random_table, write_delta),
    "iceberg": (random_iceberg_table, write_iceberg),
}


@pytest.mark.parametrize("name", FORMATS)
def test_no_matching_row_group_is_dropped_and_no_full_one_has_another_row(tmp_path: Path, name: str) -> None:
    make, write = FORMATS[name]
    problems: list[str] = []
    drops = possible = 0
    for seed in range(TABLES):
        rng = Random(seed)
        table = make(rng)
        root = tmp_path / str(seed)
        write(table, root, rng)
        for spec in table.files:
            if rng.random() < 0.4:
                know_less(root / spec.name, texts_of(table), rng)
        pruner, truth = Pruner(root, profile_of(table)), GroupTruth(table, root)
        nodes = [say(random_predicate(table.columns, table.zone, rng)) for _ in range(PER_TABLE)]
        asked, plans = [], []
        for said in nodes:
            try:
                plans.append(pruner.plan(said.spark))
                asked.append(said)
            except LakepruneError as refusal:
                problems.append(f"seed {seed}: {said.spark}: refused: {refusal}")
        groups = row_groups_of(pruner._evaluation, plans)
        for number, (said, found, seen) in enumerate(
            zip(asked, groups.found(), truth.seen([said.duckdb for said in asked]), strict=True)
        ):
            numbers = attribute(found.plan, found.patterns)
            listed = 0
            for file in groups.listed(number):
                for group in file.row_groups:
                    listed += 1
                    verdict = Verdict.ASSUMED if group.signature.is_assumed else Verdict[group.signature.verdict.name]
                    drops += verdict is Verdict.DROP
                    if seen is None:
                        continue
                    outcome = seen[file.path, group.number]
                    possible += not outcome.true
                    if (problem := complaint(verdict, outcome)) is not None:
                        problems.append(f"seed {seed}: {said.spark}: {file.path} {group.number} {problem}")
                if (
                    file.lost is not None
                    and seen is not None
                    and any(outcome.true for (path, _), outcome in seen.items() if path == file.path)
                ):
                    problems.append(f"seed {seed}: {said.spark}: {file.path} lost, and a live row matches")
            assert listed == numbers.total.files
            assert sum(amount.files for amount in numbers.credits.values()) + numbers.kept.files == numbers.total.files
        truth.close()
    assert not problems, "\n".join(problems[:5])
    assert drops > possible / 4, "a soundness test that drops nothing proves nothing"


@pytest.mark.parametrize("change", ["less", "wider"])
@pytest.mark.parametrize("name", FORMATS)
def test_less_knowledge_never_drops_more_row_groups(tmp_path: Path, name: str, change: str) -> None:
    make, write = FORMATS[name]
    shrunk = 0
    for seed in range(TABLES):
        rng = Random(1000 + seed)
        table = make(rng)
        root, less = tmp_path / f"{seed}", tmp_path / f"{seed}-less"
        write(table, root, rng)
        shutil.copytree(root, less)
        for file in table.files:
            if change == "less":
                know_less(less / file.name, texts_of(table), rng)
            else:
                widen(less / file.name, types_of(table), rng)
        kept = []
        pruners = [Pruner(place, profile_of(table)) for place in (root, less)]
        texts = [say(random_predicate(table.columns, table.zone, rng)).spark for _ in range(PER_TABLE)]
        for pruner in pruners:
            groups = row_groups_of(pruner._evaluation, [pruner.plan(text) for text in texts])
            kept.append([kept_groups(groups, number) for number in range(len(texts))])
        for text, before, after in zip(texts, *kept, strict=True):
            assert before <= after, f"seed {seed}: {text}: {sorted(before - after)}"
            shrunk += len(after - before)
    assert shrunk, "nothing was forgotten that mattered"


@pytest.mark.parametrize("name", FORMATS)
def test_a_predicate_its_negation_and_its_null_cover_every_row_group(tmp_path: Path, name: str) -> None:
    """Ternary partitioning: each live row makes one of the three TRUE."""
    make, write = FORMATS[name]
    covered = 0
    for seed in range(2000, 2000 + TABLES // 3):
        rng = Random(seed)
        table = make(rng)
        root = tmp_path / str(seed)
        write(table, root, rng)
        pruner = Pruner(root, profile_of(table))
        texts = [say(random_predicate(table.columns, table.zone, rng)).spark for _ in range(PER_TABLE // 3)]
        asked = [asked for text in texts for asked in (text, f"NOT ({text})", f"({text}) IS NULL")]
        groups = row_groups_of(pruner._evaluation, [pruner.plan(each) for each in asked])
        live = {(path, number) for path, number, file in groups_of(table, root) if file.live}
        for place, text in enumerate(texts):
            left = set().union(*(kept_groups(groups, 3 * place + turn) for turn in range(3)))
            assert live <= left, f"seed {seed}: {text}: {sorted(live - left)}"
            covered += len(live)
    assert covered
