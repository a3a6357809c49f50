"""A fix that works when it is pasted: one that has a mistake left in it is mended on, as far as the next errors say how.

In: an error whose fix writes the predicate out, and what reads a predicate. Out: the same error with a fix that is accepted,
where there is one. A fix with a column that nobody wrote and the table does not have is taken back.
"""

from __future__ import annotations

from collections.abc import Callable

from lakeprune.errors import PredicateError

WRITE = "write: "
MOST_STEPS = 12  # mistakes of one predicate


def followed(error: PredicateError, text: str, accept: Callable[[str], object]) -> PredicateError:
    """The error about `text`, its fix with everything mended that `accept` complains about with a fix of its own."""
    said, mark, repaired = (error.fix or "").rpartition(WRITE)
    if not mark:
        return error
    for _ in range(MOST_STEPS):
        problem = _problem(repaired, accept)
        if problem is None:
            break
        more = (problem.fix or "").rpartition(WRITE)
        if not more[1] or more[2] == repaired:
            if problem.code == "LP102" and _is_new(problem, text):
                return PredicateError(error.code, error.what, where=error.where)
            break
        repaired = more[2]
    error.fix = f"{said}{WRITE}{repaired}"
    return error


def is_mended(error: PredicateError, accept: Callable[[str], object]) -> bool:
    """Whether the fix writes out a predicate that is accepted."""
    _, mark, repaired = (error.fix or "").rpartition(WRITE)
    return bool(mark) and _problem(repaired, accept) is None


def _problem(text: str, accept: Callable[[str], object]) -> PredicateError | None:
    try:
        accept(text)
    except PredicateError as problem:
        return problem
    return None


def _is_new(problem: PredicateError, text: str) -> bool:
    """Whether the unknown column is one that the fix made up, by its back-ticks."""
    _, _, name = problem.what.partition("column `")
    return f"`{name.partition('`')[0]}`" not in text and " " in name.partition("`")[0]
