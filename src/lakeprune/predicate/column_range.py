"""Which values of one column a row can have when a predicate is TRUE: the range that is drawn over the files' ranges.

In: a normalised predicate and a column. Out: a set that holds every such value, or None when the predicate says nothing of the
column's values. Never too narrow: what is not understood allows everything.
"""

from __future__ import annotations

from lakeprune.predicate.tree import And, Column, Either, Expr, Member, Or
from lakeprune.values.intervals import IntervalSet


def column_range(predicate: Expr, column: Column) -> IntervalSet | None:
    """The values of `column` that the predicate allows, None for all of them.

    >>> from lakeprune.values.intervals import compare
    >>> from lakeprune.predicate.schema import Role
    >>> from lakeprune.values.types import INT
    >>> x, y = (Column((name,), (name,), INT, Role.DATA) for name in "xy")
    >>> above, below = (Member(x, compare(op, 5, INT)) for op in (">", "<"))
    >>> column_range(And((above, Member(y, compare("=", 1, INT)))), x).intervals
    (Interval(lo=6, hi=None, lo_open=False, hi_open=False),)
    >>> column_range(Or((above, Member(y, compare("=", 1, INT)))), x) is None
    True
    """
    match predicate:
        case Member(found, values):
            return values if found == column else None
        case And(parts):
            return both([column_range(part, column) for part in parts])
        case Or(parts):
            return _any_of([column_range(part, column) for part in parts])
        case Either(outer, inner):
            return _any_of([column_range(outer, column), column_range(inner, column)])
        case _:
            return None


def both(sets: list[IntervalSet | None]) -> IntervalSet | None:
    """What all of these allow; None where none of them says anything."""
    found: IntervalSet | None = None
    for values in sets:
        if values is not None:
            found = values if found is None else found.intersect(values)
    return found


def _any_of(sets: list[IntervalSet | None]) -> IntervalSet | None:
    found: IntervalSet | None = None
    for values in sets:
        if values is None:
            return None
        found = values if found is None else found.union(values)
    return found
