"""What each class of Catalyst's expressions means in the predicate tree.

In: a node's fields and its translated operands. Out: the tree node; Unsupported for a form whose meaning is not ours. A class
that is not listed is not understood. Modes that `toJSON` leaves out (`evalMode`, `escapeChar`) must have been filled in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from lakeprune.predicate.functions.registry import every_function
from lakeprune.predicate.read.catalyst.types import DAY_TIME, YEAR_MONTH, data_type, literals, span
from lakeprune.predicate.read.sql.functions import Unsupported, add_interval
from lakeprune.predicate.read.sql.literals import Interval
from lakeprune.predicate.tree import Call, Compare, Expr, In, IsNull, Like, Literal, Name, Not, Op
from lakeprune.values.types import DOUBLE, STRING, TIME_KINDS, DataType, Kind


class Operand(Struct, frozen=True):
    """A translated operand: its node, its tree, its type where the plan says it (of columns, constants and casts)."""

    fields: Mapping[str, Any]
    expr: Expr
    type: DataType | None
    widened_from: DataType | None = None  # of a cast column: the column's type


Builder = Callable[[str, Mapping[str, Any], Sequence[Operand]], Expr]  # of the function's canonical name, or the class

_COMPARISONS = {
    "EqualTo": Op.EQ, "EqualNullSafe": Op.NULL_SAFE_EQ, "LessThan": Op.LT, "LessThanOrEqual": Op.LE, "GreaterThan": Op.GT,
    "GreaterThanOrEqual": Op.GE,
}  # fmt: skip
_DIGITS = {Kind.BYTE: 3, Kind.SHORT: 5, Kind.INT: 10, Kind.LONG: 19}
MODES = ("ANSI", "LEGACY")  # of arithmetic: an error or another number when it leaves its type; with TRY it would be NULL


def build(name: str, fields: Mapping[str, Any], operands: Sequence[Operand]) -> Expr:
    """The tree node of an expression of that class."""
    function = functions_by_class().get(name)
    builder = BUILDERS.get(name) or (None if function is None else _call)
    if builder is None:
        raise Unsupported(f"{name} is not known")
    return builder(function or name, fields, operands)


@cache
def functions_by_class() -> Mapping[str, str]:
    """The canonical name of the function that a class is."""
    return {name: function.name for function in reversed(every_function()) for name in function.catalyst}


def _compare(op: Op) -> Builder:
    def build_comparison(_name: str, _fields: Mapping[str, Any], operands: Sequence[Operand]) -> Expr:
        left, right = operands
        if isinstance(bare(left), Name) and isinstance(bare(right), Name):
            return Compare(op, bare(left), bare(right))
        return Compare(op, left.expr, right.expr)

    return build_comparison


def bare(operand: Operand) -> Expr:
    """A column without a cast that only widens it: beside another column it compares as the column itself does."""
    source = operand.widened_from
    if source is None or operand.type is None or not isinstance(operand.expr, Call) or operand.expr.function != "cast":
        return operand.expr
    return operand.expr.args[0] if widens(source, operand.type) else operand.expr


def widens(source: DataType, target: DataType) -> bool:
    """Whether every value of `source` is the same number as `target`, and none fails.

    >>> widens(DataType(Kind.INT), DataType(Kind.DECIMAL, 12, 2)), widens(DataType(Kind.LONG), DOUBLE)
    (True, False)
    """
    digits, fraction = _DIGITS.get(source.kind, 0), 0
    if source.kind is Kind.DECIMAL:
        digits, fraction = source.precision - source.scale, source.scale
    if not digits:
        return source.kind is Kind.FLOAT and target.kind is Kind.DOUBLE
    if target.kind is Kind.DECIMAL:
        return target.precision - target.scale >= digits and target.scale >= fraction
    if target.kind is Kind.DOUBLE:
        return source.kind in (Kind.BYTE, Kind.SHORT, Kind.INT)
    return source.kind in _DIGITS and _DIGITS.get(target.kind, 0) >= digits


def _call(function: str, _fields: Mapping[str, Any], operands: Sequence[Operand]) -> Expr:
    if any(operand.type is not None and operand.type.kind is Kind.BINARY for operand in operands):
        raise Unsupported(f"{function} of binary values")  # it counts bytes there, not characters
    return Call(function, tuple(operand.expr for operand in operands))


def _arithmetic(function: str, fields: Mapping[str, Any], operands: Sequence[Operand]) -> Expr:
    if fields.get("evalMode") not in MODES:
        raise Unsupported(f"`{function}` that is NULL where it fails")
    return _call(function, fields, operands)


def _trim(function: str, _fields: Mapping[str, Any], operands: Sequence[Operand]) -> Expr:
    if len(operands) != 1:
        raise Unsupported(f"{function} with the characters to remove")
    return Call(function, (operands[0].expr,))


def _cast(_name: str, fields: Mapping[str, Any], operands: Sequence[Operand]) -> Expr:
    target, mode = data_type(fields.get("dataType")), fields.get("evalMode")
    if target is None or mode not in (*MODES, "TRY"):
        raise Unsupported("a cast to this type")
    return Call("try_cast" if mode == "TRY" else "cast", (operands[0].expr,), target)


def _like(_name: str, fields: Mapping[str, Any], operands: Sequence[Operand]) -> Expr:
    escape = fields.get("escapeChar")
    if not isinstance(escape, str) or len(escape) != 1:
        raise Unsupported("LIKE with an escape character that is not known")
    return Like(operands[0].expr, operands[1].expr, escape)


def _case(_name: str, _fields: Mapping[str, Any], operands: Sequence[Operand]) -> Expr:
    args = tuple(operand.expr for operand in operands)
    return Call("case", args if len(args) % 2 else (*args, Literal(None)))


def _truncation(function: str, _fields: Mapping[str, Any], operands: Sequence[Operand]) -> Expr:
    args = [operand.expr for operand in operands]
    unit_at = 0 if function == "date_trunc" else 1
    unit = args[unit_at]
    if not isinstance(unit, Literal) or not isinstance(unit.value, str):
        raise Unsupported(f"{function} with a unit that is not a constant")
    args[unit_at] = Literal(unit.value.lower(), STRING)
    return Call(function, tuple(args))


def _seconds(function: str, _fields: Mapping[str, Any], operands: Sequence[Operand]) -> Expr:
    """Of a date or timestamp; the format beside it is for text alone."""
    type_ = operands[0].type
    if type_ is None or type_.kind not in TIME_KINDS:
        raise Unsupported("the seconds of text")
    return Call(function, (operands[0].expr,))


def _add_span(form: str) -> Builder:
    def build_sum(_name: str, _fields: Mapping[str, Any], operands: Sequence[Operand]) -> Expr:
        amount = span(operands[1].fields, form)
        if form == YEAR_MONTH:
            return add_interval(operands[0].expr, amount, 0, 0)
        length = Interval(micros=amount).normal()
        return add_interval(operands[0].expr, 0, length.days, length.micros)

    return build_sum


# Sums with an interval, by the form of their second operand.
SPANS = {"TimestampAddInterval": DAY_TIME, "TimestampAddYMInterval": YEAR_MONTH, "DateAddYMInterval": YEAR_MONTH}
# Nodes that are no function of ours, and functions that are not just a call of their operands.
BUILDERS: dict[str, Builder] = {
    **{name: _compare(op) for name, op in _COMPARISONS.items()},
    "IsNull": lambda _name, _fields, operands: IsNull(operands[0].expr),
    "IsNotNull": lambda _name, _fields, operands: Not(IsNull(operands[0].expr)),
    "IsNaN": lambda _name, _fields, operands: Compare(
        Op.NULL_SAFE_EQ, Call("cast", (operands[0].expr,), DOUBLE), Literal(math.nan, DOUBLE)
    ),
    "In": lambda _name, _fields, operands: In(operands[0].expr, tuple([operand.expr for operand in operands[1:]])),
    "InSet": lambda _name, fields, operands: In(operands[0].expr, literals(fields)),
    "Like": _like,
    "RLike": lambda _name, _fields, operands: Like(operands[0].expr, operands[1].expr, kind="rlike"),
    **dict.fromkeys(("Add", "Subtract", "Multiply", "Divide", "Remainder", "Pmod"), _arithmetic),
    **dict.fromkeys(("StringTrim", "StringTrimLeft", "StringTrimRight"), _trim),
    **dict.fromkeys(("TruncTimestamp", "TruncDate"), _truncation),
    **dict.fromkeys(("UnixTimestamp", "ToUnixTimestamp"), _seconds),
    **{name: _add_span(form) for name, form in SPANS.items()},
    "Cast": _cast,
    "CaseWhen": _case,
}
