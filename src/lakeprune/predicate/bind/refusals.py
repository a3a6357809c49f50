"""Comparisons that Spark does not accept, with what was probably meant: LP106.

In: the bound sides of a comparison, or of a list. Out: an error, or None. Judged by Spark's recorded answers: a date or timestamp
against a number or a boolean is refused in both modes, and so is a boolean ordered against a number or listed with one. That a
boolean equals a number is refused under ANSI only, and so are dates in a list of numbers and text: `Profile.ansi` says which
session is meant. Never refuses what Spark accepts: tests/predicate/test_spark_answers.py holds every recorded predicate to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lakeprune.errors import PredicateError
from lakeprune.predicate import tree as t
from lakeprune.predicate.read.sql.spans import MAX_REPEATED
from lakeprune.predicate.tree import Expr, Profile
from lakeprune.predicate.walk import type_of
from lakeprune.predicate.write.pasteable import whole_text
from lakeprune.predicate.write.show import show
from lakeprune.values.literals import format_value, parse_as
from lakeprune.values.time.calendar import SECOND, civil_of, days_of
from lakeprune.values.types import BOOLEAN, DATE, FLOATING_KINDS, INTEGRAL_KINDS, STRING, TIME_KINDS, TIMESTAMP, DataType, Kind

_NUMBERS = INTEGRAL_KINDS | FLOATING_KINDS | {Kind.DECIMAL}
_EQUALITIES = frozenset({t.Op.EQ, t.Op.NE, t.Op.NULL_SAFE_EQ})


def is_number(expr: Expr) -> bool:
    return _words(expr) == "a number"


def refused_comparison(op: t.Op, left: Expr, right: Expr, profile: Profile) -> PredicateError | None:
    """The error of `left op right`, None when Spark compares them."""
    for value, other in ((left, right), (right, left)):
        words = _words(value), _words(other)
        if words[0] == "a boolean" and words[1] == "a number" and op in _EQUALITIES and not profile.ansi:
            return None
        if None not in words and words[0] != words[1] and words[0] != "a number":
            fix = _boolean_fix(op, value, other) if words[0] == "a boolean" else _time_fix(op, value, other, profile)
            fix = fix or _year_fix(op, value, other)
            return _error(value, other, fix)
    return None


def refused_list(value: Expr, written: Iterable[Expr], options: tuple[Expr, ...], profile: Profile) -> PredicateError | None:
    """The error of `value IN (options)`, None when Spark reads the list."""
    mine = _words(value)
    has_text = any(isinstance(option, t.Literal) and isinstance(option.value, str) for option in written)
    if mine is None or (has_text and mine != "a boolean" and not profile.ansi):
        return None
    other = next((option for option in options if _words(option) not in (None, mine)), None)
    if other is None:
        return None
    is_truth = _words(value) == "a boolean"
    fix = _truths_fix(value, options) if is_truth else _time_fix(t.Op.EQ, value, other, profile)
    return _error(value, other, fix)


def refused_nested(column: t.Column, leaves: tuple[t.Column, ...], op: t.Op, literal: t.Literal) -> PredicateError | None:
    """The error of a struct, array or map compared with a constant."""
    name, written = t.Name(column.path), t.Literal(literal.value)
    match column.type.kind:
        case Kind.STRUCT:
            is_text = isinstance(literal.value, str)
            fields = [leaf for leaf in leaves if (leaf.type == STRING) == is_text and leaf.type.kind is not Kind.BOOLEAN]
            found = [f"write: {show(t.Compare(op, t.Name(leaf.path), written))}" for leaf in fields[:1]]
            fix = "compare one of its fields" + "".join(f", {text}" for text in found)
        case Kind.ARRAY:
            fix = f"write: {show(t.Call('array_contains', (name, written)))}"
        case Kind.MAP:
            fix = f"compare one of its values, write: {show(name)}['key'] {op.value} {show(written)}"
        case _:
            return None
    what = f"`{'.'.join(column.path)}` is {_article(column.type)}, {show(written)} is one value"
    return PredicateError("LP106", what, why="Spark does not compare them", fix=fix)


def refused_tuples(expr: t.Compare | t.In, left: list[Expr], others: list[list[Expr]], zone: str) -> PredicateError | None:
    """The error of tuples with parts of different types: Spark has no common type for them, unless their names agree, too."""
    for right in others:
        pairs = list(zip(left, right, strict=True))
        wrong = next(((one, other) for one, other in pairs if type_of(one) is not None and type_of(one) != type_of(other)), None)
        if wrong is not None and _names_in_tuple(left) != _names_in_tuple(right):
            what = f"`{show(wrong[0])}` is of type {type_of(wrong[0])}, {show(wrong[1])} of type {type_of(wrong[1]) or 'NULL'}"
            why = "Spark compares tuples whose parts are of the same types, and no others"
            return PredicateError("LP106", what, why=why, fix=_tuples_fix(expr, left, others, zone))
    return None


def _names_in_tuple(parts: list[Expr]) -> list[str]:
    """As Spark names them: a column or field by its own name, anything else by its place."""
    return [part.path[-1].lower() if isinstance(part, t.Column) else f"col{place}" for place, part in enumerate(parts, 1)]


def _tuples_fix(expr: t.Compare | t.In, left: list[Expr], others: list[list[Expr]], zone: str) -> str | None:
    types = [type_of(part) for part in left]
    try:
        value, *tuples = (
            t.Call("struct", tuple(_of_type(part, type_, zone) for part, type_ in zip(each, types, strict=True)))
            for each in (left, *others)
        )
    except ValueError:
        return None
    fixed = whole_text(t.In(value, tuple(tuples)) if isinstance(expr, t.In) else t.Compare(expr.op, value, tuples[0]), zone)
    return None if fixed is None else f"write: {fixed}"


def _of_type(part: Expr, type_: DataType | None, zone: str) -> Expr:
    """A constant as one of the type; anything else as it is. ValueError for text that is none."""
    if not isinstance(part, t.Literal) or type_ is None or part.type == type_:
        return part
    if isinstance(part.value, str) and type_.kind in TIME_KINDS:
        return t.Literal(parse_as(part.value, type_, zone), type_)
    return t.Call("cast", (part,), type_)


def refused_arithmetic(function: str, args: tuple[Expr, ...], text: str) -> PredicateError | None:
    """The error of a number added to a timestamp, or subtracted from it; None for any other arithmetic."""
    types = [type_of(arg) for arg in args]
    number = next((arg for arg in args if is_number(arg)), None)
    has_moment = any(type_ is not None and type_.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ) for type_ in types)
    if function not in ("+", "-") or len(args) != 2 or number is None or not has_moment:
        return None
    done = "added to" if function == "+" else "subtracted from"
    what = f"{show(number)} is a number: it cannot be {done} a timestamp"
    found = list(re.finditer(rf"(?<=\{function})(\s*){re.escape(show(number))}(?![\w.])(?!\s*\w*(?:day|hour|minute)s?\b)", text))
    fix = "say of what, as in INTERVAL 7 DAYS"
    if len(found) == 1 and len(text) <= MAX_REPEATED:
        fix = f"write: {text[: found[0].start()]}{found[0][1]}INTERVAL {show(number)} DAYS{text[found[0].end() :]}"
    return PredicateError("LP106", what, why="Spark refuses it", fix=fix)


def fails_in_spark(predicate: Expr, why: str, profile: Profile) -> PredicateError:
    """The error of a predicate that Spark cannot compute for some partition value."""
    what = f"Spark fails on {show(predicate, profile.zone)}: {why}"
    tried = _tried(predicate)
    fix = None if tried == predicate else f"write: {show(tried, profile.zone)}"
    return PredicateError("LP106", what, why="a cast that fails ends the query in ANSI mode, Spark's default", fix=fix)


def _tried(expr: Expr) -> Expr:
    """The same with TRY_CAST for CAST, and a number beside text as text."""
    match expr:
        case t.Compare(op, t.Call("cast", args, type_), right):
            return t.Compare(op, t.Call("try_cast", args, type_), right)
        case t.Compare(op, left, t.Literal(int(number))) if type_of(left) == STRING:
            return t.Compare(op, left, t.Literal(str(number), STRING))
        case t.In(t.Call("cast", args, type_), options):
            return t.In(t.Call("try_cast", args, type_), options)
        case t.Not(part):
            return t.Not(_tried(part))
        case _:
            return expr


def _error(value: Expr, other: Expr, fix: str | None) -> PredicateError:
    what = f"`{show(value)}` is {_described(value)}, {show(other)} is {_described(other)}"
    return PredicateError("LP106", what, why="Spark does not compare them", fix=fix)


def _words(expr: Expr) -> str | None:
    """What the value is to these rules; None where they say nothing, as for text and NULL."""
    type_ = type_of(expr)
    if type_ is None or (isinstance(expr, t.Literal) and expr.value is None):
        return None
    kind = type_.kind
    return "a number" if kind in _NUMBERS else "a time" if kind in TIME_KINDS else "a boolean" if kind is Kind.BOOLEAN else None


def _described(expr: Expr) -> str:
    type_ = type_of(expr)
    return "a number" if type_ is None or type_.kind in _NUMBERS else _article(type_)


def _article(type_: DataType) -> str:
    return f"{'an' if type_.kind in (Kind.ARRAY, Kind.INT) else 'a'} {type_}"


def _boolean_fix(op: t.Op, value: Expr, other: Expr) -> str | None:
    if isinstance(value, t.Literal):
        return f"compare {show(other)} with {_words(other) or 'a value of its type'}"
    constant = other.value if isinstance(other, t.Literal) else None
    if op not in _EQUALITIES or constant not in (0, 1):
        return "compare it with TRUE or FALSE"
    return f"write: {show(t.Compare(op, value, t.Literal(bool(constant), BOOLEAN)))}"


def _truths_fix(value: Expr, options: tuple[Expr, ...]) -> str:
    found = [option.value if isinstance(option, t.Literal) else "" for option in options]
    if not all(constant in (0, 1, None) for constant in found):
        return "compare it with TRUE or FALSE"
    truths = tuple(t.Literal(None if constant is None else bool(constant), BOOLEAN) for constant in found)
    return f"write: {show(t.In(value, truths))}"


def _time_fix(op: t.Op, value: Expr, other: Expr, profile: Profile) -> str | None:
    """The date or moment that a number looks like."""
    type_ = type_of(value)
    days = [] if type_ is None or type_.kind not in TIME_KINDS else _dates_in(other)
    if len(days) > 1:
        return f"did you mean {' or '.join(days)}?"
    meant = days[0] if days else None
    if meant is None and type_ == TIMESTAMP and isinstance(other, t.Literal) and isinstance(other.value, int):
        unit = {10: SECOND, 13: 1_000, 16: 1}.get(len(str(abs(other.value))))
        meant = None if unit is None else format_value(other.value * unit, TIMESTAMP, profile.zone)
    if meant is None or not isinstance(value, t.Column):
        return None
    return f"did you mean {meant}? write: {show(value)} {op.value} {meant}"


def _year_fix(op: t.Op, value: Expr, other: Expr) -> str | None:
    """`day = 2025`."""
    is_year = isinstance(other, t.Literal) and isinstance(other.value, int) and 1900 <= other.value <= 2200
    return f"write: year({show(value)}) {op.value} {show(other)}" if is_year and isinstance(value, t.Column) else None


def _dates_in(expr: Expr) -> list[str]:
    """`20250103`, `2025-01-03`, a subtraction, and `03/01/2025`, a division, as the dates they look like."""
    match expr:
        case t.Literal(int(number)) if 1000_00_00 < number < 9999_99_99:
            return days_like(number // 10_000, number // 100 % 100, number % 100)
        case t.Call("-" | "/" as sign, (t.Call(again, (t.Literal(int(first)), t.Literal(int(second)))), t.Literal(int(third)))):
            return days_like(first, second, third) if sign == again else []
        case _:
            return []


def days_like(first: int, second: int, third: int) -> list[str]:
    """The dates that three numbers can mean, as literals: 3/1/2025 is in January to some and in March to others.

    >>> days_like(3, 1, 2025), days_like(2025, 1, 3), days_like(2025, 13, 1)
    (["'2025-01-03'", "'2025-03-01'"], ["'2025-01-03'"], [])
    """
    orders = [(first, second, third)] if first > 31 else [(third, second, first), (third, first, second)]
    real = [each for each in orders if each[0] >= 1000 and 1 <= each[1] <= 12 and civil_of(days_of(*each)) == each]
    return list(dict.fromkeys(format_value(days_of(*each), DATE) for each in real))
