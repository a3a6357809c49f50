"""What an engine is asked, and what it answers."""

from __future__ import annotations

from msgspec import Struct


class Asked(Struct, frozen=True):
    location: str
    predicate: str  # in Spark's SQL
    query: str  # all columns of the rows that satisfy it, of a table `t`, in the engine's own SQL


class Ran(Struct, frozen=True):
    version: str
    rows: int | None = None
    pushed: tuple[str, ...] = ()
    missing: str | None = None  # what else is not installed
