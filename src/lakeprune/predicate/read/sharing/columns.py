"""The columns that a hint may name, found case-insensitively, and what stands in for a part that is not understood.

In: the names of a client. Out: bound columns, or `NotUnderstood` with a reason. Hints come from clients that nobody here knows:
what they could mean in two ways is never guessed.
"""

from __future__ import annotations

from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.schema import Field, Schema
from lakeprune.predicate.tree import Column, Opaque
from lakeprune.values.types import NESTED_KINDS, Kind

MAX_SHOWN = 80  # characters of a name or a literal in a reason


class NotUnderstood(Exception):
    """One leaf of a hint cannot be used; the message is the reason."""


class Columns:
    """The columns of one table, looked up many times."""

    def __init__(self, schema: Schema) -> None:
        self._top = _by_name(schema.fields)

    def has(self, name: str) -> bool:
        return name.lower() in self._top

    def find(self, parts: tuple[str, ...]) -> Column:
        """The primitive column of a path through structs."""
        fields, path = self._top, ()  # type: tuple[dict[str, list[Field]], tuple[Field, ...]]
        for part in parts:
            matches = fields.get(part.lower(), [])
            if len(matches) != 1:
                raise NotUnderstood(f"column {brief('.'.join(parts))} {'is ambiguous' if matches else 'does not exist'}")
            path = (*path, matches[0])
            fields = _by_name(matches[0].children)
        kind = path[-1].type.kind
        if kind in NESTED_KINDS or kind is Kind.OTHER:
            raise NotUnderstood(f"column {brief('.'.join(parts))} is of type {path[-1].type}")
        return Column.at(path)


def unknown(text: str, why: str) -> Opaque:
    """A part of a hint that may be TRUE, FALSE or NULL on every row."""
    return Opaque(text, Reason(ReasonCode.HINT_NOT_UNDERSTOOD, why))


def brief(text: str) -> str:
    """A client's text inside a reason: short, and without characters that end a line or a quote.

    >>> brief("a\\nb"), len(brief("x" * 500))
    ("'a\\\\nb'", 85)
    """
    return repr(text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}...")


def is_whole_text(text: str) -> bool:
    """Whether the text is Unicode: JSON can write half a surrogate pair, which no engine takes."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _by_name(fields: tuple[Field, ...]) -> dict[str, list[Field]]:
    found: dict[str, list[Field]] = {}
    for field in fields:
        found.setdefault(field.name.lower(), []).append(field)
    return found
