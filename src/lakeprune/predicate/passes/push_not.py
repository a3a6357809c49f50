"""NOT sinks to the leaves, where it turns a set into its complement. De Morgan holds in three-valued logic.

`NOT (x < 5 OR x > 9)` becomes `x BETWEEN 5 AND 9`. NaN follows the complement: `NOT (x < 5)` has it. An Either keeps its
order: what is certainly not inside becomes the outer side.
"""

from __future__ import annotations

from lakeprune.predicate import tree as t
from lakeprune.predicate.comparison import whole
from lakeprune.predicate.passes.rebuild import rebuild
from lakeprune.predicate.tree import Expr, Profile


def push_not(expr: Expr, _profile: Profile) -> Expr:
    return rebuild(expr, node=_pushed)


def _pushed(node: Expr) -> Expr:
    match node:
        case t.IsNull(part):
            return _null_of(part)
        case t.Not(part):
            return _negate(part)
        case _:
            return node


def _negate(part: Expr) -> Expr:
    match part:
        case t.Not(inside):
            return inside
        case t.Constant(truth):
            return t.Constant(None if truth is None else not truth)
        case t.Member(column, values):
            return t.Member(column, whole(values.complement(), column.type))
        case t.And(parts):
            return t.Or(tuple(_negate(inside) for inside in parts))
        case t.Or(parts):
            return t.And(tuple(_negate(inside) for inside in parts))
        case t.Either(outer, inner):
            return t.Either(_negate(inner), _negate(outer))
        case t.Exact(predicate, columns):
            return t.Exact(t.Not(predicate), columns)
        case _:
            return t.Not(part)


def _null_of(part: Expr) -> Expr:
    """IS NULL of a leaf in terms of its columns."""
    match part:
        case t.Constant(truth):
            return t.Constant(truth is None)
        case t.Member(column):
            return t.NullTest(column)
        case t.ColumnCompare(_, left, right):
            return t.Or((t.NullTest(left), t.NullTest(right)))
        case t.NullTest() | t.IsNull():
            return t.Constant(False)
        case t.Not(inside):
            return _null_of(inside)
        case t.Either(outer, inner):  # both sides are NULL on the same rows, unless one of them is a constant
            wide, narrow = _null_of(outer), _null_of(inner)
            return narrow if wide == narrow else t.Either(wide, narrow)
        case t.Exact(predicate, columns):
            return t.Exact(t.IsNull(predicate), columns)
        case _:
            return t.IsNull(part)
