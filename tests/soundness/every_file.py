"""Random tables of a format and random predicates: the verdict of every file against what its rows say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

from lakeprune.errors import LakepruneError
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.soundness.pruning import Pruner
from tests.soundness.tables import Table
from tests.soundness.tight import profile_of
from tests.soundness.truth import Truth
from tests.soundness.verdict import Verdict, complaint

PER_TABLE = 40


def check_every_file(
    root: Path, seeds: Iterable[int], make: Callable[[Random], Table], write: Callable[[Table, Path, Random], None]
) -> None:
    problems, drops, possible = [], 0, 0
    for seed in seeds:
        rng = Random(seed)
        table = make(rng)
        place = root / str(seed)
        write(table, place, rng)
        nodes = [say(random_predicate(table.columns, table.zone, rng)) for _ in range(PER_TABLE)]
        pruner, truth = Pruner(place, profile_of(table)), Truth(table, place)
        for said, seen in zip(nodes, truth.seen([node.duckdb for node in nodes]), strict=True):
            try:
                found = pruner.listed(pruner.plan(said.spark))
            except LakepruneError as refusal:
                problems.append(f"seed {seed}: {said.spark}: refused: {refusal}")
                continue
            for file, outcome in zip(table.files, seen or [], strict=seen is not None):
                drops += found[file.name] is Verdict.DROP
                possible += not outcome.true
                if (problem := complaint(found[file.name], outcome)) is not None:
                    problems.append(f"seed {seed}: {said.spark}: {file.name} {problem}")
        truth.close()
    assert not problems, "\n".join(problems[:5])
    assert drops > possible / 2, "a soundness test that drops nothing proves nothing"
