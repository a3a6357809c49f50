"""From a normalised predicate to its truth mask over statistics.

In: a `Lowerable` tree and the columns whose evidence is allowed. Out: a `Mask`. A leaf whose column is not allowed is unknown:
that is how the ladder of evidence is climbed with one set of rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from lakeprune.predicate.tree import (
    And,
    Column,
    ColumnCompare,
    Constant,
    Either,
    Exact,
    Expr,
    IsNull,
    Member,
    Not,
    NullTest,
    Opaque,
    Or,
)
from lakeprune.predicate.walk import children, nodes
from lakeprune.skipping.leaves.columns import column_compare_mask
from lakeprune.skipping.leaves.exact import exact_mask
from lakeprune.skipping.leaves.membership import membership_mask
from lakeprune.skipping.leaves.nulls import null_test_mask
from lakeprune.skipping.mask import (
    UNKNOWN,
    Mask,
    conjunction,
    constant,
    disjunction,
    either,
    is_not_false,
    is_null,
    is_true,
    negation,
)

Allowed = Callable[[Column], bool]


def _every(_column: Column) -> bool:
    return True


def lower(predicate: Expr, allowed: Allowed = _every) -> Mask:
    """The mask of a normalised predicate, using only what is known about the allowed columns."""
    match predicate:
        case Constant(truth):
            return constant(truth)
        case And(parts):
            return conjunction(_part_masks(parts, allowed, guard=lambda part: Not(_null_of(part)), settled=is_true))
        case Or(parts):
            return disjunction(_part_masks(parts, allowed, guard=_null_of, settled=is_not_false))
        case Not(part):
            return negation(lower(part, allowed))
        case IsNull(part):
            return is_null(lower(part, allowed))
        case Either(outer, inner):
            return either(lower(outer, allowed), lower(inner, allowed))
        case Opaque():
            return UNKNOWN
        case Member() | NullTest() | ColumnCompare() | Exact():
            is_allowed = all(allowed(column) for column in evidence_columns(predicate))
            return _leaf_mask(predicate) if is_allowed else UNKNOWN
        case _:
            raise AssertionError(f"{type(predicate).__name__} must not survive normalisation")


def _part_masks(
    parts: tuple[Expr, ...],
    allowed: Allowed,
    *,
    guard: Callable[[Expr], Expr],
    settled: Callable[[Mask], Mask],
) -> list[Mask]:
    """The masks of the parts, where `p AND p IS NOT NULL` and `p OR p IS NULL` are one part that is never NULL.

    Apart, each of the two would forget that the other is about the same rows: `x <=> 5` (x = 5 AND x IS NOT NULL) would seem to
    be NULL on some row, and `NOT (x <=> 5)` could never be FULL.
    """
    guards = {part for part in parts if isinstance(part, NullTest | IsNull | Not)}
    guarded = {part for part in parts if guards and guard(part) in guards}
    absorbed = {guard(part) for part in guarded}
    if not guarded:
        return [lower(part, allowed) for part in parts]
    alone = [part for part in parts if part not in absorbed]
    return [settled(lower(p, allowed)) if p in guarded else lower(p, allowed) for p in alone]


def _null_of(part: Expr) -> Expr:
    return NullTest(part.column) if isinstance(part, Member) else IsNull(part)


def _leaf_mask(predicate: Member | NullTest | ColumnCompare | Exact) -> Mask:
    match predicate:
        case Member(column, values):
            return membership_mask(column, values)
        case NullTest():
            return null_test_mask(predicate)
        case ColumnCompare(op, left, right):
            return column_compare_mask(op, left, right)
        case Exact():
            return exact_mask(predicate)
        case _:
            assert_never(predicate)


def evidence_columns(predicate: Expr) -> tuple[Column, ...]:
    """The columns a normalised predicate draws evidence from, each once, in order; of a struct's null test, its leaves."""
    found: dict[Column, None] = {}
    for node in nodes(predicate):
        match node:
            case NullTest(column, leaves):
                found |= dict.fromkeys(leaves or (column,))
            case Member() | ColumnCompare() | Exact():
                found |= dict.fromkeys(child for child in children(node) if isinstance(child, Column))
    return tuple(found)
