"""AND, OR, NOT and parentheses of a predicate, around terms that a SQL parser then reads one by one.

In: tokens. Out: the tree of connectives over whatever `term(first, last)` makes of the tokens of one comparison. Chains of any
length become one flat node, and a term keeps its exact place in the text: an unreadable one costs only itself.
"""

from __future__ import annotations

from collections.abc import Callable

from lakeprune.predicate.read.sql.spans import MAX_REPEATED, syntax_error
from lakeprune.predicate.read.sql.tokens import COMPARISONS, Token, Tokens
from lakeprune.predicate.tree import And, Expr, IsNull, IsTruth, Not, Or

Term = Callable[[int, int], Expr]


def connect(tokens: Tokens, first: int, last: int, term: Term) -> Expr:
    """The predicate of tokens first..last-1."""
    ors: list[Expr] = []
    ands: list[Expr] = []
    for start, end, word in pieces(tokens, first, last):
        if start == end:
            raise _missing(tokens, start, word)
        part = _factor(tokens, start, end, term)
        is_group = tokens.key(start) == "("  # its parts join ours; those of a BETWEEN stay together
        ands.extend(part.parts if is_group and isinstance(part, And) else (part,))
        if word != "and":
            whole = ands[0] if len(ands) == 1 else And(tuple(ands))
            ors.extend(whole.parts if isinstance(whole, Or) else (whole,))
            ands = []
    return ors[0] if len(ors) == 1 else Or(tuple(ors))


def pieces(tokens: Tokens, first: int, last: int) -> list[tuple[int, int, str]]:
    """Runs of tokens between the connectives of this level, each with the word that ends it."""
    found: list[tuple[int, int, str]] = []
    start = index = first
    betweens = 0
    while index < last:
        key = tokens.key(index)
        partner = tokens.partner.get(index)
        is_name = tokens.key(index - 1) == "." or tokens.items[index].kind != "word"
        if partner is not None and partner > index:
            index = partner
        elif key == "between" and not is_name and tokens.key(index + 1) not in COMPARISONS:
            betweens += not tokens.is_between_call(index)
        elif key == "and" and betweens and not is_name:
            betweens -= 1
        elif key in ("and", "or") and not is_name:
            found.append((start, index, key))
            start, betweens = index + 1, 0
        index += 1
    found.append((start, last, ""))
    return found


def term_around(tokens: Tokens, offset: int) -> tuple[int, int]:
    """Where the term begins and ends, in the text, in which this offset lies: a comparison, without NOT before it."""
    first, last = 0, len(tokens.items)
    while True:
        found = next(
            ((start, end) for start, end, _ in pieces(tokens, first, last) if start < end and tokens.items[end - 1].end > offset),
            (first, last),
        )
        start, end = found
        while tokens.key(start) in ("not", "!") and start + 1 < end:
            start += 1
        if tokens.key(start) != "(" or tokens.partner[start] != end - 1 or _is_tuple(tokens, start):
            return tokens.items[start].start, tokens.items[end - 1].end
        first, last = start + 1, end - 1


def _factor(tokens: Tokens, first: int, last: int, term: Term) -> Expr:
    negated = False
    while tokens.key(first) in ("not", "!") and tokens.key(first + 1) not in COMPARISONS and first + 1 < last:
        negated = not negated
        first += 1
    part = _group(tokens, first, last, term)
    if part is None:
        part = term(first, last)
    return Not(part) if negated else part


def _group(tokens: Tokens, first: int, last: int, term: Term) -> Expr | None:
    """`(predicate)` or `(predicate) IS [NOT] NULL | TRUE | FALSE | UNKNOWN`; None when it is something else."""
    if tokens.key(first) != "(" or _is_tuple(tokens, first):
        return None
    close = tokens.partner[first]
    tail = [tokens.key(i) for i in range(close + 1, last)]
    negated = tail[:2] == ["is", "not"]
    truth = tail[2 if negated else 1 :] if tail[:1] == ["is"] else None
    if tail and truth not in (["null"], ["unknown"], ["true"], ["false"]):
        return None
    inner = connect(tokens, first + 1, close, term)
    if truth is None:
        return inner
    test = IsNull(inner) if truth[0] in ("null", "unknown") else IsTruth(inner, truth[0] == "true")
    return Not(test) if negated else test


def _is_tuple(tokens: Tokens, open_: int) -> bool:
    index = open_ + 1
    while index < tokens.partner[open_]:
        if tokens.key(index) == ",":
            return True
        index = max(index, tokens.partner.get(index, index)) + 1
    return False


def _missing(tokens: Tokens, index: int, word: str) -> Exception:
    if not tokens.items:
        return syntax_error(
            tokens.text, 0, 0, "there is no predicate", fix="give a condition, or leave -w out to count all files"
        )
    before = index if word else index - 1  # the AND or OR that has nothing on one side
    if word or index >= len(tokens.items) or tokens.key(before) in ("and", "or"):
        at = tokens.items[min(before, len(tokens.items) - 1)]
        fix = _without(tokens, at) if at.key in ("and", "or") else None
        return syntax_error(tokens.text, at.start, at.end, f"`{tokens.text[at.start : at.end]}` needs an operand", fix=fix)
    at = tokens.items[index]
    return syntax_error(tokens.text, at.start, at.end, "a predicate is missing here")


def _without(tokens: Tokens, token: Token) -> str | None:
    """The predicate without a word that has nothing to join."""
    before, after = tokens.text[: token.start].rstrip(), tokens.text[token.end :].lstrip()
    apart = " " if before and after and before[-1] != "(" and after[0] != ")" else ""
    rest = f"{before}{apart}{after}"
    return f"add what is missing, or write: {rest}" if rest and len(tokens.text) <= MAX_REPEATED else None
