"""Step 2: the files that metadata cannot exclude, as rows on the driver. Excluded files never leave the engine.

In: an opened table and the plan of a condition. Out: `Candidate`s by path, each FULL or UNDECIDED.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from lakeprune.apps.explain.explain import Job
from lakeprune.apps.statements.model import Candidate, Certainty
from lakeprune.engines.engine import EngineError, Needs
from lakeprune.skipping.plan import Plan


class Counting(Enum):
    """Whether the number of rows in a fully matching file has to be known."""

    NEEDED = "needed"  # a file that does not tell is read
    GIVEN_UP = "given_up"  # the writer takes whole files without looking, empty ones too


def find_candidates(job: Job, plan: Plan, counting: Counting) -> tuple[Candidate, ...]:
    """Every file that may hold a matching row."""
    evaluation = job.evaluation
    source, printer = evaluation.relation(plan, Needs(paths=True))

    def bits(name: str) -> list[str]:
        positions = dict.fromkeys(getattr(place, name) for place in plan.positions)
        return [printer.bit(plan.bits[position], 1) for position in positions]

    tests = [f"{bit} = 1" for bit in bits("can_true")]
    if counting is Counting.NEEDED:
        tests.append("(rows - deleted = 0) IS NOT TRUE")
    others = " + ".join(bits("not_true")) or "0"
    key = evaluation.snapshot.file_key(evaluation.engine, "path")
    picked = f"path, {key} AS file, size, rows - deleted AS live, CASE WHEN {others} = 0 THEN 1 ELSE 0 END AS is_full"
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    try:
        rows = evaluation.engine.query(f"SELECT {picked} FROM {source}{where} ORDER BY path")
    except EngineError as error:
        raise evaluation.snapshot.failure(error) from error
    evaluation.snapshot.check_whole()
    found = []
    for path, file, size, live, is_full in rows:
        is_known = live is not None or counting is Counting.GIVEN_UP
        certainty = Certainty.FULL if is_full and is_known else Certainty.UNDECIDED
        found.append(Candidate(path, file, int(size), None if live is None else int(live), certainty))
    return tuple(found)


def keys_of(job: Job, paths: Sequence[str]) -> dict[str, str]:
    """Paths or URLs of files as they are compared."""
    if not paths:
        return {}
    evaluation = job.evaluation
    with evaluation.engine.awake():
        given = evaluation.engine.lookup(["url"], ["STRING"], [(path,) for path in paths])
        rows = evaluation.engine.query(f"SELECT url, {evaluation.snapshot.file_key(evaluation.engine, 'url')} FROM {given}")
    return dict(rows)
