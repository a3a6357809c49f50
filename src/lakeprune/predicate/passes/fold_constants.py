"""Whatever reads no column is computed once: `x > 2 + 3` becomes `x > 5`, `1 = 2` becomes FALSE, `x + NULL` becomes NULL.

Safe because evaluation is exact or refuses: `1 / 0` is left alone (Spark raises or says NULL, depending on its mode) and ends
as an opaque part. A strict function of a NULL literal is NULL whatever its other arguments are.
"""

from __future__ import annotations

from lakeprune.predicate import tree as t
from lakeprune.predicate.functions.evaluate import evaluate
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.functions.registry import lookup
from lakeprune.predicate.passes.opaque import opaque
from lakeprune.predicate.passes.rebuild import rebuild
from lakeprune.predicate.reasons import ReasonCode
from lakeprune.predicate.tree import Expr, Profile
from lakeprune.predicate.walk import nodes, type_of


def fold_constants(expr: Expr, profile: Profile) -> Expr:
    """The same predicate with its constant parts computed.

    >>> from lakeprune.predicate.tree import Op
    >>> from lakeprune.values.types import INT
    >>> fold_constants(t.Compare(Op.LT, t.Literal(1, INT), t.Literal(2, INT)), Profile(now=0))
    Constant(truth=True)
    """
    return rebuild(expr, leaf=lambda leaf: _fold_leaf(leaf, profile))


def _fold_leaf(leaf: Expr, profile: Profile) -> Expr:
    match leaf:
        case t.Compare(op, left, right):
            leaf = t.Compare(op, fold_value(left, profile), fold_value(right, profile))
        case t.In(value, options):
            leaf = t.In(fold_value(value, profile), tuple(fold_value(option, profile) for option in options))
        case t.Like(value, pattern, escape, kind):
            leaf = t.Like(fold_value(value, profile), fold_value(pattern, profile), escape, kind)
        case t.IsNull(part):
            leaf = t.IsNull(fold_value(part, profile))
        case t.Within(value, values):
            leaf = t.Within(fold_value(value, profile), values)
        case t.Call() | t.Literal():
            leaf = fold_value(leaf, profile)
        case _:
            return leaf
    if not is_constant(leaf):
        return leaf
    try:
        truth = evaluate(leaf, {}, profile)
    except EvaluationFailed as failure:
        return (
            opaque(leaf, ReasonCode.OPAQUE_ON_DATA, f"this match has no answer: {failure}") if isinstance(leaf, t.Like) else leaf
        )
    return t.Constant(None if truth is None else bool(truth))


def fold_value(expr: Expr, profile: Profile) -> Expr:
    """A value with its constant parts computed; predicates inside it (`if(a > 1 + 1, ...)`) too."""
    if isinstance(expr, t.Literal | t.Column | t.Opaque):
        return expr
    if not isinstance(expr, t.Call):
        return fold_constants(expr, profile)
    args = tuple(fold_value(arg, profile) for arg in expr.args)
    call = t.Call(expr.function, args, expr.type)
    function = lookup(call.function)
    if function is None:
        return call
    if function.evaluate is not None and any(isinstance(arg, t.Literal) and arg.value is None for arg in args):
        return t.Literal(None, type_of(call))
    if not is_constant(call):
        return call
    try:
        return t.Literal(evaluate(call, {}, profile), type_of(call))
    except EvaluationFailed:
        return call


def is_constant(expr: Expr) -> bool:
    return not any(isinstance(node, t.Column | t.Opaque) for node in nodes(expr))
