"""Functions move to the literal side: "f(x) lies in S" becomes "x lies in the preimage of S", down to bare columns.

Each function brings its own preimage (see functions/). What has none is opaque with OPAQUE_ON_DATA, or with
UNSUPPORTED_EXPRESSION when the function is not known at all.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakeprune.predicate.comparison import whole
from lakeprune.predicate.functions.function import Preimage
from lakeprune.predicate.functions.registry import lookup
from lakeprune.predicate.functions.rewrite import predicate_in
from lakeprune.predicate.passes.fold_constants import fold_constants
from lakeprune.predicate.passes.keep_partition_leaves import keep_partition_leaves
from lakeprune.predicate.passes.opaque import opaque, why_unordered
from lakeprune.predicate.passes.orient import orient
from lakeprune.predicate.passes.rebuild import map_leaves
from lakeprune.predicate.passes.state_as_sets import state_as_sets
from lakeprune.predicate.reasons import ReasonCode
from lakeprune.predicate.tree import (
    Call,
    Column,
    Constant,
    Expr,
    Literal,
    Member,
    Opaque,
    Profile,
    Within,
)

Preimages = Mapping[str, Preimage]
_NO_MORE: Preimages = {}  # never changed


def unwrap_functions(expr: Expr, profile: Profile, more: Preimages = _NO_MORE) -> Expr:
    """The same predicate with Member in place of Within; `more` preimages serve where a function itself brings none."""
    return map_leaves(expr, lambda leaf: _unwrap(leaf, profile, more))


def _unwrap(leaf: Expr, profile: Profile, more: Preimages) -> Expr:
    if not isinstance(leaf, Within):
        return leaf
    value, values = leaf.value, leaf.values
    match value:
        case Column():
            reason = why_unordered(value)
            if reason is not None:
                return opaque(leaf, reason.code, reason.message)
            return Member(value, whole(values, value.type))
        case Literal(constant):
            return Constant(None if constant is None else values.contains(constant))
        case Call():
            return _unwrap_call(leaf, value, profile, more)
        case Opaque():
            return value
        case _:
            return _prepared(predicate_in(value, values), profile, more)


def _unwrap_call(leaf: Within, call: Call, profile: Profile, more: Preimages) -> Expr:
    function = lookup(call.function)
    if function is None:
        return opaque(leaf, ReasonCode.UNSUPPORTED_EXPRESSION, f"lakeprune does not know {call.function}")
    found = None if function.preimage is None else function.preimage(call, leaf.values, profile)
    if found is None and call.function in more:
        found = more[call.function](call, leaf.values, profile)
    if found is None:
        return opaque(leaf, ReasonCode.OPAQUE_ON_DATA, f"minimum and maximum say nothing about {call.function} here")
    return _prepared(found, profile, more)


def _prepared(found: Expr, profile: Profile, more: Preimages) -> Expr:
    """What a preimage brought to light, through the passes that came before this one."""
    for prepare in (fold_constants, orient, keep_partition_leaves, state_as_sets):
        found = prepare(found, profile)
    return unwrap_functions(found, profile, more)
