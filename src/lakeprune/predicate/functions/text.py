"""Text from text, and questions about it: trim concat length replace reverse pad translate, letter case, substrings, affixes.

What moves: a prefix, `left(s, 3) = 'abc'` or `startswith(s, 'abc')`, because cutting is weakly monotone in string order and
strings with one prefix lie side by side. `left(s, 3) = 'ab'` is just 'ab': a longer string would have shown more. Nothing else
keeps the order of strings (OPAQUE_ON_DATA), and letters outside ASCII fold into it (the Kelvin sign lowers to k). Evaluated
exactly on partition values; trim takes spaces only, as Spark's does, and case is known where every engine folds alike.
"""

from __future__ import annotations

from collections.abc import Callable

from lakeprune.predicate.functions.cast import convert
from lakeprune.predicate.functions.function import MANY, NO_CATALYST_FORM, EvaluationFailed, Function, always, takes
from lakeprune.predicate.functions.pieces import as_int, predicate_in
from lakeprune.predicate.tree import Call, Expr, Literal, Profile, Within
from lakeprune.predicate.walk import type_of
from lakeprune.values.intervals import Interval, IntervalSet, from_intervals, prefixed, successor
from lakeprune.values.types import BOOLEAN, INT, STRING, Kind, Scalar

MAX_LENGTH = 1_000_000  # characters of a text that is computed


def texts_of(call: Call, args: tuple[Scalar, ...], profile: Profile) -> list[str]:
    """Every argument as text; numbers and dates are cast."""
    found = []
    for expr, value in zip(call.args, args, strict=True):
        type_ = type_of(expr)
        if type_ is None or type_.kind is Kind.BINARY or type_.collation:
            raise EvaluationFailed(f"{call.function} of a {type_}")
        found.append(str(convert(value, type_, STRING, profile)))
    return found


def limit_length(length: int) -> None:
    """Each `replace` around another one multiplies the length of its text."""
    if length > MAX_LENGTH:
        raise EvaluationFailed(f"text of more than {MAX_LENGTH:,} characters")


def _trim(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    text = texts_of(call, args, profile)[0]
    return {"trim": text.strip, "ltrim": text.lstrip, "rtrim": text.rstrip}[call.function](" ")


def _concat(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    texts = texts_of(call, args, profile)
    limit_length(sum(map(len, texts)))
    return "".join(texts)


def _concat_ws(call: Call, value_of: Callable[[Expr], Scalar], profile: Profile) -> Scalar:
    """NULLs are passed over, unless it is the separator."""
    kept = [(arg, value) for arg in call.args if (value := value_of(arg)) is not None]
    if not kept or kept[0][0] is not call.args[0]:
        return None
    args, values = zip(*kept, strict=True)
    separator, *texts = texts_of(Call(call.function, args), values, profile)
    limit_length(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


def _length(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    return len(args[0]) if isinstance(args[0], bytes) else len(texts_of(call, args, profile)[0])


def _replace(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    text, search, *replacement = texts_of(call, args, profile)
    if not search:
        return text
    put = replacement[0] if replacement else ""
    limit_length(len(text) + text.count(search) * (len(put) - len(search)))
    return text.replace(search, put)


def _reverse(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    return texts_of(call, args, profile)[0][::-1]


def _pad(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    length = as_int(args[1])
    text, *given = texts_of(Call(call.function, (call.args[0], *call.args[2:])), (args[0], *args[2:]), profile)
    missing, pad = max(length, 0) - len(text), given[0] if given else " "
    if missing <= 0 or not pad:
        return text[: max(length, 0)]
    limit_length(length)
    padding = (pad * (missing // len(pad) + 1))[:missing]
    return padding + text if call.function == "lpad" else text + padding


def _translate(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    """Each character of the second text becomes the one at its place in the third, or goes where that is shorter."""
    text, old, new = texts_of(call, args, profile)
    if "\0" in new:
        raise EvaluationFailed("a NUL, which stands for nothing here")
    places = {ord(letter): new[place] if place < len(new) else None for place, letter in reversed(list(enumerate(old)))}
    return text.translate(places)


def _initcap(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    """Words end at spaces, and nowhere else."""
    words = texts_of(call, args, profile)[0].split(" ")
    return " ".join(folded(word[:1], upper=True) + folded(word[1:], upper=False) for word in words)


def _case(call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    text = args[0]
    if not isinstance(text, str):
        raise EvaluationFailed("the case of something that is not text")
    return folded(text, upper=call.function == "upper")


def folded(text: str, *, upper: bool) -> str:
    """The text in upper or lower case: ASCII, Latin and Cyrillic letters with one-to-one case; other text has no answer.

    >>> folded("ÄB", upper=False)
    'äb'
    """
    if text.isascii():
        return text.upper() if upper else text.lower()
    return "".join(_letter(letter, upper=upper) for letter in text)


def _letter(letter: str, *, upper: bool) -> str:
    code = ord(letter)
    known = code < 0x80 or 0xC0 <= code <= 0x17E or 0x400 <= code <= 0x45F
    found = letter.upper() if upper else letter.lower()
    # A letter that changes length or does not come back (sharp s, dotted capital I) depends on the engine's tables.
    if not known or len(found) != 1 or letter not in (found.lower(), found.upper()):
        raise EvaluationFailed(f"the case of {letter!r} depends on the engine")
    return found


def _substring(_call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    """Counted in code points, from 1, negative positions from the end; one before the start still uses up length."""
    text, position, length = args[0], as_int(args[1]), as_int(args[2])
    if not isinstance(text, str):
        raise EvaluationFailed("substring of something that is not text")
    start = position - 1 if position > 0 else (len(text) + position if position < 0 else 0)
    return text[max(start, 0) : max(start + length, 0)] if length > 0 else ""


def _right(_call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    text, count = args[0], as_int(args[1])
    if not isinstance(text, str):
        raise EvaluationFailed("right of something that is not text")
    return text[max(len(text) - count, 0) :] if count > 0 else ""


def _preimage_of_cut(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    argument, position, length = call.args
    is_prefix = isinstance(position, Literal) and position.value in (0, 1) and type_of(argument) == STRING
    if not is_prefix or not isinstance(length, Literal) or not isinstance(length.value, int) or not 1 <= length.value < 2**31:
        return None
    found = [cut for interval in values.intervals if (cut := _uncut(interval, length.value)) is not None]
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


def _affix(call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    text, part = args
    if not isinstance(text, str) or not isinstance(part, str) or any(type_of(arg) != STRING for arg in call.args):
        raise EvaluationFailed(f"{call.function} on something that is not plain text")
    return {"contains": text.__contains__, "startswith": text.startswith, "endswith": text.endswith}[call.function](part)


def _preimage_of_prefix(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    text, prefix = call.args
    if type_of(text) != STRING or not isinstance(prefix, Literal) or not isinstance(prefix.value, str):
        return None
    return predicate_in(Within(text, prefixed(prefix.value)), values)


FUNCTIONS = (
    Function(("trim",), takes(1), ("StringTrim",), always(STRING), _trim),
    Function(("ltrim",), takes(1), ("StringTrimLeft",), always(STRING), _trim),
    Function(("rtrim",), takes(1), ("StringTrimRight",), always(STRING), _trim),
    Function(("concat",), takes(1, MANY), ("Concat",), always(STRING), _concat),
    Function(("concat_ws",), takes(1, MANY), ("ConcatWs",), always(STRING), choose=_concat_ws),
    Function(("reverse",), takes(1), ("Reverse",), always(STRING), _reverse),
    Function(("lpad",), takes(2, 3), ("StringLPad",), always(STRING), _pad),
    Function(("rpad",), takes(2, 3), ("StringRPad",), always(STRING), _pad),
    Function(("translate",), takes(3), ("StringTranslate",), always(STRING), _translate),
    Function(("initcap",), takes(1), ("InitCap",), always(STRING), _initcap),
    Function(("length", "char_length", "character_length", "len"), takes(1), ("Length",), always(INT), _length),
    Function(("replace",), takes(2, 3), ("StringReplace",), always(STRING), _replace),
    Function(("lower", "lcase"), takes(1), ("Lower",), always(STRING), _case),
    Function(("upper", "ucase"), takes(1), ("Upper",), always(STRING), _case),
    Function(("substring", "substr"), takes(3), ("Substring",), always(STRING), _substring, _preimage_of_cut),
    Function(("right",), takes(2), NO_CATALYST_FORM, always(STRING), _right),
    Function(("startswith",), takes(2), ("StartsWith",), always(BOOLEAN), _affix, _preimage_of_prefix),
    Function(("endswith",), takes(2), ("EndsWith",), always(BOOLEAN), _affix),
    Function(("contains",), takes(2), ("Contains",), always(BOOLEAN), _affix),
)
