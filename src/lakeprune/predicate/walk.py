"""What a bound tree says about itself: the type of a node, its columns, its sub-trees. Never changes a tree."""

from __future__ import annotations

from collections.abc import Iterator

from lakeprune.predicate import tree as t
from lakeprune.predicate.functions.registry import result_type
from lakeprune.predicate.tree import Expr
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
