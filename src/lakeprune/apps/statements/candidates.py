"""Step 2: the files that metadata cannot exclude, as rows on the driver. Excluded files never leave the engine.

In: an opened table and the plan of a condition. Out: `Candidate`s by path, each FULL or UNDECIDED.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from lakeprune.apps.statements.model import Candidate, Certainty
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.programs.select import KEPT, Fields


class Counting(Enum):
    """Whether the number of rows in a fully matching file has to be known."""

    NEEDED = "needed"  # a file that does not tell is read
    GIVEN_UP = "given_up"  # the writer takes whole files without looking, empty ones too


def find_candidates(planner: Planner, question: Question, counting: Counting) -> tuple[Candidate, ...]:
    """Every file that may hold a matching row."""
    with_empty = counting is Counting.GIVEN_UP
    found = []
    for file in planner.select(question, KEPT, Fields(key=True, bounds=False), with_empty=with_empty):
        is_known = file.live is not None or counting is Counting.GIVEN_UP
        is_full = not any(outcome.not_true for outcome in file.signature.outcomes)
        certainty = Certainty.FULL if is_full and is_known else Certainty.UNDECIDED
        assert file.key is not None, "it was asked for"
        found.append(Candidate(file.path, file.key, file.size, file.live, certainty))
    return tuple(found)


def keys_of(planner: Planner, paths: Sequence[str]) -> dict[str, str]:
    """Paths or URLs of files as they are compared."""
    if not paths:
        return {}
    engine = planner.engine
    with engine.awake():
        given = engine.lookup(["url"], ["STRING"], [(path,) for path in paths])
        rows = engine.query(f"SELECT url, {planner.snapshot.file_key(engine, 'url')} FROM {given}")
    return dict(rows)
