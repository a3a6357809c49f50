"""The skipping of a format's own engine: which part of a predicate it uses when it plans a scan by itself.

A snapshot brings it, where the format has such an engine; `OWN_ENGINES` lists them for flags and gates.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lakeprune.predicate.tree import Expr
    from lakeprune.skipping.plan import Plan

OWN_ENGINES = {"delta-spark": "Delta Spark"}  # as flags call them: as users know them


class OwnSkipping(Protocol):
    @property
    def name(self) -> str:
        """The engine as users know it."""

    @property
    def flag(self) -> str:
        """The engine as flags call it; in the names of numbers with underscores."""

    @property
    def version(self) -> str:
        """The version whose skipping is modelled."""

    @property
    def is_separate(self) -> str:
        """The reason, when nothing but looking at each condition by itself makes it read more."""

    @property
    def keeps_gaps(self) -> str:
        """The reason, when it keeps files for a missing statistic that other columns make up for."""

    def is_trusted_with(self, predicate: Expr) -> bool:
        """Whether the engine, given these comparisons, skips no file that holds a match, whoever wrote its statistics."""

    def plan(self, conjuncts: Iterable[Expr]) -> tuple[Plan, tuple[str, ...]]:
        """The plan of what it uses, and why it uses no more. Its files are those that the engine reads."""
