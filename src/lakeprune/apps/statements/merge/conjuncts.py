"""ON and the conditions of clauses, cut into the conjuncts they are made of. Pure text; Spark says what a name means.

In: a condition. Out: its conjuncts as texts without comments, the two sides of an equality, the same text without an alias.
"""

from __future__ import annotations

from msgspec import Struct

from lakeprune.predicate.read.sql.logic import pieces
from lakeprune.predicate.read.sql.tokens import COMPARISONS, Tokens, tokenize

TARGET, SOURCE = "t", "s"
_LOOSER = frozenset({"not", "between", "is", "in", "like", "ilike", "rlike", "regexp", "or", "xor"})  # binding no tighter than =


class Equality(Struct, frozen=True):
    left: str
    right: str
    is_null_safe: bool


def conjuncts(text: str) -> tuple[str, ...]:
    """
    >>> conjuncts("t.a = s.a AND (t.b BETWEEN 1 AND 2 AND (t.c = 1 OR t.c = 2))")
    ('t.a = s.a', 't.b BETWEEN 1 AND 2', 't.c = 1 OR t.c = 2')
    """
    tokens = tokenize(text)
    return tuple(tokens.uncommented(first, last) for first, last in _conjuncts(tokens, 0, len(tokens.items)))


def equality(text: str) -> Equality | None:
    """The sides of one equality; None for anything else.

    >>> equality("t.a <=> concat(s.b, '=')")
    Equality(left='t.a', right="concat(s.b, '=')", is_null_safe=True)
    >>> equality("NOT t.a = s.a"), equality("t.a = s.a = TRUE")
    (None, None)
    """
    tokens = tokenize(text)
    last = len(tokens.items)
    signs = [index for index in range(last) if tokens.key(index) in COMPARISONS and tokens.depth[index] == 0]
    words = {tokens.key(index) for index in range(last) if tokens.items[index].kind == "word" and tokens.depth[index] == 0}
    if len(signs) != 1 or tokens.key(signs[0]) not in ("=", "==", "<=>") or words & _LOOSER:
        return None
    sign = signs[0]
    if sign in (0, last - 1) or tokens.key(0) == "!":
        return None
    return Equality(tokens.uncommented(0, sign), tokens.uncommented(sign + 1, last), tokens.key(sign) == "<=>")


def column_path(text: str, alias: str) -> tuple[str, ...] | None:
    """The path of a bare column of that alias, or of a column without an alias; None for any other expression.

    >>> column_path("T.`a b`.c", "t"), column_path("a", "t"), column_path("abs(t.a)", "t")
    (('a b', 'c'), ('a',), None)
    """
    tokens = tokenize(text)
    while len(tokens.items) > 2 and tokens.key(0) == "(" and tokens.partner.get(0) == len(tokens.items) - 1:
        tokens = tokenize(tokens.uncommented(1, len(tokens.items) - 1))
    parts = []
    for index, token in enumerate(tokens.items):
        if index % 2 != (token.key == ".") or (index % 2 == 0 and token.kind not in ("word", "name")):
            return None
        if index % 2 == 0:
            written = tokens.text[token.start : token.end]
            parts.append(written[1:-1].replace("``", "`") if token.kind == "name" else written)
    if len(tokens.items) % 2 == 0:
        return None
    return tuple(parts[1:] if len(parts) > 1 and parts[0].lower() == alias else parts)


def without_alias(text: str, alias: str) -> str:
    """The condition as a table that is not called anything reads it.

    >>> without_alias("t.a = 1 AND abs(t . `b`) > 't.c'", "t")
    "a = 1 AND abs(`b`) > 't.c'"
    """
    tokens = tokenize(text)
    kept, position = [], 0
    for index, token in enumerate(tokens.items):
        written = text[token.start : token.end]
        name = written[1:-1] if token.kind == "name" else written
        is_alias = token.kind in ("word", "name") and name.lower() == alias
        if is_alias and tokens.key(index + 1) == "." and tokens.key(index - 1) != ".":
            kept.append(text[position : token.start])
            position = tokens.items[index + 2].start if index + 2 < len(tokens.items) else len(text)
    return "".join([*kept, text[position:]])


def words_of(text: str) -> frozenset[str]:
    """Every name in a condition, in lower case."""
    tokens = tokenize(text)
    found = (text[token.start : token.end] for token in tokens.items if token.kind in ("word", "name"))
    return frozenset(name.strip("`").lower() for name in found)


def _conjuncts(tokens: Tokens, first: int, last: int) -> list[tuple[int, int]]:
    while tokens.key(first) == "(" and tokens.partner.get(first) == last - 1:
        first, last = first + 1, last - 1
    cut = pieces(tokens, first, last)
    if len(cut) == 1 or any(word == "or" for _, _, word in cut) or any(start == end for start, end, _ in cut):
        return [(first, last)]
    return [inner for start, end, _ in cut for inner in _conjuncts(tokens, start, end)]
