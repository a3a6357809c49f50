"""Slips of the keyboard, and habits of other databases, that are seen in the tokens: what was meant, and what is refused for it.

In: the tokens of a predicate. Out: a hint for text that has failed, or an error for what sqlglot would read and Spark does not.
"""

from __future__ import annotations

from itertools import pairwise

from lakeprune.predicate.read.sql.edits import Edit, Hint, edited
from lakeprune.predicate.read.sql.spans import MAX_REPEATED, syntax_error
from lakeprune.predicate.read.sql.tokens import BEFORE_VALUES, COMPARISONS, Token, Tokens

_JOINED = {
    (">", "="): ">=", ("<", "="): "<=", ("<", ">"): "<>", ("!", "="): "!=", ("=", "="): "=", ("not", "="): "!=",
    (">", ">"): ">", ("<", "<"): "<", ("=", "!"): "!=", ("=", ">"): ">=", ("<=", ">"): "<=>",
}  # fmt: skip
_VALUES = ("string", "number")
_WORDS = {"equals": "=", "eq": "=", "gt": ">", "lt": "<", "ge": ">=", "le": "<="}
_TYPES = ("date", "timestamp")


def reject_slips(tokens: Tokens, first: int, last: int) -> None:
    """LP101 for what sqlglot reads, and Spark does not, in one term."""
    for index in range(first, last - 1):
        token, following = tokens.items[index : index + 2]
        after = tokens.items[index + 2] if index + 2 < last else None
        found = _slip(tokens, index, token, following, after)
        if found is not None:
            why, edits = found
            fix = f"write: {edited(tokens.text, edits)}" if edits and len(tokens.text) <= MAX_REPEATED else None
            raise syntax_error(tokens.text, token.start, following.end, why, fix=fix)


def _slip(tokens: Tokens, index: int, token: Token, following: Token, after: Token | None) -> tuple[str, list[Edit]] | None:
    pair, is_joined = (token.key, following.key), token.end == following.start
    is_word = token.kind == "word"
    has_value = after is not None and after.kind in _VALUES
    if is_joined and (pair == ("~", "*") or (pair == ("=", "~") and after is not None and after.kind == "string")):
        return f"`{''.join(pair)}` is not an operator of Spark SQL", []
    is_doubled = pair in ((">", ">"), ("<", "<")) and after is not None and after.kind != "symbol"  # not of a type: array<int> >
    if (is_joined and pair == ("=", "!") and has_value) or is_doubled:
        return f"`{''.join(pair)}` is not an operator of Spark SQL", [(token.start, following.end, _JOINED[pair])]
    if pair == ("not", "null") and is_word and index and _ends_value(tokens.items[index - 1]):
        return "NULL is tested with IS", [(token.start, token.start, "IS ")]
    if is_word and is_joined and token.key in ("n", "e") and following.kind == "string":
        return "Spark has no such prefix of a text", [(token.start, token.end, "")]
    if is_word and pair == ("similar", "to") and after is not None:
        return "`SIMILAR TO` is not an operator of Spark SQL", [(token.start, following.end, "RLIKE")]
    if is_word and token.key in _TYPES and following.kind == "number":
        end = _end_of_date(tokens, index + 1)
        text = tokens.text[following.start : end].replace(" ", "")
        return f"{token.key.upper()} stands before text", [(following.start, end, f"'{text}'")]
    is_lambda = following.key != ">" and tokens.depth[index] > 0  # an argument: x -> 'a'
    if token.key == "->" and index and tokens.items[index - 1].kind in ("word", "name") and not is_lambda:
        at = index + 2 if following.key == ">" else index + 1
        if tokens.items[min(at, len(tokens.items) - 1)].kind == "string":
            field = tokens.items[at]
            name = tokens.text[field.start + 1 : field.end - 1]
            return "a field of a struct stands behind a point", [(token.start, field.end, f".{name}")]
    return None


def _ends_value(token: Token) -> bool:
    return token.key in (")", "]") if token.kind == "symbol" else token.key not in BEFORE_VALUES


def _end_of_date(tokens: Tokens, index: int) -> int:
    while tokens.key(index + 1) in ("-", "/") and index + 2 < len(tokens.items) and tokens.items[index + 2].kind == "number":
        index += 2
    return tokens.items[index].end


def joined_operators(tokens: Tokens) -> Hint | None:
    """`id > = 5`, `id NOT = 5`, `id equals 5`."""
    edits: list[Edit] = []
    for index, (token, following) in enumerate(pairwise(tokens.items)):
        put = _JOINED.get((token.key, following.key))
        if put is not None and index and not (edits and edits[-1][1] == token.end):
            edits.append((token.start, following.end, put))
        elif token.kind == "word" and token.key in _WORDS and index and following.kind in _VALUES:
            edits.append((token.start, token.end, _WORDS[token.key]))
    return None if not edits else ("this is not an operator of Spark SQL", f"write: {edited(tokens.text, edits)}")


def is_in(tokens: Tokens) -> Hint | None:
    """`region IS [NOT] IN ('EU')`."""
    for index, token in enumerate(tokens.items[:-1]):
        after = [tokens.key(n) for n in (index + 1, index + 2)]
        if token.key == "is" and (after[0] == "in" or after == ["not", "in"]):
            return "IS stands before NULL, TRUE and FALSE", f"write: {edited(tokens.text, [(token.start, token.end + 1, '')])}"
    return None


def in_two_quotes(tokens: Tokens) -> Hint | None:
    """`region = ''EU''`, a text in a text."""
    for index in range(len(tokens.items) - 2):
        first, word, last = tokens.items[index : index + 3]
        texts = [tokens.text[token.start : token.end] for token in (first, last)]
        if texts == ["''", "''"] and first.end == word.start and word.end == last.start:
            edit = (first.start, last.end, f"'{tokens.text[word.start : word.end]}'")
            return "a text stands in single quotes, once", f"write: {edited(tokens.text, [edit])}"
    return None


def pattern_without_quotes(tokens: Tokens) -> Hint | None:
    """`region LIKE %E%`."""
    for index, token in enumerate(tokens.items[:-1]):
        if token.key in ("like", "ilike") and tokens.key(index + 1) in ("%", "*"):
            end = index + 1
            while end + 1 < len(tokens.items) and tokens.items[end].end == tokens.items[end + 1].start:
                end += 1
            pattern = tokens.source(index + 1, end + 1)
            edit = (tokens.items[index + 1].start, tokens.items[end].end, f"'{pattern}'")
            return "a pattern stands in quotes", f"write: {edited(tokens.text, [edit])}"
    return None


def ranges(tokens: Tokens) -> Hint | None:
    """`id BETWEEN (1, 5)`, `id BETWEEN 1, 5`, `id BETWEEN 1 TO 5`."""
    for index, token in enumerate(tokens.items[:-2]):
        if token.key != "between":
            continue
        is_tuple = tokens.key(index + 1) == "("
        low = index + 2 if is_tuple else index + 1
        high = low + 2 if tokens.key(low + 1) in (",", "to", "-") else low + 1
        if high >= len(tokens.items) or {tokens.items[low].kind, tokens.items[high].kind} - set(_VALUES):
            continue
        end = tokens.items[high + 1] if is_tuple and tokens.key(high + 1) == ")" else tokens.items[high]
        bounds = f"{tokens.source(low, low + 1)} AND {tokens.source(high, high + 1)}"
        edit = (tokens.items[index + 1].start, end.end, bounds)
        return "BETWEEN needs AND between its bounds", f"write: {edited(tokens.text, [edit])}"
    return None


def compared_once(tokens: Tokens) -> Hint | None:
    """`region = 'EU' OR 'US'`, where the column is to be compared with both."""
    edits: list[Edit] = []
    beginning = ""
    for index, token in enumerate(tokens.items):
        is_compared = index > 1 and tokens.key(index - 1) in COMPARISONS and token.kind in _VALUES
        if is_compared:
            beginning = tokens.source(_start(tokens, index - 2), index)
        elif token.kind in _VALUES and beginning and tokens.key(index - 1) in ("and", "or") and not _goes_on(tokens, index):
            edits.append((token.start, token.start, f"{beginning} "))
    return None if not edits else ("AND and OR stand between conditions", f"write: {edited(tokens.text, edits)}")


def _start(tokens: Tokens, index: int) -> int:
    while tokens.key(index - 1) == "." and index > 1:
        index -= 2
    return max(index, 0)


def _goes_on(tokens: Tokens, index: int) -> bool:
    """Whether the value is itself the beginning of a comparison."""
    return tokens.key(index + 1) not in ("", "and", "or", ")")
