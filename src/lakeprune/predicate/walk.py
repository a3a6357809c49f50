"""What a bound tree says about itself: the type of a node, its columns, its parts, the values it allows. Never changes a tree."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from lakeprune.predicate import tree as t
from lakeprune.predicate.functions.registry import result_type
from lakeprune.predicate.tree import Expr
from lakeprune.values.intervals import IntervalSet
from lakeprune.values.types import BOOLEAN, DataType


def type_of(expr: Expr) -> DataType | None:
    """The type of a bound value or predicate; None for a NULL literal and for calls nobody knows the type of."""
    match expr:
        case t.Column() | t.Literal():
            return expr.type
        case t.Call():
            return expr.type or result_type(expr.function, tuple(type_of(arg) for arg in expr.args))
        case t.Name() | t.Opaque():
            return None
        case _:
            return BOOLEAN


def children(expr: Expr) -> tuple[Expr, ...]:
    """The parts of a node; the constants of a list are not among them."""
    match expr:
        case t.And(parts) | t.Or(parts):
            return parts
        case t.Not(part) | t.IsNull(part) | t.IsTruth(part):
            return (part,)
        case t.Compare(_, left, right) | t.ColumnCompare(_, left, right):
            return (left, right)
        case t.In(value, options):
            return (value, *(option for option in options if not isinstance(option, t.Literal)))  # lists can be very long
        case t.Like(value, pattern):
            return (value, pattern)
        case t.Call(_, args):
            return args
        case t.Within(value):
            return (value,)
        case t.Member(column) | t.NullTest(column):
            return (column,)
        case t.Either(outer, inner):
            return (outer, inner)
        case t.Exact(_, columns):
            return columns
        case t.Opaque(_, _, columns):
            return columns
        case _:
            return ()


def nodes(expr: Expr) -> Iterator[Expr]:
    """Every node, parents first, left to right; without recursion, because predicates can be very deep."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def columns_of(expr: Expr) -> tuple[t.Column, ...]:
    """The columns an expression reads, once each, in order of appearance."""
    return tuple(dict.fromkeys(node for node in nodes(expr) if isinstance(node, t.Column)))


def column_range(predicate: Expr, column: t.Column) -> IntervalSet | None:
    """A set with every value that `column` can have where the predicate is TRUE; None when it says nothing of the column.

    >>> from lakeprune.values.intervals import compare
    >>> from lakeprune.predicate.schema import Role
    >>> from lakeprune.values.types import INT
    >>> x, y = (t.Column((name,), (name,), INT, Role.DATA) for name in "xy")
    >>> above, equal = t.Member(x, compare(">", 5, INT)), t.Member(y, compare("=", 1, INT))
    >>> column_range(t.And((above, equal)), x).intervals
    (Interval(lo=6, hi=None, lo_open=False, hi_open=False),)
    >>> column_range(t.Or((above, equal)), x) is None
    True
    """
    match predicate:
        case t.Member(found, values):
            return values if found == column else None
        case t.And(parts):
            return both([column_range(part, column) for part in parts])
        case t.Or() | t.Either():
            known = [allowed for part in children(predicate) if (allowed := column_range(part, column)) is not None]
            return reduce(IntervalSet.union, known) if known and len(known) == len(children(predicate)) else None
        case _:
            return None


def both(sets: list[IntervalSet | None]) -> IntervalSet | None:
    """What all of these allow; None where none of them says anything."""
    known = [values for values in sets if values is not None]
    return reduce(IntervalSet.intersect, known) if known else None
