"""trim ltrim rtrim concat length replace: text from text.

Nothing moves: none of them keeps the order of strings (OPAQUE_ON_DATA). Evaluated exactly on partition values; trim takes
spaces only, as Spark's does. Example: `concat(y, '-', m) >= '2024-03'` over two partition columns.
"""

from __future__ import annotations

from lakeprune.predicate.functions.cast import convert
from lakeprune.predicate.functions.function import MANY, EvaluationFailed, Function, always, takes
from lakeprune.predicate.tree import Call, Profile
from lakeprune.predicate.walk import type_of
from lakeprune.values.types import INT, STRING, Kind, Scalar

MAX_LENGTH = 1_000_000  # characters of a text that is computed


def _texts(call: Call, args: tuple[Scalar, ...], profile: Profile) -> list[str]:
    """Every argument as text; numbers and dates are cast."""
    found = []
    for expr, value in zip(call.args, args, strict=True):
        type_ = type_of(expr)
        if type_ is None or type_.kind is Kind.BINARY or type_.collation:
            raise EvaluationFailed(f"{call.function} of a {type_}")
        found.append(str(convert(value, type_, STRING, profile)))
    return found


def _trim(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    text, *characters = _texts(call, args, profile)
    if characters:
        raise EvaluationFailed("trimming other characters than spaces")
    if call.function == "trim":
        return text.strip(" ")
    return text.lstrip(" ") if call.function == "ltrim" else text.rstrip(" ")


def _concat(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    texts = _texts(call, args, profile)
    _limit(sum(map(len, texts)))
    return "".join(texts)


def _length(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    return len(args[0]) if isinstance(args[0], bytes) else len(_texts(call, args, profile)[0])


def _replace(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    text, search, *replacement = _texts(call, args, profile)
    if not search:
        return text
    put = replacement[0] if replacement else ""
    _limit(len(text) + text.count(search) * (len(put) - len(search)))
    return text.replace(search, put)


def _limit(length: int) -> None:
    """Each `replace` around another one multiplies the length of its text."""
    if length > MAX_LENGTH:
        raise EvaluationFailed(f"text of more than {MAX_LENGTH:,} characters")


FUNCTIONS = (
    Function(("trim",), takes(1), ("StringTrim",), always(STRING), _trim),
    Function(("ltrim",), takes(1), ("StringTrimLeft",), always(STRING), _trim),
    Function(("rtrim",), takes(1), ("StringTrimRight",), always(STRING), _trim),
    Function(("concat",), takes(1, MANY), ("Concat",), always(STRING), _concat),
    Function(("length", "char_length", "character_length", "len"), takes(1), ("Length",), always(INT), _length),
    Function(("replace",), takes(2, 3), ("StringReplace",), always(STRING), _replace),
)
