"""Where a text stands in another, and the part of it at a place: instr locate find_in_set, split and split_part, elt.

Nothing moves: none of them keeps the order of strings (OPAQUE_ON_DATA). Evaluated exactly on partition values, in code points
counted from 1, as Spark counts. Example: `instr(region, 'U') = 2`, `split(path, '/')[0] = 'raw'` on a partition column.
A place outside the list is an error or NULL, depending on the mode, so it has no answer; nor has a split by more than plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lakeprune.predicate.functions.function import MANY, NO_CATALYST_FORM, EvaluationFailed, Function, always, takes
from lakeprune.predicate.functions.pieces import as_int
from lakeprune.predicate.functions.registry import ELEMENT_OF_SPLIT
from lakeprune.predicate.functions.text import texts_of
from lakeprune.predicate.tree import Call, Expr, Profile
from lakeprune.values.types import INT, STRING, Scalar

_PLAIN_PATTERN = re.compile(r"(?:\\[^A-Za-z0-9]|[^\\.^$|?*+()\[\]{}])+")
ValueOf = Callable[[Expr], Scalar]


def _instr(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    text, part = texts_of(call, args, profile)
    return text.find(part) + 1


def _locate(call: Call, value_of: ValueOf, profile: Profile) -> Scalar:
    """A start that is NULL finds nothing, whatever the others are; an empty text is found at the start of everything."""
    start = value_of(call.args[2]) if len(call.args) > 2 else 1
    if start is None:
        return 0
    values = value_of(call.args[0]), value_of(call.args[1])
    if None in values:
        return None
    part, text = texts_of(Call(call.function, call.args[:2]), values, profile)
    if as_int(start) < 1:
        return 0
    return text.find(part, as_int(start) - 1) + 1 if part else 1


def _find_in_set(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    text, listed = texts_of(call, args, profile)
    items = listed.split(",")
    return items.index(text) + 1 if text in items else 0


def _split_part(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    text, mark = texts_of(Call(call.function, call.args[:2]), args[:2], profile)
    number = as_int(args[2])
    if number == 0:
        raise EvaluationFailed("split_part counts from 1, or backwards from -1")
    parts = text.split(mark) if mark else [text]
    place = number - 1 if number > 0 else len(parts) + number
    return parts[place] if 0 <= place < len(parts) else ""


def _element_of_split(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    text, pattern = texts_of(Call("split", call.args[:2]), args[:2], profile)
    limit, index = as_int(args[2]), as_int(args[3])
    if not _PLAIN_PATTERN.fullmatch(pattern):
        raise EvaluationFailed(f"a split by {pattern!r}, which is not plain text")
    parts = text.split(re.sub(r"\\(.)", r"\1", pattern), limit - 1 if limit > 0 else -1)
    if not 0 <= index < len(parts):
        raise EvaluationFailed("an index outside the array, which is an error or NULL, depending on the mode")
    return parts[index]


def _elt(call: Call, value_of: ValueOf, profile: Profile) -> Scalar:
    number = value_of(call.args[0])
    if number is None:
        return None
    if not 1 <= as_int(number) < len(call.args):
        raise EvaluationFailed("a number outside the list, which is an error or NULL, depending on the mode")
    arg = call.args[as_int(number)]
    chosen = value_of(arg)
    return None if chosen is None else texts_of(Call("elt", (arg,)), (chosen,), profile)[0]


FUNCTIONS = (
    Function(("instr",), takes(2), ("StringInstr",), always(INT), _instr),
    Function(("locate", "position"), takes(2, 3), ("StringLocate",), always(INT), choose=_locate),
    Function(("find_in_set",), takes(2), ("FindInSet",), always(INT), _find_in_set),
    Function(("split_part",), takes(3), NO_CATALYST_FORM, always(STRING), _split_part),
    Function((ELEMENT_OF_SPLIT,), takes(4), ("GetArrayItem",), always(STRING), _element_of_split),
    Function(("elt",), takes(2, MANY), ("Elt",), always(STRING), choose=_elt),
)
