"""Conditions that pruning cannot use, rewritten as ranges of bare columns where that can be proven.

In: a bound predicate that normalises to something opaque. Out: a normalised predicate with less of it opaque, and the same truth
on every row (an Either where only bounds are known). What no rule can prove stays opaque. These rules are for proposals: the scan
itself is planned without them. Why each is safe:
    RLIKE with a constant beginning       `s RLIKE '^abc...'` is found only in texts that begin with abc, as long as nothing
                                          can make them optional: no alternative (`|`), no flags (`(?`), no quantifier on the last
                                          character of the prefix. The match itself stays beside the prefix.
    LIKE on a date or timestamp           it matches the text of the time: Spark casts it, and here the cast is written.
    date_format, cast of a time to text   from year 1 to 9999 the fields have fixed widths and stand from year downwards, so text
                                          sorts like time. Other years begin with a sign: where the set holds such a text they
                                          may match, and only bounds are known.
    cast of an integer to text            only whole lists of texts: each is the text of one integer, or of none.
    concat with constants                 only whole lists of texts: what is left between the constants is the argument.
    rtrim                                 `rtrim(s) = 'a'` lies between 'a' and 'a' followed by spaces only.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lakeprune.predicate.functions.cast_text import date_text, timestamp_text
from lakeprune.predicate.functions.date_parts import formatted
from lakeprune.predicate.functions.function import Preimage
from lakeprune.predicate.functions.pieces import within_bounds
from lakeprune.predicate.passes.normalise import normalise
from lakeprune.predicate.passes.rebuild import rebuild
from lakeprune.predicate.tree import And, Call, Column, Expr, Like, Literal, Not, Profile, Within
from lakeprune.predicate.walk import type_of
from lakeprune.values.bounds import Bounds
from lakeprune.values.intervals import Interval, IntervalSet, from_intervals, prefixed
from lakeprune.values.intervals import values as points_of
from lakeprune.values.time.calendar import DAY
from lakeprune.values.time.local_time import instants_of_locals
from lakeprune.values.types import DATE, INTEGER_RANGES, INTEGRAL_KINDS, STRING, TIME_KINDS, TIMESTAMP_NTZ, Kind

_PREFIX = re.compile(r"\^([A-Za-z0-9 _:/@,-]+)(.?)", re.DOTALL)
_OPTIONAL = frozenset("?*{")
_FIRST_DAY, _LAST_DAY = -719162, 2932896  # 0001-01-01 and 9999-12-31
_FIELDS = ("yyyy", "MM", "dd", "HH", "mm", "ss")
# What Spark writes for years outside 1 to 9999.
_OTHER_YEARS = prefixed("+").union(prefixed("-")).union(prefixed("0000"))
_OTHER_TIMES = from_intervals([Interval(_FIRST_DAY * DAY, (_LAST_DAY + 1) * DAY - 1)], TIMESTAMP_NTZ).complement()
_MARKS = re.compile(r"['\[\]#{}]")  # they mean something else than themselves
_NUMBER = re.compile(r"0|-?[1-9][0-9]*")


def sargable(bound: Expr, profile: Profile) -> Expr:
    """The predicate after all passes, with the rules of this package beside the ordinary ones."""
    return normalise(restate_patterns(bound), profile, more=PREIMAGES)


def restate_patterns(expr: Expr) -> Expr:
    """The same predicate; matches that begin with constant text say so."""
    return rebuild(expr, leaf=_restate)


def _restate(leaf: Expr) -> Expr:
    if not isinstance(leaf, Like) or not isinstance(leaf.pattern, Literal) or not isinstance(leaf.pattern.value, str):
        return leaf
    if leaf.kind == "rlike" and type_of(leaf.value) == STRING:
        prefix = constant_prefix(leaf.pattern.value)
        if prefix:
            escaped = re.sub(r"([\\%_])", r"\\\1", prefix)
            return And((Like(leaf.value, Literal(escaped + "%", STRING)), leaf))
    return leaf


def constant_prefix(pattern: str) -> str:
    """What every text begins with in which the regular expression is found; empty when that is not known.

    >>> constant_prefix("^abc[0-9]+$"), constant_prefix("^ab?"), constant_prefix("^a|b"), constant_prefix("abc")
    ('abc', 'a', '', '')
    """
    found = _PREFIX.match(pattern)
    if found is None or "|" in pattern or "(?" in pattern:
        return ""
    prefix, following = found[1], found[2]
    return prefix[:-1] if following in _OPTIONAL and following else prefix


def _date_format(call: Call, values: IntervalSet, profile: Profile) -> Expr | None:
    argument, pattern = call.args
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        return None
    fields = tuple(run[0] for run in re.finditer(r"([A-Za-z])\1*", pattern.value))
    # The first fields in order, and nothing before the year, which would hide its sign.
    if not fields or fields != _FIELDS[: len(fields)] or not pattern.value.startswith("yyyy"):
        return None
    if _MARKS.search(pattern.value):
        return None
    form = pattern.value
    return _times(argument, values, lambda local: formatted(local, form), profile)


def _cast(call: Call, values: IntervalSet, profile: Profile) -> Expr | None:
    (argument,) = call.args
    source = type_of(argument)
    if type_of(call) != STRING or source is None:
        return None
    if source.kind in INTEGRAL_KINDS:
        return _listed(values, lambda points: _integers(argument, points))
    if source.kind is Kind.DATE:
        return _times(argument, values, lambda local: date_text(local // DAY), profile)
    return _times(argument, values, timestamp_text, profile)


def _times(argument: Expr, values: IntervalSet, text_of: Callable[[int], str], profile: Profile) -> Expr | None:
    """The times whose text lies in the set, where `text_of` a local time is weakly monotone."""
    if not isinstance(argument, Column) or argument.type.kind not in TIME_KINDS:
        return None
    found = [times for i in values.intervals if (times := _bisected(i, text_of)) is not None]
    inner = outer = from_intervals(found, TIMESTAMP_NTZ)
    if values.intersect(_OTHER_YEARS).intervals:
        outer = inner.union(_OTHER_TIMES)
    match argument.type.kind:
        case Kind.TIMESTAMP:
            bounds = Bounds(instants_of_locals(outer, profile.zone).outer, instants_of_locals(inner, profile.zone).inner)
        case Kind.DATE:
            bounds = Bounds(_days(outer), _days(inner))
        case _:
            bounds = Bounds(outer, inner)
    return within_bounds(argument, bounds)


def _days(times: IntervalSet) -> IntervalSet:
    """The days whose midnight lies in the set: a day has the text of its midnight."""
    found = []
    for interval in times.intervals:
        first = None if interval.lo is None else -(-interval.lo // DAY)
        last = None if interval.hi is None else interval.hi // DAY
        if first is None or last is None or first <= last:
            found.append(Interval(first, last))
    return from_intervals(found, DATE)


def _bisected(interval: Interval, text_of: Callable[[int], str]) -> Interval | None:
    """The local times of years 1 to 9999 whose text lies in the interval; None when there are none."""
    least, end = _FIRST_DAY * DAY, (_LAST_DAY + 1) * DAY

    def first(is_reached: Callable[[str], bool]) -> int:
        low, high = least, end
        while low < high:
            middle = (low + high) // 2
            if is_reached(text_of(middle)):
                high = middle
            else:
                low = middle + 1
        return low

    lo, hi = interval.lo, interval.hi
    start = least if lo is None else first(lambda text: text > lo or (text == lo and not interval.lo_open))
    stop = end if hi is None else first(lambda text: text > hi or (text == hi and interval.hi_open))
    return Interval(start, stop - 1) if start < stop else None


def _listed(values: IntervalSet, rule: Callable[[list[str]], Expr | None]) -> Expr | None:
    """The rule on a list of texts, or NOT the rule on the list of all that are missing."""
    if all(interval.is_point() for interval in values.intervals):
        return rule([interval.lo for interval in values.intervals])
    missing = values.complement().intervals
    found = rule([interval.lo for interval in missing]) if all(interval.is_point() for interval in missing) else None
    return None if found is None else Not(found)


def _integers(argument: Expr, texts: list[str]) -> Expr | None:
    type_ = type_of(argument)
    if type_ is None:
        return None
    least, greatest = INTEGER_RANGES[type_.kind]
    numbers = [int(text) for text in texts if _NUMBER.fullmatch(text) and len(text) < 21]
    return Within(argument, points_of([n for n in numbers if least <= n <= greatest], type_))


def _concat(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    places = [index for index, arg in enumerate(call.args) if not isinstance(arg, Literal)]
    texts = [arg.value if isinstance(arg, Literal) else "" for arg in call.args]
    if len(places) != 1 or type_of(call.args[places[0]]) != STRING or not all(isinstance(text, str) for text in texts):
        return None
    before = "".join(str(text) for text in texts[: places[0]])
    after = "".join(str(text) for text in texts[places[0] :])
    return _listed(values, lambda listed: Within(call.args[places[0]], _between(before, after, listed)))


def _between(before: str, after: str, texts: list[str]) -> IntervalSet:
    """What stands between the two in each text that has both."""
    around = len(before) + len(after)
    found = [text for text in texts if len(text) >= around and text.startswith(before) and text.endswith(after)]
    return points_of([text[len(before) : len(text) - len(after)] for text in found], STRING)


def _rtrim(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    argument = call.args[0]
    if len(call.args) != 1 or type_of(argument) != STRING:
        return None
    return _listed(values, lambda listed: within_bounds(argument, _padded([text for text in listed if not text.endswith(" ")])))


def _padded(texts: list[str]) -> Bounds:
    """Each text with any number of spaces after it; '!' is the character after the space."""
    return Bounds(from_intervals([Interval(text, text + "!", hi_open=True) for text in texts], STRING), points_of(texts, STRING))


PREIMAGES: dict[str, Preimage] = {
    "date_format": _date_format,
    "cast": _cast,
    "concat": _concat,
    "rtrim": _rtrim,
}
