"""A leaf over partition columns only, other than `column op literal`, is kept as written and evaluated on the values.

`year(d) = 2024`, `lower(country) = 'de'`, `p LIKE '%x%'`, `p1 < p2` become Exact. Safe because a partition value is the
column's value on every row of its files, and evaluation is exact or says that it has no answer. What lakeprune cannot evaluate
stays opaque, but says so with a code of its own: an engine that evaluates it prunes by it.
"""

from __future__ import annotations

from msgspec.structs import replace

from lakeprune.predicate import tree as t
from lakeprune.predicate.functions.like_pattern import Wildcard, pieces_of
from lakeprune.predicate.passes.rebuild import rebuild
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Expr, Profile
from lakeprune.predicate.walk import columns_of

_CANNOT = "lakeprune cannot evaluate "


def keep_partition_leaves(expr: Expr, _profile: Profile) -> Expr:
    return rebuild(expr, leaf=_keep)


def is_partition_only(expr: Expr) -> bool:
    columns = columns_of(expr)
    return bool(columns) and all(column.role is Role.PARTITION for column in columns)


def exact(leaf: Expr) -> t.Exact:
    return t.Exact(leaf, columns_of(leaf))


def _keep(leaf: Expr) -> Expr:
    if isinstance(leaf, t.Opaque) and leaf.reason.code is ReasonCode.UNSUPPORTED_EXPRESSION and is_partition_only(leaf):
        why = leaf.reason.message
        cannot = why if why.startswith(_CANNOT) else f"{_CANNOT}it ({why})"
        return replace(leaf, reason=Reason(ReasonCode.NOT_EVALUATED, f"{cannot}; Spark does, exactly"))
    if not isinstance(leaf, t.Compare | t.ColumnCompare | t.In | t.Like | t.IsNull | t.Call | t.Within) or _is_direct(leaf):
        return leaf
    return exact(leaf) if is_partition_only(leaf) else leaf


def _is_direct(leaf: Expr) -> bool:
    match leaf:
        case t.Compare(_, t.Column(), t.Literal()) | t.IsNull(t.Column()) | t.Within(t.Column(), _):
            return True
        case t.In(t.Column(), options):
            return all(isinstance(option, t.Literal) for option in options)
        case t.Like(t.Column(), t.Literal(value=str() as pattern), escape, "like"):
            return _is_prefix(pattern, escape)
        case t.Call("startswith", (t.Column(), t.Literal())):
            return True
        case _:
            return False


def _is_prefix(pattern: str, escape: str) -> bool:
    try:
        pieces = pieces_of(pattern, escape)
    except ValueError:
        return False
    return all(isinstance(piece, str) for piece in pieces[:1]) and pieces[1:] in ((), (Wildcard.ANY,))
