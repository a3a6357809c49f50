"""What each class of Catalyst's expressions means in the predicate tree.

In: a node's fields and its translated operands. Out: the tree node; Unsupported for a form whose meaning is not ours. A class
that is not listed is not understood. Modes that `toJSON` leaves out (`evalMode`, `escapeChar`) must have been filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from lakeprune.predicate.functions.registry import every_function
from lakeprune.predicate.read.catalyst.types import DAY_TIME, YEAR_MONTH, data_type, literals, span
from lakeprune.predicate.read.sql.functions import Unsupported, add_interval, element_of, is_nan
from lakeprune.predicate.read.sql.literals import Interval
from lakeprune.predicate.tree import Call, Compare, Expr, In, IsNull, Like, Literal, Name, Not, Op
from lakeprune.values.types import STRING, TIME_KINDS, DataType, Kind


class Operand(Struct, frozen=True):
    """A translated operand: its node, its tree, its type where the plan says it (of columns, constants and casts)."""

    fields: Mapping[str, Any]
    expr: Expr
    type: DataType | None
    widened_from: DataType | None = None  # of a cast column: the column's type


class Node(Struct, frozen=True):
    """An expression: the canonical name of the function it is, or else its class; its fields, its operands."""

    name: str
    fields: Mapping[str, Any]
    operands: Sequence[Operand]

    def args(self) -> tuple[Expr, ...]:
        return tuple([operand.expr for operand in self.operands])


Builder = Callable[[Node], Expr]

_COMPARISONS = {
    "EqualTo": Op.EQ, "EqualNullSafe": Op.NULL_SAFE_EQ, "LessThan": Op.LT, "LessThanOrEqual": Op.LE, "GreaterThan": Op.GT,
    "GreaterThanOrEqual": Op.GE,
}  # fmt: skip
OPERATORS = {**{name: op.value for name, op in _COMPARISONS.items()}, "RLike": "RLIKE", "Like": "LIKE"}
_DIGITS = {Kind.BYTE: 3, Kind.SHORT: 5, Kind.INT: 10, Kind.LONG: 19}
MODES = ("ANSI", "LEGACY")  # of arithmetic: an error or another number when it leaves its type; with TRY it would be NULL


def build(name: str, fields: Mapping[str, Any], operands: Sequence[Operand]) -> Expr:
    """The tree node of an expression of that class."""
    function = functions_by_class().get(name)
    builder = BUILDERS.get(name) or (None if function is None else _call)
    if builder is None:
        raise Unsupported("lakeprune does not know this expression")
    return builder(Node(function or name, fields, operands))


@cache
def functions_by_class() -> Mapping[str, str]:
    """The canonical name of the function that a class is."""
    return {name: function.name for function in reversed(every_function()) for name in function.catalyst}


def _compare(op: Op) -> Builder:
    def build_comparison(node: Node) -> Expr:
        left, right = node.operands
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

    >>> widens(DataType(Kind.INT), DataType(Kind.DECIMAL, 12, 2)), widens(DataType(Kind.LONG), DataType(Kind.DOUBLE))
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


def _call(node: Node) -> Expr:
    if any(operand.type is not None and operand.type.kind is Kind.BINARY for operand in node.operands):
        raise Unsupported(f"{node.name} of binary values")  # it counts bytes there, not characters
    return Call(node.name, node.args())


def _arithmetic(node: Node) -> Expr:
    if node.fields.get("evalMode") not in MODES:
        raise Unsupported(f"`{node.name}` that is NULL where it fails")
    return _call(node)


def _trim(node: Node) -> Expr:
    if len(node.operands) != 1:
        raise Unsupported(f"{node.name} with the characters to remove")
    return Call(node.name, node.args())


def _cast(node: Node) -> Expr:
    target, mode = data_type(node.fields.get("dataType")), node.fields.get("evalMode")
    if target is None or mode not in (*MODES, "TRY"):
        raise Unsupported("a cast to this type")
    return Call("try_cast" if mode == "TRY" else "cast", node.args()[:1], target)


def _like(node: Node) -> Expr:
    escape = node.fields.get("escapeChar")
    if not isinstance(escape, str) or len(escape) != 1:
        raise Unsupported("LIKE with an escape character that is not known")
    return _match(node, escape)


def _match(node: Node, escape: str = "\\", kind: str = "like") -> Expr:
    value, pattern = node.args()
    return Like(value, pattern, escape, kind)


def _case(node: Node) -> Expr:
    args = node.args()
    return Call("case", args if len(args) % 2 else (*args, Literal(None)))


def _truncation(node: Node) -> Expr:
    args = list(node.args())
    unit_at = 0 if node.name == "date_trunc" else 1
    unit = args[unit_at]
    if not isinstance(unit, Literal) or not isinstance(unit.value, str):
        raise Unsupported(f"{node.name} with a unit that is not a constant")
    args[unit_at] = Literal(unit.value.lower(), STRING)
    return Call(node.name, tuple(args))


def _seconds(node: Node) -> Expr:
    """Of a date or timestamp; the format beside it is for text alone."""
    type_ = node.operands[0].type
    if type_ is None or type_.kind not in TIME_KINDS:
        raise Unsupported("the seconds of text")
    return Call(node.name, node.args()[:1])


def _hash(node: Node) -> Expr:
    if node.fields.get("seed") not in (42, "42"):
        raise Unsupported("a hash with another seed")
    return Call(node.name, node.args())


def _add_span(form: str) -> Builder:
    def build_sum(node: Node) -> Expr:
        value, amount = node.operands[0].expr, span(node.operands[1].fields, form)
        if form == YEAR_MONTH:
            return add_interval(value, Interval(months=amount))
        return add_interval(value, Interval(micros=amount).normal())

    return build_sum


# Sums with an interval, by the form of their second operand.
SPANS = {"TimestampAddInterval": DAY_TIME, "TimestampAddYMInterval": YEAR_MONTH, "DateAddYMInterval": YEAR_MONTH}
# Nodes that are not functions of ours, and functions that are not just a call of their operands.
BUILDERS: dict[str, Builder] = {
    **{name: _compare(op) for name, op in _COMPARISONS.items()},
    "IsNull": lambda node: IsNull(node.args()[0]),
    "IsNotNull": lambda node: Not(IsNull(node.args()[0])),
    "IsNaN": lambda node: is_nan(node.args()[0]),
    "In": lambda node: In(node.args()[0], node.args()[1:]),
    "InSet": lambda node: In(node.args()[0], literals(node.fields)),
    "Like": _like,
    "RLike": lambda node: _match(node, kind="rlike"),
    **dict.fromkeys(("Add", "Subtract", "Multiply", "Divide", "Remainder", "Pmod"), _arithmetic),
    **dict.fromkeys(("StringTrim", "StringTrimLeft", "StringTrimRight"), _trim),
    **dict.fromkeys(("TruncTimestamp", "TruncDate"), _truncation),
    **dict.fromkeys(("UnixTimestamp", "ToUnixTimestamp"), _seconds),
    **{name: _add_span(form) for name, form in SPANS.items()},
    "StringSplit": lambda node: Call("split", node.args()),
    "GetArrayItem": lambda node: element_of(*node.args()),
    "CreateNamedStruct": lambda node: Call("struct", node.args()[1::2]),  # names alternate with values
    "Md5": lambda node: Call("md5", node.args()),
    "Murmur3Hash": _hash,
    "Cast": _cast,
    "CaseWhen": _case,
}
