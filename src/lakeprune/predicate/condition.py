"""A predicate as read: its tree, and the text it is shown as. Every front-end returns it."""

from __future__ import annotations

from msgspec import Struct

from lakeprune.predicate.tree import Expr


class Condition(Struct, frozen=True):
    """An unbound tree; names point into the text when the text is what was read.

    `asks_clock` says that part of the tree is the moment it was read at (`current_date()`), and not only of the text.
    """

    text: str
    tree: Expr
    asks_clock: bool = False
