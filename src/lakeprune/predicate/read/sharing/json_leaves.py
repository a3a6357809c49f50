"""One leaf of a JSON hint: a comparison, a null test, a boolean.

In: an object of the hint. Out: a bound predicate, or `NotUnderstood`. A `valueType` other than the column's type is a cast, or a
careless label; a leaf is used only where both mean the same on every row, and a guard states where that is.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from lakeprune.predicate.read.sharing.columns import Columns, NotUnderstood, brief, is_whole_text, unknown
from lakeprune.predicate.read.sharing.json_literals import FLOAT, literal, type_named
from lakeprune.predicate.read.sharing.moments import moment
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import And, Call, Column, Compare, Constant, Expr, IsNull, Literal, Not, Op, Opaque, Or
from lakeprune.values.literals import parse_as
from lakeprune.values.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTEGER_RANGES,
    INTEGRAL_KINDS,
    LONG,
    STRING,
    TIMESTAMP,
    DataType,
    Kind,
)

COMPARISONS: dict[str, Op] = {
    **dict.fromkeys(("equal", "equals", "eq", "=", "=="), Op.EQ),
    **dict.fromkeys(("notequal", "notequals", "ne", "!=", "<>"), Op.NE),
    **dict.fromkeys(("lessthan", "lt", "<"), Op.LT),
    **dict.fromkeys(("lessthanorequal", "lte", "le", "<="), Op.LE),
    **dict.fromkeys(("greaterthan", "gt", ">"), Op.GT),
    **dict.fromkeys(("greaterthanorequal", "gte", "ge", ">="), Op.GE),
}
_MIRRORED = {Op.LT: Op.GT, Op.LE: Op.GE, Op.GT: Op.LT, Op.GE: Op.LE}
_SMALL = INTEGRAL_KINDS - {Kind.LONG}
# Which types of columns a valueType can stand for, without a change to any value.
_EXACT: dict[DataType, frozenset[Kind]] = {
    BOOLEAN: frozenset({Kind.BOOLEAN}),
    INT: _SMALL,
    LONG: INTEGRAL_KINDS,
    STRING: frozenset({Kind.STRING}),
    DATE: frozenset({Kind.DATE}),
    FLOAT: frozenset({Kind.FLOAT}),
    DOUBLE: frozenset({Kind.FLOAT, Kind.DOUBLE}),
    TIMESTAMP: frozenset({Kind.TIMESTAMP}),
}
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31: outside, text and dates are in another order
_PLAIN_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")


class _Side(Struct, frozen=True):
    """An operand: a column or a literal's value, with the type that was declared for it."""

    type: DataType | None
    column: Column | None = None
    value: object = None


def leaf(op: str, node: dict[str, Any], columns: Columns) -> Expr:
    """The predicate of a node that is not AND, OR or NOT; `op` is its operation in lower case."""
    if op in ("column", "literal"):
        return _boolean(_side(node, columns))
    if op in ("isnull", "isnotnull"):
        (child,) = _children(node, 1)
        found = _is_null(_side(child, columns))
        return found if op == "isnull" else Not(found)
    if op not in COMPARISONS:
        raise NotUnderstood(f"{brief(str(node.get('op')))} is not an operation of JSON hints")
    left, right = (_side(child, columns) for child in _children(node, 2))
    return _compare(COMPARISONS[op], left, right)


def _children(node: dict[str, Any], count: int) -> list[Any]:
    found = node.get("children")
    if not isinstance(found, list) or len(found) != count:
        raise NotUnderstood(f"{brief(str(node.get('op')))} has {count} {'child' if count == 1 else 'children'}")
    return found


def _side(node: object, columns: Columns) -> _Side:
    if not isinstance(node, dict) or not isinstance(node.get("op"), str):
        raise NotUnderstood("an operand is a column or a literal")
    declared = type_named(node["valueType"]) if node.get("valueType") is not None else None
    match node["op"].lower():
        case "column":
            name = node.get("name")
            if not isinstance(name, str) or not is_whole_text(name):
                raise NotUnderstood("a column has a name")
            return _Side(declared, column=columns.find((name,)))
        case "literal":
            if "value" not in node:
                raise NotUnderstood("a literal has a value")
            return _Side(declared, value=node["value"])
        case other:
            raise NotUnderstood(f"an operand is a column or a literal, not {brief(other)}")


def _boolean(side: _Side) -> Expr:
    if side.column is None:
        found = literal(side.value, side.type or BOOLEAN)
        if found.value is not None and not isinstance(found.value, bool):
            raise NotUnderstood("a literal alone is true or false")
        return Constant(found.value)
    if side.column.type != BOOLEAN or side.type not in (None, BOOLEAN):
        raise NotUnderstood("a column alone is a boolean")
    return Compare(Op.EQ, side.column, Literal(True, BOOLEAN))


def _is_null(side: _Side) -> Expr:
    if side.column is None:
        if side.type is None:
            raise NotUnderstood("a literal has a valueType")
        return Constant(literal(side.value, side.type).value is None)
    test = IsNull(side.column)
    if side.type is None or side.column.type.kind in _EXACT[side.type]:
        return test
    # A cast of NULL is NULL, and a cast of something else may be.
    return Or((test, unknown("isNull of a cast", f"{side.column.path[0]} is of type {side.column.type}, not {side.type}")))


def _compare(op: Op, left: _Side, right: _Side) -> Expr:
    if left.column is not None and right.column is not None:
        return _columns(op, left, left.column, right, right.column)
    if left.column is None and right.column is None:
        return _literals(op, left, right)
    if left.column is None:
        return _compare(_MIRRORED.get(op, op), right, left)
    column, declared = left.column, _declared(left, right)
    value = literal(right.value, right.type or declared)
    if value.value is None:
        return Constant(None)
    if column.type.kind in _EXACT[declared] and column.type.collation is None:
        if declared == TIMESTAMP:
            assert isinstance(value.value, int), "a timestamp is microseconds"
            return moment(op, column, value.value, value.value)
        return Compare(op, column, value)
    return _cast(op, column, declared, value)


def _declared(left: _Side, right: _Side) -> DataType:
    """The one type of a comparison; INT beside LONG is LONG."""
    types = {side.type for side in (left, right) if side.type is not None}
    if types == {INT, LONG}:
        return left.type or LONG
    if len(types) != 1:
        raise NotUnderstood("both sides of a comparison declare one valueType" if types else "no valueType is declared")
    return types.pop()


def _cast(op: Op, column: Column, declared: DataType, value: Literal) -> Expr:
    """A comparison whose column is declared as another type than it has."""
    kind, is_text = column.type.kind, column.type == STRING
    if declared == INT and kind is Kind.LONG:
        low, high = INTEGER_RANGES[Kind.INT]
        return _guarded(column, low, high, Compare(op, column, value))
    if is_text and column.role is Role.PARTITION and declared in (INT, LONG, DATE):
        return Compare(op, Call("cast", (column,), declared), value)
    text = value.value
    if declared == STRING and isinstance(text, str):
        if kind is Kind.DATE and _ISO_DATE.fullmatch(text) and (day := _day(text)) is not None:
            return _guarded(column, _FIRST_DAY, _LAST_DAY, Compare(op, column, Literal(day, DATE)))
        if kind in INTEGRAL_KINDS and op in (Op.EQ, Op.NE) and _PLAIN_INTEGER.fullmatch(text):
            return Compare(op, column, Literal(int(text), LONG))
    raise NotUnderstood(f"{column.path[0]} is of type {column.type}, not {declared}")


def _day(text: str) -> int | None:
    try:
        found = parse_as(text, DATE, "UTC")
    except ValueError:
        return None
    return found if isinstance(found, int) and found >= _FIRST_DAY else None


def _guarded(column: Column, low: int, high: int, inside: Expr) -> Expr:
    """The comparison where the column lies in low..high; elsewhere nobody knows what the client would get."""
    bounds = (Compare(Op.GE, column, Literal(low, column.type)), Compare(Op.LE, column, Literal(high, column.type)))
    why = Reason(ReasonCode.CROSS_TYPE, f"{column.path[0]} is of type {column.type}")
    elsewhere = Opaque("a cast beyond its type", why)
    return Or((And((*bounds, inside)), And((Not(And(bounds)), elsewhere))))


def _columns(op: Op, left: _Side, one: Column, right: _Side, other: Column) -> Expr:
    for side, column in ((left, one), (right, other)):
        if side.type is not None and column.type.kind not in _EXACT[side.type]:
            raise NotUnderstood(f"{column.path[0]} is of type {column.type}, not {side.type}")
    if one.type != other.type or one.type.collation is not None:
        raise NotUnderstood(f"columns of type {one.type} and {other.type} are not compared")
    return Compare(op, one, other)


def _literals(op: Op, left: _Side, right: _Side) -> Expr:
    declared = _declared(left, right)
    if declared == TIMESTAMP:
        raise NotUnderstood("two timestamp literals, which may have lost their microseconds")
    one, other = literal(left.value, left.type or declared), literal(right.value, right.type or declared)
    return Constant(None) if one.value is None or other.value is None else Compare(op, one, other)
