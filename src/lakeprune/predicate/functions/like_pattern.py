"""LIKE patterns taken apart: literal text and wildcards, escapes resolved.

In: pattern and escape character. Out: a tuple of text pieces and `Wildcard`s. A pattern that Spark refuses (an escape before
an ordinary character, or at the end) raises ValueError; nobody may guess a prefix from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

MAX_STEPS = 1_000_000  # parts of a pattern times places of a text


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

    Of the runs between two % the first begins the text, the last ends it, and each of the others is found as early as
    possible. Text alone is searched for in one go; a run with `_` is tried place by place, up to a limit (ValueError).

    >>> matches("a_bxxc!", pieces_of(r"a\_b%c_"))
    True
    """
    runs = [_Run.of(group) for group in _groups(pieces)]
    if sum(run.length for run in runs) > len(text):
        return False
    if any(len(run.parts) > 1 and (len(run.parts) + run.length // 1000) * len(text) > MAX_STEPS for run in runs):
        raise ValueError(f"finding a pattern with _ in {len(text):,} characters takes more than {MAX_STEPS:,} steps")
    first, *others = runs
    if not others:
        return first.length == len(text) and first.is_at(text, 0)
    last = others.pop()
    end = len(text) - last.length
    if not first.is_at(text, 0) or not last.is_at(text, end):
        return False
    at = first.length
    for run in others:
        found = run.find(text, at, end)
        if found is None:
            return False
        at = found + run.length
    return at <= end


def _groups(pieces: tuple[Piece, ...]) -> Iterator[list[Piece]]:
    """What stands between the %."""
    group: list[Piece] = []
    for piece in pieces:
        if piece is Wildcard.ANY:
            yield group
            group = []
        else:
            group.append(piece)
    yield group


class _Run(Struct, frozen=True):
    """Texts with their distances from the start of the run; whatever stands between them is any character."""

    parts: tuple[tuple[int, str], ...]
    length: int

    @staticmethod
    def of(group: list[Piece]) -> _Run:
        parts, length = [], 0
        for piece in group:
            if isinstance(piece, str):
                parts.append((length, piece))
            length += len(piece) if isinstance(piece, str) else 1
        return _Run(tuple(parts), length)

    def is_at(self, text: str, place: int) -> bool:
        return all(text.startswith(part, place + distance) for distance, part in self.parts)

    def find(self, text: str, start: int, end: int) -> int | None:
        """The first place at or after `start` at which the run stands and ends before `end`."""
        if not self.parts:
            return start if start + self.length <= end else None
        distance, part = self.parts[0]
        place = start - 1
        while (place := text.find(part, place + 1 + distance, end) - distance) >= start:
            if place + self.length > end:
                return None
            if len(self.parts) == 1 or self.is_at(text, place):
                return place
        return None
