"""Literals take a type: their own, or that of the column they are compared with.

In: a literal and the type it meets. Out: the same value, exactly, with its type; never rounded, never clamped. ValueError when
text is not of the type.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction

from lakeprune.predicate.functions.cast_text import to_text
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.functions.pieces import scaled
from lakeprune.predicate.tree import FALSE, TRUE, And, Call, Column, Compare, Constant, Expr, In, Literal, Not, Op, Or, Profile
from lakeprune.predicate.walk import type_of
from lakeprune.values.floats import to_double, to_float32
from lakeprune.values.literals import parse_as
from lakeprune.values.time.zones import local_of
from lakeprune.values.types import (
    BOOLEAN,
    DOUBLE,
    FLOATING_KINDS,
    INT,
    INTEGER_RANGES,
    INTEGRAL_KINDS,
    LONG,
    NESTED_KINDS,
    STRING,
    TIME_KINDS,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DataType,
    Kind,
)

_OWN = {bool: BOOLEAN, float: DOUBLE, str: STRING, bytes: DataType(Kind.BINARY)}
_SAFE_DIGITS = 15  # a decimal of so many digits, counted to its column's scale, is apart from its neighbours as a double, too
_ORDERS = frozenset({Op.LT, Op.LE, Op.GT, Op.GE})
_AS_TEXT_ANYWAY = FLOATING_KINDS | {Kind.STRING, Kind.BINARY}
_KEEPS_TEXT = NESTED_KINDS | {Kind.STRING, Kind.OTHER}


def own_type(literal: Literal) -> Literal:
    """The literal with the type Spark gives it by itself.

    >>> own_type(Literal(3_000_000_000)).type
    DataType(kind=<Kind.LONG: 'long'>, precision=0, scale=0, collation=None)
    """
    value = literal.value
    if literal.type is not None or value is None:
        return literal
    known = _OWN.get(type(value))
    if known is not None:
        return Literal(value, known)
    if isinstance(value, int):
        return Literal(value, _integer_type(value))
    return Literal(value, _decimal_type(value) if isinstance(value, Decimal) else None)


def typed(literal: Literal, type_: DataType | None, zone: str) -> Literal:
    """The literal as it is compared with a value of `type_`: text is read as that type, anything else keeps its own."""
    value = literal.value
    if isinstance(value, str) and type_ is not None and type_.kind not in _KEEPS_TEXT:
        return Literal(parse_as(value, type_, zone), type_)
    if isinstance(value, str) and type_ is not None and type_.kind is Kind.STRING:
        return Literal(value, type_)
    return own_type(literal)


def is_finer_than_type(literal: Literal) -> bool:
    """Whether a timestamp has digits below a microsecond."""
    return isinstance(literal.value, Decimal) and literal.type is not None and literal.type.kind in TIME_KINDS


def can_be_finer(type_: DataType | None) -> bool:
    """Whether text can be finer than a value of the type."""
    return type_ is None or type_.kind is Kind.FLOAT or type_.kind in TIME_KINDS


def finer_or_coarser(expr: Compare | In) -> tuple[Expr, Expr] | None:
    """The two meanings of text finer than its column's type, the one with more TRUE rows first; None when there is one.

    Spark truncates a timestamp's digits after the microsecond, other engines keep them: `ts >= '...00.0000005'` holds for `...00`
    only if they are truncated. Against a FLOAT column '0.1' is a float or a double, depending on Spark's ANSI mode.
    """
    if isinstance(expr, In):
        coarse = tuple([_coarse(option) for option in expr.options])
        return None if all(a is b for a, b in zip(coarse, expr.options, strict=True)) else (In(expr.value, coarse), expr)
    left, right = _coarse(expr.left), _coarse(expr.right)
    if left is expr.left and right is expr.right:
        return None
    other = Compare(expr.op, left, right)
    return (expr, other) if _exact_is_wider(expr, other) else (other, expr)


def beyond_every_integer(expr: Compare) -> tuple[Expr, Expr] | None:
    """Both answers on NULL where an integer is ordered against a number beyond every LONG; None for any other comparison.

    Spark takes `i < 9223372036854775808` for TRUE as it stands, without a look at `i`; elsewhere it is NULL for NULL.
    """
    is_left = isinstance(expr.left, Literal)
    literal, other = (expr.left, expr.right) if is_left else (expr.right, expr.left)
    if not isinstance(literal, Literal) or not isinstance(other, Column | Call) or expr.op not in _ORDERS:
        return None
    if not isinstance(literal.value, int | Decimal) or literal.type is None or literal.type.kind is not Kind.DECIMAL:
        return None
    low, high = INTEGER_RANGES[Kind.LONG]
    if other.type is None or other.type.kind not in INTEGRAL_KINDS or low <= literal.value <= high:
        return None
    is_above = (literal.value > high) != is_left
    return (TRUE, expr) if is_above == (expr.op in (Op.LT, Op.LE)) else (expr, FALSE)


def overflowing(expr: Compare, written: tuple[Expr, Expr]) -> list[Expr]:
    """What else text beyond its column's integers can mean: NULL, where Spark's ANSI mode is off.

    `b != '-129'` on a TINYINT is TRUE of every value with ANSI mode and NULL of every value without. A list has no such case.
    """
    sides = (expr.left, expr.right)
    changed = [Literal(None) if is_text(text) and _is_beyond(side) else side for side, text in zip(sides, written, strict=True)]
    return [] if all(a is b for a, b in zip(changed, sides, strict=True)) else [Compare(expr.op, *changed)]


def _is_beyond(side: Expr) -> bool:
    if not isinstance(side, Literal) or side.type is None or side.type.kind not in INTEGRAL_KINDS:
        return False
    low, high = INTEGER_RANGES[side.type.kind]
    return isinstance(side.value, int | Decimal) and not low <= side.value <= high


def null_among_floats(member: In) -> list[Expr]:
    """What else a list with a NULL can mean for a NaN: not in the list, which is FALSE, where the list is long.

    Spark looks values of long lists up in a set, and asks there for NaN before it asks for NULL.
    """
    type_ = type_of(member.value)
    present = tuple(option for option in member.options if not isinstance(option, Literal) or option.value is not None)
    if type_ is None or type_.kind not in FLOATING_KINDS or not 0 < len(present) < len(member.options):
        return []
    is_nan = Compare(Op.EQ, member.value, Literal(math.nan, type_))
    return [Or((In(member.value, present), And((Constant(None), Not(is_nan)))))]


def decimal_meanings(expr: Compare | In, written: tuple[Expr, ...]) -> list[Expr]:
    """What else a decimal against text can mean: Spark compares both as doubles, or rounds the text to the decimal's scale.

    Up to 15 digits that makes no difference; beyond, '9007199254740993' equals 9007199254740992.
    """
    values = expr.options if isinstance(expr, In) else (expr.left, expr.right)
    found: list[Expr] = []
    for change in (_as_double, _rounded):
        changed = [change(value) if is_text(text) else value for value, text in zip(values, written, strict=True)]
        if any(a is not b for a, b in zip(changed, values, strict=True)):
            found.append(In(expr.value, tuple(changed)) if isinstance(expr, In) else Compare(expr.op, *changed))
    if not found and isinstance(expr, In):
        found += _as_list_of_doubles(expr, written)
    return found


def _as_list_of_doubles(member: In, written: tuple[Expr, ...]) -> list[Expr]:
    """The list as Spark's ANSI mode reads text beside decimals: all of it as doubles, also what is not text.

    A LONG -9223372036854775808 is in (9223372036854775808, -9223372036854775804, '0') then.
    """
    type_ = type_of(member.value)
    literals = [option for option in member.options if isinstance(option, Literal) and option.type is not None]
    kinds = {literal.type.kind for literal in literals if literal.type is not None}
    if type_ is None or type_.kind not in INTEGRAL_KINDS | {Kind.DECIMAL} or Kind.DECIMAL not in kinds | {type_.kind}:
        return []
    if all(_is_apart(literal.value, type_.scale) for literal in literals if isinstance(literal.value, int | Decimal)):
        return []
    doubles = [
        Literal(to_double(option.value), DOUBLE) if is_text(text) and isinstance(option, Literal) else option
        for option, text in zip(member.options, written, strict=True)
    ]
    return [In(member.value, tuple(doubles))]


def _is_apart(value: int | Decimal, scale: int) -> bool:
    """Whether a number differs from its neighbours of that scale as a double, too."""
    exact = Decimal(value)
    return len(exact.as_tuple().digits) <= _SAFE_DIGITS and exact.adjusted() + 1 + scale <= _SAFE_DIGITS


def is_text(written: Expr) -> bool:
    """Whether an option or a side is a plain string literal, before it took a type."""
    return isinstance(written, Literal) and written.type is None and isinstance(written.value, str)


def _as_double(literal: Expr) -> Expr:
    if not isinstance(literal, Literal) or not isinstance(literal.value, Decimal) or literal.type is None:
        return literal
    if _is_apart(literal.value, literal.type.scale):
        return literal
    return Literal(float(literal.value), DOUBLE) if literal.type.kind is Kind.DECIMAL else literal


def _rounded(literal: Expr) -> Expr:
    if not isinstance(literal, Literal) or not isinstance(literal.value, Decimal) or literal.type is None:
        return literal
    if literal.type.kind is not Kind.DECIMAL or -int(literal.value.as_tuple().exponent) <= literal.type.scale:
        return literal
    return Literal(scaled(Fraction(literal.value), literal.type.scale), literal.type)


def _exact_is_wider(exact: Compare, coarse: Compare) -> bool:
    if exact.op in (Op.EQ, Op.NULL_SAFE_EQ, Op.NE):
        return exact.op is Op.NE  # no value of the column equals the exact one
    is_left = coarse.left is not exact.left
    fine, rounded = (exact.left, coarse.left) if is_left else (exact.right, coarse.right)
    rose = isinstance(fine, Literal) and isinstance(rounded, Literal) and Fraction(rounded.value) > Fraction(fine.value)  # type: ignore[arg-type]  # both are finite numbers
    return (exact.op in (Op.LT, Op.LE)) == (rose == is_left)


def _coarse(expr: Expr) -> Expr:
    """A literal rounded to its type as Spark rounds text; the literal itself when nothing is lost."""
    if not isinstance(expr, Literal) or expr.type is None:
        return expr
    if isinstance(expr.value, Decimal) and is_finer_than_type(expr):
        return Literal(int(expr.value.to_integral_value(rounding=ROUND_FLOOR)), expr.type)
    if isinstance(expr.value, float) and expr.type.kind is Kind.FLOAT and math.isfinite(expr.value):
        rounded = to_float32(expr.value)
        return Literal(rounded, expr.type) if rounded != expr.value else expr
    return expr


def _integer_type(value: int) -> DataType:
    for type_ in (INT, LONG):
        low, high = INTEGER_RANGES[type_.kind]
        if low <= value <= high:
            return type_
    return DataType(Kind.DECIMAL, len(str(abs(value))), 0)


def _decimal_type(value: Decimal) -> DataType:
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    return DataType(Kind.DECIMAL, max(len(digits) + max(0, int(exponent)), scale, 1), scale)


def text_meanings(member: In, written: tuple[Expr, ...], profile: Profile) -> Iterator[Expr]:
    """The list compared as text, when that can differ from the list itself."""
    type_ = type_of(member.value)
    if type_ is None or type_.kind in (Kind.STRING, Kind.BINARY) or not any(is_text(option) for option in written):
        return
    pairs = list(zip(member.options, written, strict=True))
    kept = tuple(option for option, text in pairs if _is_written_alike(option, text, type_, profile))
    if type_ == TIMESTAMP and profile.zone != "UTC" and kept:
        # A wall clock that shows a time twice gives two instants the same text.
        local = tuple(Literal(local_of(option.value, profile.zone), TIMESTAMP_NTZ) if isinstance(option, Literal)
                      and isinstance(option.value, int) else option for option in kept)  # fmt: skip
        yield _list(Call("cast", (member.value,), TIMESTAMP_NTZ), local, member)
    elif len(kept) < len(pairs):
        yield _list(member.value, kept, member)


def _list(value: Expr, kept: tuple[Expr, ...], member: In) -> Expr:
    if any(isinstance(option, Literal) and option.value is not None for option in kept):
        return In(value, kept)
    has_null = any(isinstance(option, Literal) and option.value is None for option in member.options)
    return Constant(None) if has_null else And((member, Not(member)))


def _is_written_alike(option: Expr, written: Expr, type_: DataType, profile: Profile) -> bool:
    """Whether the option, as text, is the text of the value of the column that equals it."""
    if not isinstance(option, Literal) or not isinstance(written, Literal) or type_.kind in _AS_TEXT_ANYWAY:
        return False
    if option.value is None:
        return True
    if not is_text(written):
        return option.type == type_ or (option.type is not None and {option.type.kind, type_.kind} <= INTEGRAL_KINDS)
    if isinstance(option.value, Decimal) and -int(option.value.as_tuple().exponent) != type_.scale:
        return False  # '3' is not how Spark writes a decimal(5,2); nor is a timestamp finer than a microsecond
    try:
        return to_text(option.value, type_, profile) == written.value
    except EvaluationFailed:
        return False
