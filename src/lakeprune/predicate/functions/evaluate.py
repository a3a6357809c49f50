"""The value of a bound expression on one row, by Spark's rules: three-valued, exact, or `EvaluationFailed`.

In: a bound or normalised tree, a row (column -> canonical value), the profile. Out: a canonical value; for a predicate True,
False or None. It decides partition values, folds constants, and is the oracle of the tests: it must never guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from lakeprune.predicate import tree as t
from lakeprune.predicate.comparison import order, rounded, rounded_scale
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.functions.like_pattern import matches, pieces_of
from lakeprune.predicate.functions.registry import lookup
from lakeprune.predicate.tree import Expr, Profile
from lakeprune.predicate.walk import type_of
from lakeprune.values.floats import compare_floats, to_float32
from lakeprune.values.types import FLOATING_KINDS, INTEGRAL_KINDS, DataType, Kind, Scalar

Row = Mapping[t.Column, Scalar]

_HOLDS: dict[t.Op, Callable[[int], bool]] = {
    t.Op.EQ: lambda sign: sign == 0,
    t.Op.NE: lambda sign: sign != 0,
    t.Op.LT: lambda sign: sign < 0,
    t.Op.LE: lambda sign: sign <= 0,
    t.Op.GT: lambda sign: sign > 0,
    t.Op.GE: lambda sign: sign >= 0,
    t.Op.NULL_SAFE_EQ: lambda sign: sign == 0,
}


def evaluate(expr: Expr, row: Row, profile: Profile) -> Scalar:
    """The value of `expr` on the row.

    >>> evaluate(t.Compare(t.Op.EQ, t.Literal(None), t.Literal(1)), {}, Profile(now=0)) is None
    True
    """
    match expr:
        case t.Column():
            return row[expr]
        case t.Literal(value):
            return value
        case t.Constant(truth):
            return truth
        case t.Call():
            return _call(expr, row, profile)
        case t.And(parts):
            return _connect(parts, row, profile, decisive=False)
        case t.Or(parts):
            return _connect(parts, row, profile, decisive=True)
        case t.Not(part):
            value = evaluate(part, row, profile)
            return None if value is None else not value
        case t.IsNull(part):
            return evaluate(part, row, profile) is None
        case t.IsTruth(part, truth):
            return evaluate(part, row, profile) is truth
        case t.NullTest(column):
            return row[column] is None
        case t.Member(value, values) | t.Within(value, values):
            found = evaluate(value, row, profile)
            return None if found is None else values.contains(found)
        case t.Exact(predicate):
            return evaluate(predicate, row, profile)
        case t.Compare(op, left, right) | t.ColumnCompare(op, left, right):
            return _compare(op, left, right, row, profile)
        case t.In():
            return _in(expr, row, profile)
        case t.Like():
            return _like(expr, row, profile)
        case _:
            raise EvaluationFailed(f"{type(expr).__name__} has no value of its own")


def _connect(parts: Iterable[Expr], row: Row, profile: Profile, *, decisive: bool) -> bool | None:
    """AND (decisive FALSE) or OR (decisive TRUE): one decisive part settles it, whatever the others are."""
    outcome: bool | None = not decisive
    failure: EvaluationFailed | None = None
    for part in parts:
        try:
            value = evaluate(part, row, profile)
        except EvaluationFailed as problem:
            failure = problem
            continue
        if value is decisive:
            return decisive
        if value is None:
            outcome = None
    if failure is not None:
        raise failure
    return outcome


def _compare(op: t.Op, left: Expr, right: Expr, row: Row, profile: Profile) -> bool | None:
    a, b = evaluate(left, row, profile), evaluate(right, row, profile)
    if a is None or b is None:
        return (a is None and b is None) if op is t.Op.NULL_SAFE_EQ else None
    return _HOLDS[op](order(a, _known(left), b, _known(right), profile))


def _known(expr: Expr) -> DataType:
    found = type_of(expr)
    if found is None:
        raise EvaluationFailed("a value of unknown type")
    return found


def _in(expr: t.In, row: Row, profile: Profile) -> bool | None:
    value = evaluate(expr.value, row, profile)
    if value is None:
        return None
    options = [(evaluate(option, row, profile), type_of(option)) for option in expr.options]
    present = [(option, type_) for option, type_ in options if option is not None and type_ is not None]
    type_ = _known(expr.value)
    found = any(order(value, type_, option, other, profile) == 0 for option, other in present)
    kinds = {type_.kind, *(other.kind for _, other in present)}
    if type_.kind is Kind.STRING and kinds != {Kind.STRING} and found != _is_among_texts(value, present, profile):
        raise EvaluationFailed("text in a list with other types: Spark compares it as text, unless in ANSI mode")
    if Kind.DECIMAL in kinds and kinds <= INTEGRAL_KINDS | {Kind.DECIMAL}:
        scale = rounded_scale({type_, *(other for _, other in present)})
        if scale is not None and found != any(rounded(value, scale) == rounded(option, scale) for option, _ in present):
            raise EvaluationFailed("engines disagree whether the decimals of this list are rounded")
    if kinds & FLOATING_KINDS and len(kinds) > 1:
        # Spark brings the whole list to one type: one double in it makes every comparison one of doubles.
        doubles = [(as_double(value), as_double(option)) for option, _ in present]
        as_doubles = any(compare_floats(a, b) == 0 for a, b in doubles)
        if Kind.FLOAT in kinds:
            as_floats = any(compare_floats(to_float32(a), to_float32(b)) == 0 for a, b in doubles)
            if len({found, as_doubles, as_floats}) > 1:
                raise EvaluationFailed("engines disagree whether this is a list of FLOATs")
        found = as_doubles
    if found:
        return True
    return None if len(present) < len(options) else False


def _is_among_texts(value: Scalar, options: Iterable[tuple[Scalar, DataType]], profile: Profile) -> bool:
    from lakeprune.predicate.functions.cast_text import to_text

    return any(to_text(option, type_, profile) == value for option, type_ in options)


def as_double(value: Scalar) -> float:
    if isinstance(value, str | bytes) or value is None:
        raise EvaluationFailed("not a number")
    return float(value)


def _like(expr: t.Like, row: Row, profile: Profile) -> bool | None:
    value, pattern = evaluate(expr.value, row, profile), evaluate(expr.pattern, row, profile)
    if value is None or pattern is None:
        return None
    if not isinstance(value, str) or not isinstance(pattern, str):
        raise EvaluationFailed("LIKE on something that is not text")
    if _known(expr.value).collation:
        raise EvaluationFailed("a collation decides this match")
    if expr.kind == "rlike":
        from lakeprune.predicate.functions.regular_expression import is_found

        return is_found(pattern, value)
    if expr.kind == "ilike":
        from lakeprune.predicate.functions.text import folded

        value, pattern = folded(value, upper=False), folded(pattern, upper=False)
    try:
        return matches(value, pieces_of(pattern, expr.escape))
    except ValueError as problem:
        raise EvaluationFailed(str(problem)) from problem


def _call(expr: t.Call, row: Row, profile: Profile) -> Scalar:
    function = lookup(expr.function)
    if function is None:
        raise EvaluationFailed(f"lakeprune does not know {expr.function}")
    if function.choose is not None:
        return function.choose(expr, lambda part: evaluate(part, row, profile), profile)
    if function.evaluate is None:
        raise AssertionError(f"{expr.function} has neither evaluate nor choose")
    args = tuple(evaluate(arg, row, profile) for arg in expr.args)
    if any(arg is None for arg in args):
        return None
    return function.evaluate(expr, args, profile)
