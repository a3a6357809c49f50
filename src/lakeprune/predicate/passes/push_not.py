"""NOT sinks to the leaves, where it turns a set into its complement. De Morgan holds in three-valued logic.

`NOT (x < 5 OR x > 9)` becomes `x BETWEEN 5 AND 9`. NaN follows the complement: `NOT (x < 5)` has it. An Either keeps its
order: what is certainly not inside becomes the outer side.
"""

from __future__ import annotations

from lakeprune.predicate.comparison import whole
from lakeprune.predicate.passes.rebuild import rebuild
from lakeprune.predicate.tree import (
    And,
    ColumnCompare,
    Constant,
    Either,
    Exact,
    Expr,
    IsNull,
    Member,
    Not,
    NullTest,
    Or,
    Profile,
)


def push_not(expr: Expr, _profile: Profile) -> Expr:
    return rebuild(expr, node=_pushed)


def _pushed(node: Expr) -> Expr:
    match node:
        case IsNull(part):
            return _null_of(part)
        case Not(part):
            return _negate(part)
        case _:
            return node


def _negate(part: Expr) -> Expr:
    match part:
        case Not(inside):
            return inside
        case Constant(truth):
            return Constant(None if truth is None else not truth)
        case Member(column, values):
            return Member(column, whole(values.complement(), column.type))
        case And(parts):
            return Or(tuple(_negate(inside) for inside in parts))
        case Or(parts):
            return And(tuple(_negate(inside) for inside in parts))
        case Either(outer, inner):
            return Either(_negate(inner), _negate(outer))
        case Exact(predicate, columns):
            return Exact(Not(predicate), columns)
        case _:
            return Not(part)


def _null_of(part: Expr) -> Expr:
    """IS NULL of a leaf in terms of its columns."""
    match part:
        case Constant(truth):
            return Constant(truth is None)
        case Member(column):
            return NullTest(column)
        case ColumnCompare(_, left, right):
            return Or((NullTest(left), NullTest(right)))
        case NullTest() | IsNull():
            return Constant(False)
        case Not(inside):
            return _null_of(inside)
        case Either(outer, inner):  # both sides are NULL on the same rows, unless one of them is a constant
            wide, narrow = _null_of(outer), _null_of(inner)
            return narrow if wide == narrow else Either(wide, narrow)
        case Exact(predicate, columns):
            return Exact(IsNull(predicate), columns)
        case _:
            return IsNull(part)
