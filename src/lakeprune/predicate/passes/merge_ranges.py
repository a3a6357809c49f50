"""Sets on one column meet inside AND and join inside OR; constants vanish; duplicates go.

`x > 5 AND x < 3` becomes the empty set, `x >= 1 AND x <= 9` a bounded one without NaN, `coalesce(x, 0) = 0` ends as
`x = 0 OR x IS NULL`. Safe because a Member is NULL exactly where its column is. TRUE leaves an AND, FALSE decides it; NULL
stays (`NULL AND FALSE` is FALSE, `NULL AND TRUE` is NULL).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

from lakeprune.predicate.comparison import whole
from lakeprune.predicate.passes.rebuild import all_of, any_of, conjuncts, disjuncts, rebuild
from lakeprune.predicate.tree import And, Column, Constant, Either, Expr, IsNull, Member, Not, NullTest, Or, Profile
from lakeprune.values.intervals import IntervalSet, from_intervals
from lakeprune.values.types import DataType


def merge_ranges(expr: Expr, _profile: Profile) -> Expr:
    return rebuild(expr, node=_merged)


def _merged(node: Expr) -> Expr:
    match node:
        case And():
            return _decide(_merge(conjuncts(node), _meet), neutral=True, build=all_of)
        case Or():
            return _decide(_merge(_without_repeated_null_tests(disjuncts(node)), _join), neutral=False, build=any_of)
        case IsNull(Constant(truth)):
            return Constant(truth is None)
        case Either(outer, inner) if outer == inner:
            return outer
        case _:
            return node


def _without_repeated_null_tests(branches: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """`x IS NULL OR (x IS NOT NULL AND p)` is `x IS NULL OR p`: a null test is never NULL itself."""
    implied = {Not(branch) for branch in branches if isinstance(branch, NullTest)}
    if not implied:
        return branches
    kept = [[part for part in conjuncts(branch) if part not in implied] for branch in branches]
    return tuple(all_of(parts) if parts else Constant(True) for parts in kept)


def _merge(parts: Iterable[Expr], meet: Callable[[list[IntervalSet], DataType], IntervalSet]) -> list[Expr]:
    """The parts, once each, with the sets of one column combined where the first of them stood."""
    sets: dict[Column, list[IntervalSet]] = {}
    slots: dict[Expr, None] = {}
    for part in parts:
        if isinstance(part, Member):
            sets.setdefault(part.column, []).append(part.values)
            slots[part.column] = None
        else:
            slots[part] = None
    return [Member(slot, whole(meet(sets[slot], slot.type), slot.type)) if isinstance(slot, Column) else slot for slot in slots]


def _meet(sets: list[IntervalSet], _type: DataType) -> IntervalSet:
    return reduce(IntervalSet.intersect, sets)


def _join(sets: list[IntervalSet], type_: DataType) -> IntervalSet:
    """All at once, so that an OR of 100,000 equalities is sorted one time."""
    if len(sets) == 1:
        return sets[0]
    intervals = [interval for found in sets for interval in found.intervals]
    return from_intervals(intervals, type_, nan=any(found.nan for found in sets))


def _decide(parts: list[Expr], *, neutral: bool, build: Callable[[Iterable[Expr]], Expr]) -> Expr:
    if Constant(not neutral) in parts:
        return Constant(not neutral)
    kept = [part for part in parts if part != Constant(neutral)]
    return build(kept) if kept else Constant(neutral)
