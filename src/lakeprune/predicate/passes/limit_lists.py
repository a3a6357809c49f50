"""Very long lists become short: beyond MAX_INTERVALS a set is merged across its smallest gaps.

The merged set contains the true one, which contains the first intervals: an Either of both is sound for dropping and for full
matches alike. The clause says so with LIST_MERGED.
"""

from __future__ import annotations

from lakeprune.predicate.passes.rebuild import rebuild
from lakeprune.predicate.tree import Either, Expr, Member, Profile

MAX_INTERVALS = 256


def limit_lists(expr: Expr, _profile: Profile) -> Expr:
    return rebuild(expr, leaf=_limit)


def is_merged_list(expr: Expr) -> bool:
    match expr:
        case Either(Member(), Member(values=inner)):
            return len(inner.intervals) == MAX_INTERVALS
        case _:
            return False


def _limit(leaf: Expr) -> Expr:
    if not isinstance(leaf, Member) or len(leaf.values.intervals) <= MAX_INTERVALS:
        return leaf
    merged, first = leaf.values.merged_to(MAX_INTERVALS), leaf.values.first(MAX_INTERVALS)
    return Either(Member(leaf.column, merged), Member(leaf.column, first))
