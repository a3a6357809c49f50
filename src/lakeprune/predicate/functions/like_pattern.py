"""LIKE patterns taken apart: literal text and wildcards, escapes resolved.

In: pattern and escape character. Out: a tuple of text pieces and `Wildcard`s. A pattern that Spark refuses (an escape before
an ordinary character, or at the end) raises ValueError; nobody may guess a prefix from it.
"""

from __future__ import annotations

from enum import Enum


class Wildcard(Enum):
    ONE = "_"
    ANY = "%"


Piece = str | Wildcard


def pieces_of(pattern: str, escape: str = "\\") -> tuple[Piece, ...]:
    r"""The pattern's pieces, neighbouring text joined and repeated % counted once.

    >>> pieces_of(r"a\_b%%c_")
    ('a_b', <Wildcard.ANY: '%'>, 'c', <Wildcard.ONE: '_'>)
    """
    pieces: list[Piece] = []
    text: list[str] = []

    def close_text() -> None:
        if text:
            pieces.append("".join(text))
            text.clear()

    position = 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == escape:
            following = pattern[position : position + 1]
            if not following or following not in ("_", "%", escape):
                raise ValueError(f"the escape {escape!r} stands before an ordinary character or at the end")
            text.append(following)
            position += 1
        elif character in "_%":
            close_text()
            wildcard = Wildcard(character)
            if not (wildcard is Wildcard.ANY and pieces and pieces[-1] is Wildcard.ANY):
                pieces.append(wildcard)
        else:
            text.append(character)
    close_text()
    return tuple(pieces)


def matches(text: str, pieces: tuple[Piece, ...]) -> bool:
    r"""Whether the whole text matches.

    >>> matches("a_bxxc!", pieces_of(r"a\_b%c_"))
    True
    """
    symbols: list[Piece] = []
    for piece in pieces:
        symbols.extend(piece if isinstance(piece, str) else [piece])
    # Greedy with one way back: on a mismatch the latest % takes one more character. Linear in memory, never exponential.
    at = symbol = 0
    star = star_at = -1
    while at < len(text):
        here = symbols[symbol] if symbol < len(symbols) else None
        if here is Wildcard.ANY:
            star, star_at = symbol, at
            symbol += 1
        elif here is not None and (here is Wildcard.ONE or here == text[at]):
            at, symbol = at + 1, symbol + 1
        elif star >= 0:
            star_at += 1
            at, symbol = star_at, star + 1
        else:
            return False
    return all(rest is Wildcard.ANY for rest in symbols[symbol:])
