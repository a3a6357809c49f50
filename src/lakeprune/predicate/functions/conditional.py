"""coalesce if case nullif greatest least: one of the arguments, chosen by NULLs, conditions or order.

What moves: the set, into every branch. Example: `coalesce(x, 0) = 0` becomes `x = 0 OR x IS NULL`.
Safe because it is the definition: "the chosen value lies in S" is "this one is chosen and lies in S, or that one is ...".
NULL rows become values here, so an all-NULL file may well match.
Refuses greatest and least, more than MAX_NESTED of them inside each other and more than 32 WHENs (OPAQUE_ON_DATA); otherwise a
branch that cannot be used is opaque on its own. greatest and least pass over NULLs, and NaN is the greatest.
"""

from __future__ import annotations

from collections.abc import Callable

from lakeprune.predicate.comparison import order
from lakeprune.predicate.functions.cast import convert
from lakeprune.predicate.functions.function import (
    MANY,
    NO_CATALYST_FORM,
    ArgTypes,
    EvaluationFailed,
    Function,
    common_type,
    like_argument,
    takes,
)
from lakeprune.predicate.tree import And, Call, Compare, Expr, IsNull, IsTruth, Literal, Not, Op, Or, Profile, Within
from lakeprune.predicate.walk import nodes, type_of
from lakeprune.values.intervals import IntervalSet
from lakeprune.values.types import DataType, Scalar

MAX_NESTED = 4
MAX_ARGUMENTS = 65  # 32 WHENs and an ELSE
ValueOf = Callable[[Expr], Scalar]


def choices(call: Call) -> list[tuple[Expr | None, Expr]]:
    """(condition, value) pairs in the order they are tried; the condition of the last is None."""
    args = call.args
    match call.function:
        case "coalesce":
            return [*((Not(IsNull(arg)), arg) for arg in args[:-1]), (None, args[-1])]
        case "nullif":
            return [(Compare(Op.EQ, args[0], args[1]), Literal(None, type_of(args[0]))), (None, args[0])]
        case "if":
            return [(args[0], args[1]), (None, args[2])]
        case _:
            pairs: list[tuple[Expr | None, Expr]] = [(args[i], args[i + 1]) for i in range(0, len(args) - 1, 2)]
            return [*pairs, (None, args[-1] if len(args) % 2 else Literal(None, None))]


def _choose(call: Call, value_of: ValueOf, profile: Profile) -> Scalar:
    for condition, value in choices(call):
        if condition is None or value_of(condition) is True:
            return _as_result(value_of(value), value, call, profile)
    raise EvaluationFailed("no branch applies")


def _as_result(value: Scalar, expr: Expr, call: Call, profile: Profile) -> Scalar:
    """The chosen value in the type of the whole call."""
    source, target = type_of(expr), type_of(call)
    if value is None:
        return None
    if source is None or target is None:
        raise EvaluationFailed("a value of unknown type")
    return convert(value, source, target, profile)


def _preimage(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    target = type_of(call)
    if target is None or _is_too_large(call):
        return None
    branches: list[Expr] = []
    earlier: list[Expr] = []
    for condition, value in choices(call):
        source = type_of(value)
        aligned = value if source is None or source == target else Call("cast", (value,), target)
        lies = Within(aligned, values)
        if condition is None:
            branches.append(And((*earlier, lies)))
        else:
            chosen = IsTruth(condition, truth=True)
            branches.append(And((*earlier, chosen, lies)))
            earlier.append(Not(chosen))
    return Or(tuple(branches))


def _is_too_large(call: Call) -> bool:
    """Every level repeats its arguments, so nesting multiplies: beyond a few levels the rewrite would outgrow its use."""
    inside = sum(isinstance(node, Call) and node.function in _CONDITIONAL for node in nodes(call))
    return inside > MAX_NESTED or len(call.args) > MAX_ARGUMENTS


def _case_type(types: ArgTypes) -> DataType | None:
    return common_type((*types[1::2], types[-1]) if len(types) % 2 else types[1::2])


def _choose_extreme(call: Call, value_of: ValueOf, profile: Profile) -> Scalar:
    type_ = type_of(call)
    if type_ is None:
        raise EvaluationFailed(f"{call.function} of several types")
    sign = 1 if call.function == "greatest" else -1
    best: Scalar = None
    for arg in call.args:
        value = _as_result(value_of(arg), arg, call, profile)
        if value is not None and (best is None or order(value, type_, best, type_, profile) == sign):
            best = value
    return best


FUNCTIONS = (
    Function(("coalesce", "nvl", "ifnull"), takes(1, MANY), ("Coalesce",), common_type, preimage=_preimage, choose=_choose),
    Function(("nullif",), takes(2), NO_CATALYST_FORM, like_argument(0), preimage=_preimage, choose=_choose),
    Function(("if", "iff"), takes(3), ("If",), lambda types: common_type(types[1:]), preimage=_preimage, choose=_choose),
    Function(("case",), takes(2, MANY), ("CaseWhen",), _case_type, preimage=_preimage, choose=_choose),
    Function(("greatest",), takes(2, MANY), ("Greatest",), common_type, choose=_choose_extreme),
    Function(("least",), takes(2, MANY), ("Least",), common_type, choose=_choose_extreme),
)
_CONDITIONAL = frozenset({"coalesce", "nullif", "if", "case"})
