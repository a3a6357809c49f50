"""substring(x, pos, len) and right(x, n), counted in code points.

What moves: a prefix, `substring(x, 1, n)` or `left(x, n)`: cutting is weakly monotone in string order. Example:
`left(s, 3) = 'abc'` is the prefix 'abc'; `left(s, 3) = 'ab'` is just 'ab', because a longer string would have shown more;
`left(s, 3) = 'abcd'` is empty.
Refuses other positions and `right` (OPAQUE_ON_DATA).
"""

from __future__ import annotations

from lakeprune.predicate.functions.function import NO_CATALYST_FORM, EvaluationFailed, Function, always, takes
from lakeprune.predicate.tree import Call, Expr, Literal, Profile, Within
from lakeprune.predicate.walk import type_of
from lakeprune.values.intervals import Interval, IntervalSet, from_intervals, successor
from lakeprune.values.types import STRING, Kind, Scalar

_EVERY_LENGTH = 2**31 - 1


def _substring(_call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    text, position = args[0], args[1]
    length = args[2] if len(args) > 2 else _EVERY_LENGTH
    if not isinstance(text, str) or not isinstance(position, int) or not isinstance(length, int):
        raise EvaluationFailed("substring of something that is not text")
    # Positions count from 1, negative ones from the end; one that lies before the start still uses up length.
    start = position - 1 if position > 0 else (len(text) + position if position < 0 else 0)
    end = start + length
    return text[max(start, 0) : max(end, 0)] if length > 0 else ""


def _right(_call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    text, count = args
    if not isinstance(text, str) or not isinstance(count, int):
        raise EvaluationFailed("right of something that is not text")
    return text[max(len(text) - count, 0) :] if count > 0 else ""


def _preimage(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    argument = call.args[0]
    type_ = type_of(argument)
    numbers = [arg.value if isinstance(arg, Literal) else None for arg in call.args[1:]]
    if type_ is None or type_.kind is not Kind.STRING or type_.collation or numbers[0] not in (0, 1):
        return None
    length = numbers[1] if len(numbers) > 1 else _EVERY_LENGTH
    if not isinstance(length, int) or length < 1:
        return None
    found = [cut for interval in values.intervals if (cut := _uncut(interval, length)) is not None]
    return Within(argument, from_intervals(found, STRING))


def _uncut(interval: Interval, length: int) -> Interval | None:
    """The strings whose first `length` characters lie in the interval; None when there are none."""
    lo, lo_open, hi, hi_open = None, False, None, False
    if interval.lo is not None:
        start = _from(interval.lo, length, strictly=interval.lo_open)
        if start is None:
            return None
        lo, lo_open = start
    if interval.hi is not None:
        stop = _from(interval.hi, length, strictly=not interval.hi_open)
        if stop is not None:
            hi, hi_open = stop[0], not stop[1]
    return Interval(lo, hi, lo_open, hi_open)


def _from(bound: str, length: int, *, strictly: bool) -> tuple[str, bool] | None:
    """(s, open): where the strings begin whose cut is at (strictly: above) or above the bound; None when there are none.

    A bound longer than the cut is never reached, only passed, and passing n characters means passing all their extensions.
    """
    if len(bound) < length or (len(bound) == length and not strictly):
        return bound, strictly
    after = successor(bound[:length])
    return None if after is None else (after, False)


FUNCTIONS = (
    Function(("substring", "substr"), takes(3), ("Substring",), always(STRING), _substring, _preimage),
    Function(("right",), takes(2), NO_CATALYST_FORM, always(STRING), _right),
)
