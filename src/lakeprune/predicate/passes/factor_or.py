"""What every branch of an OR demands is demanded once: `(d = 1 AND x > 5) OR (d = 1 AND y > 9)` is `d = 1 AND (x > 5 OR y > 9)`.

Safe: AND distributes over OR in three-valued logic, and absorption holds (`a OR (a AND b)` is `a`). Nothing is multiplied out.
"""

from __future__ import annotations

from lakeprune.predicate.passes.rebuild import all_of, any_of, conjuncts, disjuncts, rebuild
from lakeprune.predicate.tree import And, Expr, Or, Profile


def factor_or(expr: Expr, _profile: Profile) -> Expr:
    return rebuild(expr, node=_factored)


def _factored(node: Expr) -> Expr:
    if isinstance(node, And):
        return all_of(conjuncts(node))
    return factor(node) if isinstance(node, Or) else node


def factor(expr: Or) -> Expr:
    """The OR with the conjuncts common to all its branches taken out in front."""
    branches = [conjuncts(branch) for branch in disjuncts(expr)]
    shared = set(branches[0])
    for branch in branches[1:]:
        shared.intersection_update(branch)
        if not shared:
            return any_of(disjuncts(expr))
    common = [part for part in dict.fromkeys(branches[0]) if part in shared]
    rests = [[part for part in branch if part not in shared] for branch in branches]
    if any(not rest for rest in rests):
        return all_of(common)
    return all_of([*common, any_of(all_of(rest) for rest in rests)])
