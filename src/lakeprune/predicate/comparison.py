"""How two values of known types compare in Spark, and which values of a column a literal picks.

In: canonical values with their types. Out: an order, or `Bounds` of sets. A literal is never rounded into the column's
type (`int < 3.5` is `..3`); where engines disagree (a decimal against a FLOAT), the sets hold every interpretation.
Never guesses: types that do not compare give None or `EvaluationFailed`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from lakeprune.predicate.functions.function import EvaluationFailed, SparkFails
from lakeprune.predicate.functions.pieces import scaled
from lakeprune.predicate.tree import Literal, Profile
from lakeprune.values.bounds import Bounds, exactly, one_of_these
from lakeprune.values.floats import compare_floats, to_double, to_float32
from lakeprune.values.intervals import IntervalSet, compare, everything, from_intervals, nothing, values
from lakeprune.values.monotone import preimage_of
from lakeprune.values.time.calendar import DAY
from lakeprune.values.time.local_time import locals_of_instants
from lakeprune.values.time.zones import instant_of, local_of
from lakeprune.values.types import (
    DOUBLE,
    FLOATING_KINDS,
    INTEGRAL_KINDS,
    TIME_KINDS,
    TIMESTAMP,
    DataType,
    Family,
    Kind,
    Scalar,
)

MAX_DIGITS = 38  # of a decimal
_DIGITS = {Kind.BYTE: (3, 0), Kind.SHORT: (5, 0), Kind.INT: (10, 0), Kind.LONG: (20, 0)}  # as decimals, whole and scale
_EXACT_KINDS = INTEGRAL_KINDS | {Kind.DECIMAL}
_NUMBER_KINDS = _EXACT_KINDS | {Kind.FLOAT, Kind.DOUBLE}
# Of each operator, the one whose values may have a finer value that satisfies it, and the one whose finer values all do.
_FLOORED: dict[str, tuple[str | None, str | None]] = {
    "=": ("=", None), "!=": (None, "!="), "<": ("<=", "<"), "<=": ("<=", "<"), ">": (">=", ">"), ">=": (">=", ">"),
}  # fmt: skip


def order(left: Scalar, left_type: DataType, right: Scalar, right_type: DataType, profile: Profile) -> int:
    """-1, 0 or 1 as Spark orders two non-NULL values: NaN equals itself and is above everything, strings go by code point."""
    kinds = {left_type.kind, right_type.kind}
    if left_type.collation or right_type.collation:
        raise EvaluationFailed("a collation decides this comparison")
    if kinds <= _NUMBER_KINDS:
        return _order_numbers(left, left_type, right, right_type)
    if kinds <= TIME_KINDS:
        common = _common_time(left_type.kind, right_type.kind)
        left = as_time(left, left_type.kind, common, profile)
        right = as_time(right, right_type.kind, common, profile)
        return _sign(left, right)
    if len(kinds) == 1 and left_type.family is not None:
        return _sign(left, right)
    if Kind.STRING in kinds:
        return _order_text(left, left_type, right, right_type, profile)
    raise EvaluationFailed(f"{left_type} and {right_type} do not compare")


def rounded_scale(types: Iterable[DataType]) -> int | None:
    """The scale to which Spark rounds values of these exact types before it compares them; None when it need not.

    It brings them to one decimal type, and where that would take more than 38 digits, it gives up digits of the fraction:
    a decimal(38,0) equals 1.5 when it is 2.
    """
    known = [_DIGITS.get(type_.kind, (type_.precision - type_.scale, type_.scale)) for type_ in types]
    digits, scale = max(whole for whole, _ in known), max(scale for _, scale in known)
    return MAX_DIGITS - digits if digits + scale > MAX_DIGITS else None


def members(op: str, type_: DataType, literal: Literal, profile: Profile) -> Bounds | None:
    """The values v of `type_` for which `v op literal` is TRUE, None when the types do not compare without a guess."""
    if literal.type is None or literal.value is None or type_.family is None or literal.type.collation:
        return None
    kind, other, value = type_.kind, literal.type.kind, literal.value
    if kind in _NUMBER_KINDS and other in _NUMBER_KINDS:
        sets = [compare(op, value, type_), *(_converted(op, type_, value, convert) for convert in _conversions(kind, other))]
        scale = rounded_scale((type_, literal.type)) if Kind.DECIMAL in (kind, other) and kind in _EXACT_KINDS else None
        if scale is not None and other in _EXACT_KINDS:
            sets.append(_as_rounded(op, type_, value, scale))
        return one_of_these(sets)
    if kind in TIME_KINDS and other in TIME_KINDS:
        return _time_members(op, type_, literal, literal.type, profile)
    if kind is other:
        return exactly(whole(compare(op, value, type_), type_))
    return None


def floored(op: str, type_: DataType, literal: Literal, profile: Profile) -> Bounds | None:
    """The microseconds below which lies a time that may be finer, for which `time op literal` is TRUE.

    A time of 5.2 microseconds is above 5 and so is no other of those that begin with 5: 5 is in the outer set of `> 5` and not in
    the inner one. The literal may have lost digits itself, so the sets of `>=` are those of `>`.
    """
    loose, strict = _FLOORED[op]
    outer = Bounds(everything(type_), everything(type_)) if loose is None else members(loose, type_, literal, profile)
    inner = Bounds(nothing(type_), nothing(type_)) if strict is None else members(strict, type_, literal, profile)
    return None if outer is None or inner is None else Bounds(outer.outer, inner.inner)


def one_of(type_: DataType, options: Iterable[Literal], profile: Profile) -> Bounds | None:
    """The values of `type_` equal to one of the non-NULL options."""
    listed = list(options)
    floating = [option.type is not None and option.type.kind in FLOATING_KINDS for option in listed]
    if type_.kind not in _EXACT_KINDS or not any(floating) or all(floating):
        return _one_by_one(type_, listed, profile)
    # Spark brings a list to one type: a single double in it makes every comparison one of doubles.
    doubles = [Literal(to_double(option.value), DOUBLE) for option in listed]
    promoted = [option if is_floating else other for option, other, is_floating in zip(listed, doubles, floating, strict=True)]
    exact, as_doubles = _one_by_one(type_, listed, profile), _one_by_one(type_, promoted, profile)
    if exact is None or as_doubles is None:
        return None
    return Bounds(exact.outer.union(as_doubles.outer), exact.inner.intersect(as_doubles.inner))


def _one_by_one(type_: DataType, options: Iterable[Literal], profile: Profile) -> Bounds | None:
    if type_.family is None:
        return None
    options = tuple(options)
    scale = _list_scale(type_, options)
    possible: list[Any] = []
    certain: list[Any] = []
    harder: list[Bounds] = []
    for option in options:
        if scale is not None:
            sets = [compare("=", option.value, type_), _as_rounded("=", type_, option.value, scale)]
            harder.append(one_of_these(sets))
            continue
        points = _points(type_, option)
        if points is not None:
            possible.extend(points[0])
            certain.extend(points[1])
            continue
        bounds = members("=", type_, option, profile)
        if bounds is None:
            return None
        harder.append(bounds)
    outer = _all(values(possible, type_), [bounds.outer for bounds in harder], type_)
    if len(possible) == len(certain) and all(bounds.is_exact() for bounds in harder):
        return exactly(outer)
    return Bounds(outer, _all(values(certain, type_), [bounds.inner for bounds in harder], type_))


def _list_scale(type_: DataType, options: tuple[Literal, ...]) -> int | None:
    """`rounded_scale` of a whole list, which Spark brings to one type."""
    types = {type_, *(option.type for option in options if option.type is not None)}
    kinds = {found.kind for found in types}
    return rounded_scale(types) if Kind.DECIMAL in kinds and kinds <= _EXACT_KINDS else None


def whole(found: IntervalSet, type_: DataType) -> IntervalSet:
    """The same set in its one form: a boolean set is named by the values it has, not by open ends."""
    if type_.family is not Family.BOOLEAN:
        return found
    have = [value for value in (False, True) if found.contains(value)]
    return everything(type_) if len(have) == 2 else values(have, type_)


def as_time(value: Any, kind: Kind, target: Kind, profile: Profile) -> Any:
    """A date or timestamp cast to another time kind; a literal finer than a microsecond keeps its exact rest."""
    if kind is target:
        return value
    whole_value, rest = (value, 0) if isinstance(value, int) else divmod(Fraction(value), 1)
    if kind is Kind.DATE:
        local = whole_value * DAY
        return local if target is Kind.TIMESTAMP_NTZ else instant_of(local, profile.zone)
    if target is Kind.DATE:
        local = whole_value if kind is Kind.TIMESTAMP_NTZ else local_of(whole_value, profile.zone)
        return local // DAY
    moved = instant_of if target is Kind.TIMESTAMP else local_of
    return moved(whole_value, profile.zone) + rest


def _order_numbers(left: Any, left_type: DataType, right: Any, right_type: DataType) -> int:
    kinds = {left_type.kind, right_type.kind}
    if kinds <= _EXACT_KINDS:
        exactly_so = _sign(left, right)  # Python compares int and Decimal exactly
        scale = rounded_scale((left_type, right_type)) if Kind.DECIMAL in kinds else None
        if scale is not None and exactly_so != _sign(rounded(left, scale), rounded(right, scale)):
            raise EvaluationFailed("engines disagree whether these decimals are rounded")
        return exactly_so
    as_doubles = compare_floats(to_double(left), to_double(right))
    if Kind.FLOAT in kinds and not kinds <= {Kind.FLOAT, Kind.DOUBLE}:
        as_floats = compare_floats(to_float32(left), to_float32(right))
        if as_floats != as_doubles:
            raise EvaluationFailed("engines disagree whether the literal is rounded to FLOAT here")
    return as_doubles


def rounded(value: Any, scale: int) -> Decimal:
    return scaled(Fraction(value), scale)


def _sign(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def _order_text(left: Any, left_type: DataType, right: Any, right_type: DataType, profile: Profile) -> int:
    """Text against another type: Spark casts the text; only text that every mode reads alike has an answer."""
    from lakeprune.values.literals import parse_as

    if left_type.kind is not Kind.STRING:
        return -_order_text(right, right_type, left, left_type, profile)
    target = right_type
    if target.kind in INTEGRAL_KINDS:
        digits = left.strip(" ")
        if not (digits.lstrip("+-").isascii() and digits.lstrip("+-").isdigit()) or len(digits) > 18:
            fails = SparkFails if not any(letter.isdigit() for letter in left) else EvaluationFailed
            raise fails(f"{left!r} is not a plain integer")
        return _sign(int(digits), right)
    if target.kind not in TIME_KINDS:
        raise EvaluationFailed(f"text against {target}")
    try:
        return _sign(parse_as(left, target, profile.zone), right)
    except ValueError as problem:
        raise EvaluationFailed(f"{left!r} is not a {target}") from problem


def _common_time(left: Kind, right: Kind) -> Kind:
    if left is right:
        return left
    return Kind.TIMESTAMP if Kind.TIMESTAMP in (left, right) else Kind.TIMESTAMP_NTZ


def _points(type_: DataType, option: Literal) -> tuple[list[Any], list[Any]] | None:
    """The values of `type_` that may and that certainly do equal the option; None when that takes more than a glance.

    What `members` would say about `=`, without its sets: lists can have 100,000 options.
    """
    if option.type is None or type_.collation or option.type.collation:
        return None
    kind, other, value = type_.kind, option.type.kind, option.value
    if kind is other or (kind in _EXACT_KINDS and other in _EXACT_KINDS):
        return [value], [value]
    if kind is Kind.DOUBLE and other in _EXACT_KINDS:
        near = to_double(value)
        return [near], [near] if near == value else []
    return None


def _conversions(kind: Kind, other: Kind) -> list[Callable[[Any], float]]:
    """What Spark or another engine may convert both sides to before it compares them; none where both are exact.

    Cast to double, a LONG 2**53 + 1 equals 2**53; cast to FLOAT, as Spark does without ANSI mode, 2**24 + 1 equals 2**24.
    """
    if kind is other or (kind in _EXACT_KINDS and other in _EXACT_KINDS):
        return []
    return [to_double, to_float32] if Kind.FLOAT in (kind, other) and kind is not Kind.DOUBLE else [to_double]


def _converted(op: str, type_: DataType, value: Any, convert: Callable[[Any], float]) -> IntervalSet:
    """The set when both sides are converted; floats and doubles in a column are what they are."""
    if type_.kind in FLOATING_KINDS:
        return compare(op, convert(value), type_)
    return preimage_of(convert, compare(op, convert(value), DOUBLE), type_)


def _as_rounded(op: str, type_: DataType, value: Any, scale: int) -> IntervalSet:
    """The set when both sides are rounded to a scale, as Spark does when their common type has no room for more."""
    goal = DataType(Kind.DECIMAL, MAX_DIGITS, scale)
    return preimage_of(lambda found: rounded(found, scale), compare(op, rounded(value, scale), goal), type_)


def _all(points: IntervalSet, others: list[IntervalSet], type_: DataType) -> IntervalSet:
    if not others:
        return whole(points, type_)
    sets = [points, *others]
    intervals = [interval for found in sets for interval in found.intervals]
    return whole(from_intervals(intervals, type_, nan=any(found.nan for found in sets)), type_)


def _time_members(op: str, type_: DataType, literal: Literal, other_type: DataType, profile: Profile) -> Bounds:
    kind, other, value = type_.kind, other_type.kind, literal.value
    common = _common_time(kind, other)
    target = as_time(value, other, common, profile)
    if kind is common:
        return exactly(compare(op, target, type_))
    if kind is Kind.TIMESTAMP_NTZ:  # against an instant: the column is read in the session zone
        return locals_of_instants(compare(op, target, TIMESTAMP), profile.zone)
    # A date against a moment is its midnight; midnights are in order, so one threshold decides.
    if common is Kind.TIMESTAMP_NTZ:
        return exactly(compare(op, Fraction(target) / DAY, type_))
    return exactly(compare(op, _day_of_midnight(target, profile), type_))


def _day_of_midnight(instant: Any, profile: Profile) -> int | Fraction:
    """The date whose midnight is this instant, or a fraction between the two dates whose midnights are around it."""
    near = local_of(math.floor(instant), profile.zone) // DAY
    for day in range(near - 2, near + 4):
        midnight = instant_of(day * DAY, profile.zone)
        if midnight == instant:
            return day
        if midnight > instant:
            return Fraction(2 * day - 1, 2)
    raise AssertionError("a midnight lies within three days of every instant")
