"""Step 2: the files that metadata keeps, as rows on the driver. Dropped files never leave the engine.

In: a planner and a question. Out: `Candidate`s by path, each FULL or UNDECIDED.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from lakeprune.apps.statements.model import Candidate, Certainty
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.programs.select import KEPT, Fields


class Decides(Enum):
    """Which fully matched files need not be read."""

    COUNTED = "counted"  # those whose number of rows the log records
    WHOLE = "whole"  # all: the writer takes them without looking, empty ones too
    NOTHING = "nothing"  # none: other rows decide as well


def find_candidates(planner: Planner, question: Question, decides: Decides) -> tuple[Candidate, ...]:
    """Every file that may have a matching row."""
    found = []
    for file in planner.select(question, KEPT, Fields(key=True, bounds=False), with_empty=decides is Decides.WHOLE):
        is_known = decides is Decides.WHOLE or (decides is Decides.COUNTED and file.live is not None)
        is_full = is_known and not any(outcome.not_true for outcome in file.signature.outcomes)
        assert file.key is not None, "it was asked for"
        certainty = Certainty.FULL if is_full else Certainty.UNDECIDED
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
