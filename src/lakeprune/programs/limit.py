"""How few containers give a number of rows for certain.

In: the SQL of containers with their verdicts. Out: the SQL of those that a reader needs for its limit. Only live rows of fully
matched containers count: a reader that filters first and limits then must find its rows in what it is given, and of a container
that matches in part nobody knows how many rows are left. Containers count in the order of their paths, so that the same
question has the same answer every time. Where the limit is not reached for certain, every container is needed.

    limit 15 | fully matched a: 10 rows, c: 10 rows; in part b: 100 rows -> a, c
    limit 25 | the same                                                 -> a, b, c
"""

from __future__ import annotations

from lakeprune.formats.relation import LIVE

_BEFORE, _ALL = "certain_before", "certain_in_all"
CERTAIN = "certain_rows"  # no relation has columns of these names


def certain_rows(is_full: str) -> str:
    """SQL: the rows of a container that a limit can count on; `is_full` says whether it is fully matched."""
    return f"CASE WHEN {is_full} THEN coalesce({LIVE}, 0) ELSE 0 END"


def limited(source: str, rows: int) -> str:
    """A FROM item: those containers of another, which has `CERTAIN`, that a limit of so many rows needs."""
    before = f"sum({CERTAIN}) OVER (ORDER BY path ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    summed = f"SELECT *, coalesce({before}, 0) AS {_BEFORE}, sum({CERTAIN}) OVER () AS {_ALL} FROM {source}"
    needed = f"{_ALL} < {rows} OR ({CERTAIN} > 0 AND {_BEFORE} < {rows})"
    return f"(SELECT * FROM ({summed}) WHERE {rows} > 0 AND ({needed}))"
