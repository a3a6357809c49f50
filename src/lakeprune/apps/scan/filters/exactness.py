"""What stands in the way of applying a normalised predicate to rows outside Spark.

In: a normalised tree. Out: nothing, or `NotExact` with the reason. A filter that is applied to rows must have Spark's truth on
every row: a part of which only a range of truths is known (`Opaque`, `Either`) is never guessed.
"""

from __future__ import annotations

from lakeprune.predicate import tree as t
from lakeprune.predicate.tree import Expr
from lakeprune.predicate.walk import nodes


class NotExact(Exception):
    """Why a predicate cannot be applied to rows here with exactly Spark's meaning."""


def why_not_exact(predicate: Expr) -> str | None:
    """The first reason in the tree; None when every node has one meaning.

    >>> why_not_exact(t.And((t.TRUE, t.Either(t.TRUE, t.FALSE))))
    'engines disagree about the truth of a part of it, or its list is too long to be kept whole'
    """
    for node in nodes(predicate):
        match node:
            case t.Opaque(text, reason):
                return f"`{text}`: {reason.message}"
            case t.Either():
                return "engines disagree about the truth of a part of it, or its list is too long to be kept whole"
            case t.Member(column) if column.has_nanoseconds:
                return f"{'.'.join(column.path)} has nanoseconds, of which lakeprune knows the microseconds"
            case t.ColumnCompare(_, left, right) if left.has_nanoseconds or right.has_nanoseconds:
                return "a column of it has nanoseconds, of which lakeprune knows the microseconds"
            case _:
                continue
    return None
