"""Literals go to the right: `5 < x` becomes `x > 5`.

Safe because every operator has its mirror; `=`, `!=` and `<=>` are their own.
"""

from __future__ import annotations

from lakeprune.predicate.passes.rebuild import rebuild
from lakeprune.predicate.tree import Compare, Expr, Literal, Op, Profile

MIRROR = {Op.LT: Op.GT, Op.GT: Op.LT, Op.LE: Op.GE, Op.GE: Op.LE}


def orient(expr: Expr, _profile: Profile) -> Expr:
    return rebuild(expr, leaf=_orient_leaf)


def _orient_leaf(leaf: Expr) -> Expr:
    match leaf:
        case Compare(op, Literal() as left, right) if not isinstance(right, Literal):
            return Compare(MIRROR.get(op, op), right, left)
        case _:
            return leaf
