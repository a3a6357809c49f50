"""The boolean skeleton of a predicate: AND, OR, NOT, IS NULL, IS TRUE and Either above its leaves, rebuilt from below.

A leaf is a comparison, a match, a null test of a value, a boolean column or call: everything that is not itself built from
predicates. A pass states what happens to leaves, to nodes of the skeleton, or to both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lakeprune.predicate.tree import And, Call, Column, Either, Expr, IsNull, IsTruth, Literal, Not, Or

Change = Callable[[Expr], Expr]


def _unchanged(expr: Expr) -> Expr:
    return expr


def rebuild(expr: Expr, *, leaf: Change = _unchanged, node: Change = _unchanged) -> Expr:
    """The predicate with every leaf changed, then every node of the skeleton, parts before the whole."""
    match expr:
        case And(parts):
            return node(And(tuple([rebuild(part, leaf=leaf, node=node) for part in parts])))
        case Or(parts):
            return node(Or(tuple([rebuild(part, leaf=leaf, node=node) for part in parts])))
        case Not(part):
            return node(Not(rebuild(part, leaf=leaf, node=node)))
        case IsTruth(part, truth):
            return node(IsTruth(rebuild(part, leaf=leaf, node=node), truth))
        case IsNull(part) if not isinstance(part, Column | Call | Literal):
            return node(IsNull(rebuild(part, leaf=leaf, node=node)))
        case Either(outer, inner):
            return node(Either(rebuild(outer, leaf=leaf, node=node), rebuild(inner, leaf=leaf, node=node)))
        case _:
            return leaf(expr)


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """The parts of a (nested) AND; the expression itself when it is not one."""
    return tuple(_flat(expr, And))


def disjuncts(expr: Expr) -> tuple[Expr, ...]:
    return tuple(_flat(expr, Or))


def all_of(parts: Iterable[Expr]) -> Expr:
    """AND of the parts, without a node around a single one."""
    listed = tuple(parts)
    return listed[0] if len(listed) == 1 else And(listed)


def any_of(parts: Iterable[Expr]) -> Expr:
    listed = tuple(parts)
    return listed[0] if len(listed) == 1 else Or(listed)


def _flat(expr: Expr, node: type[And | Or]) -> Iterable[Expr]:
    stack = [expr]
    while stack:
        here = stack.pop()
        if isinstance(here, node):
            stack.extend(reversed(here.parts))
        else:
            yield here
