"""The boolean skeleton of a predicate: AND, OR, NOT, IS NULL, IS TRUE above its leaves. Passes say what happens to leaves.

A leaf is a comparison, a match, a null test of a value, a boolean column or call: everything that is not itself built from
predicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lakeprune.predicate.tree import And, Call, Column, Either, Expr, IsNull, IsTruth, Literal, Not, Or


def map_leaves(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The same skeleton with every leaf changed."""
    match expr:
        case And(parts):
            return And(tuple(map_leaves(part, change) for part in parts))
        case Or(parts):
            return Or(tuple(map_leaves(part, change) for part in parts))
        case Not(part):
            return Not(map_leaves(part, change))
        case IsTruth(part, truth):
            return IsTruth(map_leaves(part, change), truth)
        case IsNull(part) if not isinstance(part, Column | Call | Literal):
            return IsNull(map_leaves(part, change))
        case Either(outer, inner):
            return Either(map_leaves(outer, change), map_leaves(inner, change))
        case _:
            return change(expr)


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """The parts of a (nested) AND; the expression itself when it is none."""
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
