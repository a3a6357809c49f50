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
from lakeprune.predicate.write.show import show
from lakeprune.values.literals import format_value
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
            return _error(value, other, fix)
    return None


def refused_list(value: Expr, written: Iterable[Expr], options: Iterable[Expr], profile: Profile) -> PredicateError | None:
    """The error of `value IN (options)`, None when Spark reads the list."""
    mine = _words(value)
    has_text = any(isinstance(option, t.Literal) and isinstance(option.value, str) for option in written)
    if mine is None or (has_text and mine != "a boolean" and not profile.ansi):
        return None
    other = next((option for option in options if _words(option) not in (None, mine)), None)
    return None if other is None else _error(value, other, _time_fix(t.Op.EQ, value, other, profile))


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


def _time_fix(op: t.Op, value: Expr, other: Expr, profile: Profile) -> str | None:
    """The date or moment that a number looks like."""
    type_ = type_of(value)
    meant = None if type_ is None or type_.kind not in TIME_KINDS else _date_in(other)
    if meant is None and type_ == TIMESTAMP and isinstance(other, t.Literal) and isinstance(other.value, int):
        unit = {10: SECOND, 13: 1_000, 16: 1}.get(len(str(abs(other.value))))
        meant = None if unit is None else format_value(other.value * unit, TIMESTAMP, profile.zone)
    if meant is None or not isinstance(value, t.Column):
        return None
    return f"did you mean {meant}? write: {show(value)} {op.value} {meant}"


def _date_in(expr: Expr) -> str | None:
    """`20250103` and `2025-01-03`, a subtraction, as the date they look like."""
    match expr:
        case t.Literal(int(number)) if 1000_00_00 < number < 9999_99_99:
            fields = number // 10_000, number // 100 % 100, number % 100
        case t.Call("-", (t.Call("-", (t.Literal(int(year)), t.Literal(int(month)))), t.Literal(int(day)))):
            fields = year, month, day
        case _:
            return None
    if not 1 <= fields[1] <= 12:
        return None
    days = days_of(*fields)
    return format_value(days, DATE) if civil_of(days) == fields else None
