"""A bound predicate as an Iceberg expression in JSON, the form of a scan's filter.

In: a bound condition. Out: JSON values, or None where Iceberg has no such expression. Iceberg's expressions know TRUE and FALSE
only, so what is NULL in SQL is excluded in words: `a <> 5` is `a is not null and a <> 5`. (Of NaN they have no order at all.)
Nothing is rounded: a literal that the column's type does not hold exactly has no expression.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from lakeprune.predicate.passes.rebuild import conjuncts
from lakeprune.predicate.tree import And, Column, Compare, Constant, Expr, In, IsNull, IsTruth, Like, Literal, Not, Op, Or
from lakeprune.values.literals import date_text
from lakeprune.values.time.calendar import DAY
from lakeprune.values.types import DataType, Kind, Scalar

Json = Any
_TYPES = {Op.EQ: "eq", Op.NE: "not-eq", Op.LT: "lt", Op.LE: "lt-eq", Op.GT: "gt", Op.GE: "gt-eq"}
_SWAPPED = {Op.LT: Op.GT, Op.LE: Op.GE, Op.GT: Op.LT, Op.GE: Op.LE}
_NEGATED = {Op.EQ: Op.NE, Op.NE: Op.EQ, Op.LT: Op.GE, Op.LE: Op.GT, Op.GT: Op.LE, Op.GE: Op.LT}
_WHOLE = (Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG)
_DAYS = (-719_162, 2_932_896)  # 0001-01-01 to 9999-12-31: what ISO texts can say


def filter_of(bound: Expr) -> tuple[Json, bool]:
    """What can be expressed of a condition, conjunct by conjunct, and whether that is all of it; `true` when it is nothing."""
    parts = [expression(part) for part in conjuncts(bound)]
    known = [part for part in parts if part is not None]
    return _joined("and", known) if known else True, len(known) == len(parts)


def expression(bound: Expr, *, negated: bool = False) -> Json | None:
    """The expression that is true exactly where the condition (with `negated`, where NOT the condition) is TRUE."""
    match bound:
        case Constant(truth):
            return truth is not None and truth is not negated
        case Not(part):
            return expression(part, negated=not negated)
        case And(parts) | Or(parts):
            known = [expression(part, negated=negated) for part in parts]
            is_and = isinstance(bound, And) is not negated
            return None if any(each is None for each in known) else _joined("and" if is_and else "or", known)
        case IsNull(Column() as column):
            return {"type": "not-null" if negated else "is-null", "term": _term(column)}
        case IsTruth(part, truth) if not negated:
            return expression(part, negated=not truth)
        case Compare(op, left, right):
            return _compared(op, left, right, negated=negated)
        case In(Column() as column, options):
            return _listed(column, options, negated=negated)
        case Like(Column() as column, Literal(str(pattern)), escape, "like"):
            return _prefixed(column, pattern, escape, negated=negated)
        case _:
            return None


def _compared(op: Op, left: Expr, right: Expr, *, negated: bool) -> Json | None:
    if isinstance(left, Literal) and isinstance(right, Column):
        left, right, op = right, left, _SWAPPED.get(op, op)
    if not (isinstance(left, Column) and isinstance(right, Literal)):
        return None
    if op is Op.NULL_SAFE_EQ:
        if negated:
            return None
        if right.value is None:
            return {"type": "is-null", "term": _term(left)}
        op = Op.EQ
    value = _value(right, left.type)
    if value is None:
        return None
    op = _NEGATED[op] if negated else op
    found = {"type": _TYPES[op], "term": _term(left), "value": value}
    return _not_null(left, found) if op is Op.NE else found


def _listed(column: Column, options: Sequence[Expr], *, negated: bool) -> Json | None:
    values = [_value(option, column.type) if isinstance(option, Literal) else None for option in options]
    if any(value is None for value in values):
        return None
    found = {"type": "not-in" if negated else "in", "term": _term(column), "values": values}
    return _not_null(column, found) if negated else found


def _prefixed(column: Column, pattern: str, escape: str, *, negated: bool) -> Json | None:
    prefix = pattern.removesuffix("%")
    if prefix == pattern or not prefix or any(letter in prefix for letter in ("%", "_", escape)):
        return None
    found = {"type": "not-starts-with" if negated else "starts-with", "term": _term(column), "value": prefix}
    return _not_null(column, found) if negated else found


def _value(literal: Literal, type_: DataType) -> Json | None:
    """The literal as Iceberg writes a single value of the column's type; None when it is not one."""
    value, kind = literal.value, type_.kind
    if kind in _WHOLE:
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    if kind is Kind.DECIMAL:
        return _decimal(value, type_)
    if kind in (Kind.FLOAT, Kind.DOUBLE):
        return _float(value, kind)
    if literal.type is None or literal.type.kind is not kind:
        return None
    match value:
        case bool() | str():
            return value
        case bytes():
            return value.hex().upper()
        case int() if kind is Kind.DATE:
            return date_text(value) if _DAYS[0] <= value <= _DAYS[1] else None
        case int() if kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
            return _timestamp(value, "+00:00" if kind is Kind.TIMESTAMP else "")
        case _:
            return None


def _decimal(value: Scalar, type_: DataType) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    exact = Decimal(value)
    _, digits, exponent = exact.as_tuple()
    if not isinstance(exponent, int) or -exponent > type_.scale or len(digits) + exponent > type_.precision - type_.scale:
        return None
    return f"{exact:.{type_.scale}f}"


def _float(value: Scalar, kind: Kind) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        return None
    number = float(value)
    if kind is Kind.FLOAT and abs(number) < 3e38 and struct.unpack("f", struct.pack("f", number))[0] != number:
        return None
    return number if math.isfinite(number) else None


def _timestamp(micros: int, offset: str) -> str | None:
    days, time = divmod(micros, DAY)
    if not _DAYS[0] <= days <= _DAYS[1]:
        return None
    seconds, fraction = divmod(time, 1_000_000)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{date_text(days)}T{clock}.{fraction:06d}{offset}"


def _not_null(column: Column, found: Json) -> Json:
    return _joined("and", [{"type": "not-null", "term": _term(column)}, found])


def _joined(word: str, parts: Sequence[Json]) -> Json:
    """In halves: a list of a thousand alternatives is ten levels deep, not a thousand."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return {"type": word, "left": _joined(word, parts[:half]), "right": _joined(word, parts[half:])}


def _term(column: Column) -> str:
    return ".".join(column.path)
