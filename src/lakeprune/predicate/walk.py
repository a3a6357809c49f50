"""What a bound tree says about itself: the type of a node, its columns, its sub-trees. Never changes a tree."""

from __future__ import annotations

from collections.abc import Iterator

from lakeprune.predicate.functions.registry import result_type
from lakeprune.predicate.tree import (
    And,
    Call,
    Column,
    ColumnCompare,
    Compare,
    Either,
    Exact,
    Expr,
    In,
    IsNull,
    IsTruth,
    Like,
    Literal,
    Member,
    Name,
    Not,
    NullTest,
    Opaque,
    Or,
    Within,
)
from lakeprune.values.types import BOOLEAN, DataType


def type_of(expr: Expr) -> DataType | None:
    """The type of a bound value or predicate; None for a NULL literal and for calls nobody knows the type of."""
    match expr:
        case Column() | Literal():
            return expr.type
        case Call():
            return expr.type or result_type(expr.function, tuple(type_of(arg) for arg in expr.args))
        case Name() | Opaque():
            return None
        case _:
            return BOOLEAN


def children(expr: Expr) -> tuple[Expr, ...]:
    """The parts of a node; the constants of a list are not among them."""
    match expr:
        case And(parts) | Or(parts):
            return parts
        case Not(part) | IsNull(part) | IsTruth(part):
            return (part,)
        case Compare(_, left, right) | ColumnCompare(_, left, right):
            return (left, right)
        case In(value, options):
            return (value, *(option for option in options if not isinstance(option, Literal)))  # lists can be very long
        case Like(value, pattern):
            return (value, pattern)
        case Call(_, args):
            return args
        case Within(value):
            return (value,)
        case Member(column) | NullTest(column):
            return (column,)
        case Either(outer, inner):
            return (outer, inner)
        case Exact(_, columns):
            return columns
        case Opaque(_, _, columns):
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


def columns_of(expr: Expr) -> tuple[Column, ...]:
    """The columns an expression reads, once each, in order of appearance."""
    return tuple(dict.fromkeys(node for node in nodes(expr) if isinstance(node, Column)))
