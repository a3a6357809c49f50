"""Functions move to the literal side: "f(x) lies in S" becomes "x lies in the preimage of S", one function at a time.

Each function brings its own preimage (see functions/). What has none is opaque with OPAQUE_ON_DATA, or with
UNSUPPORTED_EXPRESSION when the function is not known at all. A preimage may hold any node; the passes before this one state it.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakeprune.predicate.comparison import whole
from lakeprune.predicate.functions.function import Preimage
from lakeprune.predicate.functions.pieces import predicate_in
from lakeprune.predicate.functions.registry import lookup
from lakeprune.predicate.passes.opaque import opaque, why_unordered
from lakeprune.predicate.passes.rebuild import rebuild
from lakeprune.predicate.reasons import ReasonCode
from lakeprune.predicate.tree import Call, Column, Constant, Expr, Literal, Member, Opaque, Profile, Within
from lakeprune.predicate.walk import nodes

Preimages = Mapping[str, Preimage]
NO_MORE: Preimages = {}  # never changed
MAX_NESTED = 8


def has_functions(expr: Expr) -> bool:
    """Whether a set is left that is not one of a bare column."""
    return any(isinstance(node, Within) and not isinstance(node.value, Column) for node in nodes(expr))


def unwrap_functions(expr: Expr, profile: Profile, more: Preimages = NO_MORE) -> Expr:
    """The same predicate with the outermost function of every value gone."""
    return rebuild(expr, leaf=lambda leaf: _unwrap(leaf, profile, more) if isinstance(leaf, Within) else leaf)


def settle_columns(expr: Expr, _profile: Profile) -> Expr:
    """The same predicate with Member in place of Within, once all of them are on bare columns."""
    return rebuild(expr, leaf=lambda leaf: _settle(leaf, leaf.value) if isinstance(leaf, Within) else leaf)


def _settle(leaf: Within, column: Expr) -> Expr:
    assert isinstance(column, Column), "functions are unwrapped first"
    reason = why_unordered(column)
    return Member(column, whole(leaf.values, column.type)) if reason is None else opaque(leaf, reason.code, reason.message)


def _unwrap(leaf: Within, profile: Profile, more: Preimages) -> Expr:
    match leaf.value:
        case Column():
            return leaf
        case Literal(constant):
            return Constant(None if constant is None else leaf.values.contains(constant))
        case Call() as call:
            return _unwrap_call(leaf, call, profile, more)
        case Opaque() as part:
            return part
        case predicate:
            return predicate_in(predicate, leaf.values)


def _unwrap_call(leaf: Within, call: Call, profile: Profile, more: Preimages) -> Expr:
    function = lookup(call.function)
    if function is None:
        return opaque(leaf, ReasonCode.UNSUPPORTED_EXPRESSION, f"lakeprune cannot evaluate {call.function}()")
    if _depth(call) > MAX_NESTED:
        return opaque(leaf, ReasonCode.OPAQUE_ON_DATA, f"more than {MAX_NESTED} functions inside each other")
    found = None if function.preimage is None else function.preimage(call, leaf.values, profile)
    if found is None and call.function in more:
        found = more[call.function](call, leaf.values, profile)
    if found is None:
        return opaque(leaf, ReasonCode.OPAQUE_ON_DATA, f"minimum and maximum say nothing about {call.function} here")
    return found


def _depth(call: Call) -> int:
    """How many calls stand inside each other: an inexact rewrite has two sides, so each level may double the predicate."""
    return 1 + max((_depth(arg) for arg in call.args if isinstance(arg, Call)), default=0)
