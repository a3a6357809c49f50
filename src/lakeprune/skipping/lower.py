"""From a normalised predicate to its truth mask over statistics.

In: a `Lowerable` tree and how much is seen of each column. Out: a `Mask`. A leaf whose column is not seen is unknown: that is how
the ladder of evidence is climbed with one set of rules.
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
from lakeprune.skipping.ladder import View
from lakeprune.skipping.leaves.buckets import bucket_mask
from lakeprune.skipping.leaves.columns import column_compare_mask
from lakeprune.skipping.leaves.exact import exact_mask
from lakeprune.skipping.leaves.membership import membership_mask
from lakeprune.skipping.leaves.nulls import null_test_mask
from lakeprune.skipping.mask import (
    UNKNOWN,
    Mask,
    both,
    conjunction,
    constant,
    disjunction,
    either,
    is_not_false,
    is_null,
    is_true,
    negation,
)

EVERYTHING = View()


def lower(predicate: Expr, view: View = EVERYTHING) -> Mask:
    """The mask of a normalised predicate, using only what is seen of its columns."""
    match predicate:
        case Constant(truth):
            return constant(truth)
        case And(parts):
            return conjunction(_part_masks(parts, view, guard=lambda part: Not(_null_of(part)), settled=is_true))
        case Or(parts):
            return disjunction(_part_masks(parts, view, guard=_null_of, settled=is_not_false))
        case Not(part):
            return negation(lower(part, view))
        case IsNull(part):
            return is_null(lower(part, view))
        case Either(outer, inner):
            return either(lower(outer, view), lower(inner, view))
        case Opaque():
            return UNKNOWN
        case Member() | NullTest() | ColumnCompare() | Exact():
            return _leaf_mask(predicate, view)
        case _:
            raise AssertionError(f"{type(predicate).__name__} must not survive normalisation")


def _part_masks(
    parts: tuple[Expr, ...],
    view: View,
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
        return [lower(part, view) for part in parts]
    alone = [part for part in parts if part not in absorbed]
    return [settled(lower(p, view)) if p in guarded else lower(p, view) for p in alone]


def _null_of(part: Expr) -> Expr:
    return NullTest(part.column) if isinstance(part, Member) else IsNull(part)


def _leaf_mask(predicate: Member | NullTest | ColumnCompare | Exact, view: View) -> Mask:
    if isinstance(predicate, Member):
        return _member_mask(predicate, view)
    looked_at = [view.seen(column) for column in evidence_columns(predicate)]
    seen = [column for column in looked_at if column is not None]
    if len(seen) < len(looked_at):
        return UNKNOWN
    match predicate:
        case NullTest():
            return null_test_mask(seen, is_struct=bool(predicate.leaves))
        case ColumnCompare(op):
            return column_compare_mask(op, seen[0], seen[-1])
        case Exact() if view.evidence is not None and not all(column.is_exact for column in seen):
            return UNKNOWN  # of a range of values, nothing follows for an expression over them
        case Exact():
            return exact_mask(predicate)
        case _:
            assert_never(predicate)


def _member_mask(predicate: Member, view: View) -> Mask:
    seen = view.seen(predicate.column)
    by_values = UNKNOWN if seen is None else membership_mask(seen, predicate.values)
    by_buckets = [bucket_mask(predicate, bucketing, buckets) for bucketing, buckets in view.buckets(predicate.column)]
    return both(by_values, *by_buckets) if by_buckets else by_values


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
