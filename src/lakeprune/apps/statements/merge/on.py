"""ON and the conditions of clauses as values: their conjuncts, read once.

In: the text of a condition without comments. Out: `Conjunct`s with everything that later steps ask of the text. Which table a
name belongs to is for Spark's analyser (spark_on.py), which sorts the conjuncts of ON into a `MergeOn`.
"""

from __future__ import annotations

import re

from msgspec import Struct

from lakeprune.apps.statements.merge.keys import Key
from lakeprune.errors import StatementError
from lakeprune.predicate.read.sql.logic import pieces
from lakeprune.predicate.read.sql.tokens import COMPARISONS, Tokens, tokenize

TARGET, SOURCE = "t", "s"
_LOOSER = frozenset({"not", "between", "is", "in", "like", "ilike", "rlike", "regexp", "or", "xor"})  # binding no tighter than =


class Side(Struct, frozen=True):
    """One side of an equality; `path` is that of a bare column, without the target's alias, None for any other expression."""

    text: str
    path: tuple[str, ...] | None


class Equality(Struct, frozen=True):
    left: Side
    right: Side
    is_null_safe: bool


class Conjunct(Struct, frozen=True):
    text: str
    unaliased: str  # without the target's alias, as the table alone reads it
    names: frozenset[str]  # every name in it, in lower case
    equality: Equality | None


class MergeOn(Struct, frozen=True):
    """The conjuncts of ON by what they are about: both tables by an equality (`keys`) or otherwise (`unusable`), or one table."""

    keys: tuple[Key, ...]
    target_only: tuple[Conjunct, ...]
    source_only: tuple[str, ...]
    unusable: tuple[tuple[str, str], ...]  # each with why it bounds no column of the target


def conjuncts_of(text: str) -> tuple[Conjunct, ...]:
    """The conjuncts of a condition, in order.

    >>> [c.text for c in conjuncts_of("t.a = s.a AND (t.b BETWEEN 1 AND 2 AND (t.c = 1 OR t.c = 2))")]
    ['t.a = s.a', 't.b BETWEEN 1 AND 2', 't.c = 1 OR t.c = 2']
    """
    tokens = tokenize(text)
    return tuple(_conjunct(tokens, first, last) for first, last in _ranges(tokens, 0, len(tokens.items)))


def check_on(text: str) -> None:
    """Refuse `id = id`, in which nobody knows whose column is meant (LP446). Everything else is for Spark's analyser."""
    for conjunct in conjuncts_of(tokenize(text).uncommented()):
        both = conjunct.equality
        name = both.left.text if both is not None and both.left.path is not None else ""
        if both is None or not name or name.lower() != both.right.text.lower() or re.match(rf"(?i)[{TARGET}{SOURCE}]\s*\.", name):
            continue
        what = f"{conjunct.text} compares no row of the target with one of the source"
        fix = f"write {TARGET}.{name} = {SOURCE}.{name}: the target is called {TARGET}, the source {SOURCE}"
        raise StatementError("LP446", what, where=f"ON {text}", fix=fix)


def _ranges(tokens: Tokens, first: int, last: int) -> list[tuple[int, int]]:
    first, last = _inside(tokens, first, last)
    found = pieces(tokens, first, last)
    if len(found) == 1 or any(word == "or" for _, _, word in found) or any(start == end for start, end, _ in found):
        return [(first, last)]
    return [inner for start, end, _ in found for inner in _ranges(tokens, start, end)]


def _inside(tokens: Tokens, first: int, last: int) -> tuple[int, int]:
    """Without the parentheses around it."""
    while tokens.key(first) == "(" and tokens.partner.get(first) == last - 1:
        first, last = first + 1, last - 1
    return first, last


def _conjunct(tokens: Tokens, first: int, last: int) -> Conjunct:
    names = frozenset(name.lower() for index in range(first, last) if (name := tokens.name(index)) is not None)
    text = tokens.uncommented(first, last)
    return Conjunct(text, _unaliased(tokens, first, last), names, _equality(tokens, first, last))


def _unaliased(tokens: Tokens, first: int, last: int) -> str:
    kept, start = [], first
    for index in range(first, last):
        if _is_alias(tokens, index):
            kept.append(tokens.text[tokens.items[start].start : tokens.items[index].start])
            start = index + 2
    return "".join([*kept, tokens.source(start, last) if start < last else ""])


def _equality(tokens: Tokens, first: int, last: int) -> Equality | None:
    """The sides of one equality; None for anything else, `NOT a = b` and `a = b = TRUE` included."""
    level = [index for index in range(first, last) if tokens.depth[index] == tokens.depth[first]]
    signs = [index for index in level if tokens.key(index) in COMPARISONS]
    words = {tokens.key(index) for index in level if tokens.items[index].kind == "word"}
    if len(signs) != 1 or tokens.key(signs[0]) not in ("=", "==", "<=>") or words & _LOOSER:
        return None
    sign = signs[0]
    if sign in (first, last - 1) or tokens.key(first) == "!":
        return None
    return Equality(_side(tokens, first, sign), _side(tokens, sign + 1, last), tokens.key(sign) == "<=>")


def _side(tokens: Tokens, first: int, last: int) -> Side:
    text = tokens.uncommented(first, last)
    first, last = _inside(tokens, first, last)
    return Side(text, tokens.path(first + 2 if _is_alias(tokens, first) else first, last))


def _is_alias(tokens: Tokens, index: int) -> bool:
    is_first = tokens.key(index + 1) == "." and tokens.key(index - 1) != "."
    return is_first and (tokens.name(index) or "").lower() == TARGET
