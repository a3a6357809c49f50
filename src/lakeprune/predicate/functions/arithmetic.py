"""+ - * / % negate pmod between numbers, as Spark computes them.

What moves: `x + k`, `x - k`, `k - x`, `x * k`, `-x` on integers and decimals, solved in exact arithmetic; the same and `x / k` on
doubles, inverted by bisection, because rounding is monotone. Example: `x + 1 > 10` is `x > 9`.
Values whose result leaves its type wrap, raise or are widened, depending on mode and engine: they may match (outer set) but
never certainly do (inner set); `x + 1 = 3` still prunes a file that ends at INT_MAX only if nothing in it can match.
Refuses with OPAQUE_ON_DATA: two columns, `%`, a FLOAT operand, decimals at 38 digits (Spark then rounds).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from lakeprune.predicate.functions.function import ArgTypes, EvaluationFailed, Function, like_argument, takes
from lakeprune.predicate.functions.pieces import (
    around,
    in_decimal,
    in_range,
    moved,
    scaled,
    signed,
    signed_exactly,
    within_bounds,
)
from lakeprune.predicate.tree import Call, Expr, Literal, Profile
from lakeprune.predicate.walk import type_of
from lakeprune.values.bounds import exactly
from lakeprune.values.intervals import Interval, IntervalSet, everything, from_intervals, nothing
from lakeprune.values.monotone import preimage_of
from lakeprune.values.types import DOUBLE, INTEGER_RANGES, INTEGRAL_KINDS, DataType, Family, Kind, Scalar

_MAX_PRECISION = 38
_INTEGRAL_ORDER = (Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG)


def _evaluate(call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    result = type_of(call)
    operands = tuple(type_of(arg) for arg in call.args)
    if result is None or any(t is None or t.kind not in _NUMERIC for t in operands) or result.kind not in _NUMERIC:
        raise EvaluationFailed(f"{call.function} between {operands}")
    if result.kind is Kind.FLOAT or Kind.FLOAT in {t.kind for t in operands if t is not None}:
        raise EvaluationFailed("engines disagree about arithmetic on 32-bit floats")
    if result.kind is Kind.DOUBLE:
        return _on_doubles(call.function, [float(a) for a in args])  # type: ignore[arg-type]  # numbers, checked above
    exact = _on_exact(call.function, [Fraction(a) for a in args], result)  # type: ignore[arg-type]  # ditto
    if result.kind is Kind.DECIMAL:
        if result.precision >= _MAX_PRECISION and scaled(exact, result.scale) != exact:
            raise EvaluationFailed("a decimal at its greatest precision is rounded")
        return in_decimal(exact, result)
    return in_range(int(exact), result.kind)


def _on_doubles(name: str, args: list[float]) -> float:
    if name == "negate":
        return -args[0]
    left, right = args
    if name in ("/", "%", "pmod"):
        if right == 0:
            raise EvaluationFailed("division by zero is an error or NULL, depending on the mode")
        if name == "/":
            return left / right
        if name == "%" and math.isfinite(left) and not math.isnan(right):
            return math.fmod(left, right)
        raise EvaluationFailed(f"{left} {name} {right}")
    return left + right if name == "+" else left - right if name == "-" else left * right


def _on_exact(name: str, args: list[Fraction], result: DataType) -> Fraction:
    if name == "negate":
        return signed(-args[0], result)
    left, right = args
    if name in ("+", "-", "*"):
        return left + right if name == "+" else left - right if name == "-" else left * right
    if right == 0:
        raise EvaluationFailed("division by zero is an error or NULL, depending on the mode")
    if name == "/":
        if result.kind is not Kind.DECIMAL:
            raise EvaluationFailed("division of integers is one of doubles in Spark")
        return Fraction(scaled(left / right, 39))  # Spark keeps 39 digits first, then rounds to the result's scale
    remainder = left - right * math.trunc(left / right)
    if name == "pmod" and remainder < 0:
        remainder = remainder + right - right * math.trunc((remainder + right) / right)
    return remainder


def _preimage(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    result = type_of(call)
    found = _as_line(call)
    if result is None or found is None:
        return None
    argument, factor, shift, constant = found
    source = type_of(argument)
    if source is None or source.kind not in _NUMERIC or Kind.FLOAT in (source.kind, result.kind):
        return None
    if result.kind is Kind.DOUBLE:
        return _preimage_on_doubles(call, argument, constant, values)
    if source.family is Family.REAL or call.function in ("/", "%", "pmod"):
        return None
    if result.kind is Kind.DECIMAL and result.precision >= _MAX_PRECISION:
        return None
    solved = _solve(values, factor, shift, source)
    fits = signed_exactly(source) if call.function == "negate" else everything(source)
    if result.kind in INTEGRAL_KINDS:
        fits = _solve_interval(Interval(*INTEGER_RANGES[result.kind]), factor, shift, source)
    return within_bounds(argument, around(solved, fits=fits))


def _as_line(call: Call) -> tuple[Expr, Fraction, Fraction, Any] | None:
    """(argument, factor, shift, constant) when the call is factor * argument + shift."""
    if call.function == "negate":
        return call.args[0], Fraction(-1), Fraction(0), 0
    left, right = call.args
    constant, argument = (right, left) if isinstance(right, Literal) else (left, right)
    if not isinstance(constant, Literal) or isinstance(argument, Literal) or isinstance(constant.value, str | bytes | bool):
        return None
    k = constant.value
    if k is None or (isinstance(k, float) and not math.isfinite(k)):
        return None
    match call.function, constant is right:
        case "+", _:
            return argument, Fraction(1), Fraction(k), k
        case "-", True:
            return argument, Fraction(1), -Fraction(k), k
        case "-", False:
            return argument, Fraction(-1), Fraction(k), k
        case "*", _:
            return argument, Fraction(k), Fraction(0), k
        case "/", True if k != 0:
            return argument, 1 / Fraction(k), Fraction(0), k
        case _:
            return None


def _solve(values: IntervalSet, factor: Fraction, shift: Fraction, source: DataType) -> IntervalSet:
    """The x of `source` with factor * x + shift in `values`."""
    if factor == 0:
        return everything(source) if values.contains(shift) else nothing(source)
    return from_intervals([_solved(i, factor, shift) for i in values.intervals], source)


def _solve_interval(interval: Interval, factor: Fraction, shift: Fraction, source: DataType) -> IntervalSet:
    return everything(source) if factor == 0 else from_intervals([_solved(interval, factor, shift)], source)


def _solved(interval: Interval, factor: Fraction, shift: Fraction) -> Interval:
    found = moved(interval, lambda bound: (Fraction(bound) - shift) / factor)
    return Interval(found.lo, found.hi) if factor > 0 else Interval(found.hi, found.lo)


def _preimage_on_doubles(call: Call, argument: Expr, constant: Any, values: IntervalSet) -> Expr | None:
    """Bisection over the argument's values: double arithmetic with a finite constant is monotone, rounding included."""
    source = type_of(argument)
    k = float(constant)
    if source is None or not math.isfinite(k) or (k == 0 and call.function in ("*", "/")):
        return None
    is_left = call.function == "-" and isinstance(call.args[0], Literal)
    falling = call.function == "negate" or is_left or (call.function in ("*", "/") and k < 0)
    steps: dict[str, Callable[[Any], float]] = {
        "+": lambda x: float(x) + k,
        "-": (lambda x: k - float(x)) if is_left else (lambda x: float(x) - k),
        "*": lambda x: float(x) * k,
        "/": lambda x: float(x) / k,
        "negate": lambda x: -float(x),
    }
    if call.function not in steps:
        return None
    return within_bounds(argument, exactly(preimage_of(steps[call.function], values, source, is_decreasing=falling)))


def _result_type(types: ArgTypes) -> DataType | None:
    """Of + - % between integers and doubles; decimals are the business of whoever writes the call."""
    known = [t for t in types if t is not None]
    kinds = {t.kind for t in known}
    if Kind.DOUBLE in kinds and kinds <= _NUMERIC:
        return DOUBLE
    if known and kinds <= INTEGRAL_KINDS:
        return DataType(max(kinds, key=_INTEGRAL_ORDER.index))
    return None


def _division_type(types: ArgTypes) -> DataType | None:
    kinds = {t.kind for t in types if t is not None}
    return DOUBLE if kinds and kinds <= INTEGRAL_KINDS | {Kind.DOUBLE, Kind.FLOAT} else None


_NUMERIC = INTEGRAL_KINDS | {Kind.DECIMAL, Kind.DOUBLE, Kind.FLOAT}
_function = partial(Function, only_overflows=True)
FUNCTIONS = (
    _function(("+",), takes(2), ("Add",), _result_type, _evaluate, _preimage),
    _function(("-",), takes(2), ("Subtract",), _result_type, _evaluate, _preimage),
    _function(("*",), takes(2), ("Multiply",), _result_type, _evaluate, _preimage),
    _function(("/",), takes(2), ("Divide",), _division_type, _evaluate, _preimage),
    _function(("%", "mod"), takes(2), ("Remainder",), _result_type, _evaluate),
    _function(("pmod",), takes(2), ("Pmod",), _result_type, _evaluate),
    _function(("negate", "negative"), takes(1), ("UnaryMinus",), like_argument(0), _evaluate, _preimage),
)
