"""One table, many predicates: every verdict against the truth, and the laws that hold between verdicts.

A case is one (table, predicate) pair. The laws need no oracle: P, NOT P and P IS NULL together keep every file that has rows,
the order of operands changes nothing, and knowing less never drops more.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from lakeprune.errors import LakepruneError
from lakeprune.skipping.plan import Plan
from tests.generator.nodes import Negation, Node, Said, Test, say, shuffled
from tests.generator.predicates import random_predicate
from tests.generator.values import FLOATS
from tests.soundness.delta_log import write_log, write_table
from tests.soundness.pruning import Pruner
from tests.soundness.recorded import random_recorded_table
from tests.soundness.tables import FileSpec, Table
from tests.soundness.tight import Tight, profile_of
from tests.soundness.truth import Seen, Truth
from tests.soundness.verdict import Verdict, complaint

PER_TABLE = 120  # predicates per table


@dataclass
class Tally:
    """What a run has done so far."""

    cases: int = 0
    undecided: int = 0  # predicates that DuckDB could not evaluate
    drops: int = 0
    possible_drops: int = 0
    assumed_drops: int = 0
    false_assumptions: int = 0  # assumed drops of files that hide a NaN which matches
    violations: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Asked:
    """A predicate, its plan, and what the rows of every file say (None: DuckDB cannot evaluate it)."""

    node: Node
    plan: Plan
    seen: list[Seen] | None


@dataclass(frozen=True)
class Scene:
    """A table written down, and what is needed to report a violation on it."""

    seed: int
    table: Table
    root: Path


def check_seed(seed: int, tally: Tally, count: int = PER_TABLE) -> None:
    """All checks on the table and the predicates of this seed; violations are added to the tally."""
    rng = Random(seed)
    table = random_recorded_table(rng)
    nodes = [random_predicate(table.columns, table.zone, rng) for _ in range(count)]
    # Few predicates ask for the upper end of a float column, where a NaN may hide: these do.
    floats = tuple(column for column in table.data_columns if column.type in FLOATS)
    nodes += [random_predicate(floats, table.zone, rng) for _ in range(count // 3)] if floats else []
    with _written(table) as root:
        scene = Scene(seed, table, root)
        asked = _asked(scene, nodes, tally)
        pruner = Pruner(root, profile_of(table))
        verdicts = pruner.verdicts([one.plan for one in asked])
        _check_truth(scene, asked, verdicts, tally)
        _check_tight(scene, asked[:: max(1, count // 15)], tally)
        _check_variants(scene, pruner, asked[: count // 4], verdicts, rng, tally)
        _check_degraded(scene, asked, verdicts, rng, tally)
        if not table.nan_aware:
            check_assumptions(scene, pruner, asked[::-1][: count // 2], verdicts[::-1][: count // 2], tally)
        _check_listing(scene, pruner, rng.choice(list(zip(asked, verdicts, strict=True))), tally)


def report(scene: Scene, said: Said, file: int | None, what: str) -> str:
    """A violation with what is needed to see it again."""
    lines = [f"seed {scene.seed}: {what}", f"  spark:  {said.spark}", f"  duckdb: {said.duckdb}"]
    table = scene.table
    session = f"zone {table.zone} given={table.zone_is_given}, nan aware={table.nan_aware}"
    lines.append(f"  table:  {table.layout}, {session}, mapped={table.mapped}")
    if file is not None:
        spec = table.files[file]
        for column in table.columns:
            if column.spark in said.spark or column.path[0] in said.spark:
                held = spec.partition[column] if column.is_partition else [spec.rows[i][column.path] for i in spec.live]
                lines.append(f"  column: {column.spark} {column.type} {held}")
        lines.append(f"  file:   {spec.name} written by {spec.statistics.writer.value}, {spec.statistics.text()}")
    return "\n".join(lines)


@contextmanager
def _written(table: Table) -> Iterator[Path]:
    folder = Path(mkdtemp(prefix="lakeprune-soundness-"))
    try:
        write_table(table, folder / "table")
        yield folder / "table"
    finally:
        shutil.rmtree(folder)


def _asked(scene: Scene, nodes: Sequence[Node], tally: Tally) -> list[Asked]:
    """The predicates that have a plan, with the truth about them; lakeprune must accept every one."""
    pruner = Pruner(scene.root, profile_of(scene.table))
    truth = Truth(scene.table, scene.root)
    asked = []
    for node, seen in zip(nodes, truth.seen([say(node).duckdb for node in nodes]), strict=True):
        tally.undecided += seen is None
        try:
            asked.append(Asked(node, pruner.plan(say(node).spark), seen))
        except LakepruneError as problem:
            tally.violations.append(report(scene, say(node), None, f"refused: {problem}"))
    truth.close()
    return asked


def _check_truth(scene: Scene, asked: Sequence[Asked], verdicts: Sequence[list[Verdict]], tally: Tally) -> None:
    for one, found in zip(asked, verdicts, strict=True):
        tally.cases += 1
        _compare(scene, one, found, tally)


def _check_tight(scene: Scene, asked: Sequence[Asked], tally: Tally) -> None:
    tight = Tight(scene.table)
    for one in asked:
        _compare(scene, one, tight.verdicts(say(one.node).spark), tally)


def _compare(scene: Scene, asked: Asked, verdicts: Sequence[Verdict], tally: Tally) -> None:
    if asked.seen is None:
        return
    for file, (verdict, outcome) in enumerate(zip(verdicts, asked.seen, strict=True)):
        tally.drops += verdict is Verdict.DROP
        tally.possible_drops += not outcome.true
        problem = complaint(verdict, outcome)
        if problem is not None:
            tally.violations.append(report(scene, say(asked.node), file, problem))


def _check_variants(
    scene: Scene, pruner: Pruner, asked: Sequence[Asked], verdicts: Sequence[list[Verdict]], rng: Random, tally: Tally
) -> None:
    """NOT P, P IS NULL and P in another order: each against its own truth, and all three against P."""
    variants = [v for one in asked for v in _variants(pruner, one, rng)]
    found = pruner.verdicts([variant.plan for variant in variants])
    _check_truth(scene, variants, found, tally)
    for i, one in enumerate(asked):
        opposite, unknown, moved = found[3 * i : 3 * i + 3]
        for file, spec in enumerate(scene.table.files):
            if spec.live and {verdicts[i][file], opposite[file], unknown[file]} == {Verdict.DROP}:
                tally.violations.append(report(scene, say(one.node), file, "P, NOT P and P IS NULL all drop a file with rows"))
        if moved != verdicts[i]:
            what = f"another order of operands changes the verdicts: {say(variants[3 * i + 2].node).spark}"
            tally.violations.append(report(scene, say(one.node), None, what))


def _variants(pruner: Pruner, asked: Asked, rng: Random) -> list[Asked]:
    seen = asked.seen
    opposite = None if seen is None else [Seen(s.false, s.true, s.null) for s in seen]
    unknown = None if seen is None else [Seen(s.null, s.true or s.false, False) for s in seen]
    made: list[tuple[Node, list[Seen] | None]] = [
        (Negation(asked.node), opposite),
        (Test(asked.node, "IS NULL"), unknown),
        (shuffled(asked.node, rng), seen),
    ]
    return [Asked(node, pruner.plan(say(node).spark), truth) for node, truth in made]


def _check_degraded(scene: Scene, asked: Sequence[Asked], verdicts: Sequence[list[Verdict]], rng: Random, tally: Tally) -> None:
    """The same rows with poorer statistics: still sound, and knowing less never drops more and never proves more."""
    poorer = Scene(scene.seed, scene.table.degraded(rng), scene.root.parent / "poorer")
    (poorer.root / "_delta_log").mkdir(parents=True)
    write_log(poorer.table, poorer.root / "_delta_log")
    found = Pruner(poorer.root, profile_of(poorer.table)).verdicts([one.plan for one in asked])
    _check_truth(poorer, asked, found, tally)
    for one, before, after in zip(asked, verdicts, found, strict=True):
        for file, (rich, poor) in enumerate(zip(before, after, strict=True)):
            # A file without rows is DROP only while its row count is known; FULL is then vacuously right.
            allowed = {Verdict.DROP: {Verdict.DROP}, Verdict.FULL: {Verdict.FULL, Verdict.DROP}}.get(poor, set(Verdict))
            if rich not in allowed:
                what = f"knowing less turned {rich.value} into {poor.value}: {poorer.table.files[file].statistics.text()}"
                tally.violations.append(report(scene, say(one.node), file, what))


def check_assumptions(
    scene: Scene, pruner: Pruner, asked: Sequence[Asked], strict: Sequence[list[Verdict]], tally: Tally
) -> None:
    """Under the assumption that no NaN is hidden: whatever differs from the strict verdict is marked, and wrong only by a NaN."""
    plans = [pruner.assuming(one.plan) for one in asked]
    for one, plan, before, after in zip(asked, plans, strict, pruner.verdicts(plans), strict=True):
        doubted = {column.path for place in plan.positions for column in place.assumed_columns}
        for file, (proven, found) in enumerate(zip(before, after, strict=True)):
            matches = one.seen is not None and one.seen[file].true
            tally.assumed_drops += found is Verdict.ASSUMED
            tally.false_assumptions += found is Verdict.ASSUMED and matches
            if found is not proven and (found is not Verdict.ASSUMED or proven is not Verdict.KEEP):
                what = f"the assumption turned {proven.value} into {found.value} without a mark"
            elif found is Verdict.ASSUMED and matches and not _holds_nan(scene.table.files[file], doubted):
                what = f"dropped on the assumption of no NaN in {sorted(doubted)}, which is true, but a live row matches"
            else:
                continue
            tally.violations.append(report(scene, say(one.node), file, what))


def _holds_nan(file: FileSpec, paths: Collection[tuple[str, ...]]) -> bool:
    values = (file.rows[i].get(path) for i in file.live for path in paths)
    return any(isinstance(value, float) and math.isnan(value) for value in values)


def _check_listing(scene: Scene, pruner: Pruner, judged: tuple[Asked, list[Verdict]], tally: Tally) -> None:
    asked, verdicts = judged
    listed = pruner.listed(asked.plan)
    if [listed[file.name] for file in scene.table.files] != verdicts:
        tally.violations.append(report(scene, say(asked.node), None, "a listing and the patterns disagree"))
