"""A predicate that is a tree already, with the text it is shown as: what a front-end that reads no SQL text hands over."""

from __future__ import annotations

from msgspec import Struct

from lakeprune.predicate.tree import Expr


class Condition(Struct, frozen=True):
    """An unbound tree. Its names have no place in the text."""

    text: str
    tree: Expr
