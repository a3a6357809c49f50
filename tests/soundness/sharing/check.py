"""The property: what a client finds in the files of a hinted answer is what it finds in all files, with any limit.

The judge is DuckDB over the rows. A violation is a sentence.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from lakeprune.apps.sharing.hints.ask import Hinted, ask_hints
from lakeprune.apps.sharing.server.config import SharedTable
from lakeprune.apps.sharing.server.tables import Tables
from lakeprune.planning.planner import Planner
from lakeprune.programs.select import KEPT, Fields, Selection, select
from lakeprune.skipping.verdict import Verdict
from tests.apps.sharing.hinting import planner_of
from tests.soundness.sharing.hints import Hinting, random_json, random_sql
from tests.soundness.sharing.tables import Table, random_table

PER_TABLE = 40


@dataclass
class HintTally:
    cases: int = 0
    drops: int = 0
    possible_drops: int = 0
    proven: int = 0
    ignored: int = 0
    limited: int = 0  # where a limit was reached in fewer files than hints keep
    violations: list[str] = field(default_factory=list)


def check_tables(seed: int, cases: int, most: int = 20) -> HintTally:
    """At least so many cases, from this seed on; ends early with so many violations."""
    total = HintTally()
    while total.cases < cases and len(total.violations) < most:
        with tempfile.TemporaryDirectory() as root:
            random = Random(seed)
            table = random_table(random, Path(root) / "t")
            with _planner(table.path, served=seed % 2 == 1) as planner:
                for _ in range(PER_TABLE):
                    _check(random, table, planner, total, seed)
                    if len(total.violations) >= most:
                        break
            table.rows.close()
        seed += 1
    return total


@contextmanager
def _planner(path: Path, *, served: bool) -> Iterator[Planner]:
    """A planner over the table; with `served` the one that the server asks, which keeps relations from question to question."""
    if not served:
        planner = planner_of(path)
        with planner.engine.awake():
            yield planner
        return
    tables = Tables()
    try:
        opened = tables.latest(SharedTable("s", "s", "t", str(path)))
        assert opened.is_cheap
        with opened.planner() as planner:
            yield planner
        del opened
    finally:
        tables.close()


def _check(random: Random, table: Table, planner: Planner, total: HintTally, seed: int) -> None:
    sql = [random_sql(random) for _ in range(random.choice([0, 0, 1, 2]))]
    hint = random_json(random) if not sql or random.random() < 0.5 else None
    parts = [*sql, *([] if hint is None else [hint])]
    condition = " AND ".join(f"({part.condition})" for part in parts)
    text = None if hint is None else json.dumps(hint.hint)
    hinted = ask_hints(planner, [part.hint for part in sql], text)
    kept, full = set(), set()
    for container in planner.select(hinted.question, (Verdict.KEEP, Verdict.FULL)):
        number = table.files.index(container.path)
        kept.add(number)
        if container.signature.verdict is Verdict.FULL:
            full.add(number)
    matches = dict(table.rows.execute(f"SELECT file, count(*) FROM rows WHERE {condition} GROUP BY file").fetchall())
    total.cases += 1
    total.drops += len(table.files) - len(kept)
    total.possible_drops += len(table.files) - len(matches)
    total.proven += len(full)
    total.ignored += not hinted.is_whole
    what = f"seed {seed}: {_shown(parts)}"
    if lost := sorted(set(matches) - kept):
        total.violations.append(f"{what} drops files {lost} with matching rows")
    if partial := sorted(number for number in full if matches.get(number, 0) != table.live[number]):
        total.violations.append(f"{what} calls files {partial} fully matched")
    limit = random.randint(0, 12)
    if total.cases % 2:
        return  # a limit costs a question of its own
    offered = _offered(planner, hinted, limit, table.files)
    rows = sum(matches.get(number, 0) for number in offered)
    if min(limit, rows) != min(limit, sum(matches.values())):
        total.violations.append(f"{what} with limit {limit} finds {rows} rows in {offered}")
    total.limited += len(offered) < len(kept) and 0 < limit <= rows


def _offered(planner: Planner, hinted: Hinted, limit: int, files: list[str]) -> list[int]:
    """The files that the server offers for a limit, by its own selection."""
    selection = Selection(KEPT, with_empty=hinted.question.condition is None, rows=limit if hinted.is_whole else None)
    chosen = select(planner.evaluation, hinted.question.plan, selection, Fields(bounds=False, records=True))
    return [files.index(container.path) for container in chosen]


def _shown(parts: list[Hinting]) -> str:
    return " & ".join(f"{part.hint} [{part.condition}]" for part in parts)
