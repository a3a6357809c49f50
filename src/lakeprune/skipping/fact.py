"""Facts about one container that metadata can prove, as a small closed expression language.

A fact is two-valued: TRUE means proven, FALSE means "not proven" (a missing statistic proves nothing). Engines print or
evaluate these nodes and nothing else; they never learn a SQL function. A column is one as some rungs of the ladder show it.

    Known(b)                constant
    NoNull(c)               no live row is NULL in c
    AllNull(c)              every live row is NULL in c
    NanFree(c, is_sought)   no live row is NaN in c; sought: the predicate asks for NaN itself
    NoNanSeen(c)            nothing recorded says that a row is NaN in c, which proves nothing (hidden_nan.py)
    Covered(c, S)           every non-NULL, non-NaN value of c lies in S
    Below(a, b, strict)     every such value of a is below (or equal to, unless strict) every such value of b
    Never(e, truth)         the exact partition expression e never has this truth value
    All, Some, Unproven     conjunction, disjunction, negation
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from lakeprune.predicate.tree import Exact
from lakeprune.skipping.ladder import Seen
from lakeprune.values.intervals import IntervalSet


class Known(Struct, frozen=True, cache_hash=True):
    truth: bool


class NoNull(Struct, frozen=True, cache_hash=True):
    column: Seen


class AllNull(Struct, frozen=True, cache_hash=True):
    column: Seen


class NanFree(Struct, frozen=True, cache_hash=True):
    column: Seen
    is_sought: bool = False


class NoNanSeen(Struct, frozen=True, cache_hash=True):
    column: Seen


class Covered(Struct, frozen=True, cache_hash=True):
    column: Seen
    values: IntervalSet


class Below(Struct, frozen=True, cache_hash=True):
    left: Seen
    right: Seen
    strict: bool


class Never(Struct, frozen=True, cache_hash=True):
    exact: Exact
    truth: bool | None


class All(Struct, frozen=True, cache_hash=True):
    parts: tuple[Fact, ...]


class Some(Struct, frozen=True, cache_hash=True):
    parts: tuple[Fact, ...]


class Unproven(Struct, frozen=True, cache_hash=True):
    part: Fact


Fact = Known | NoNull | AllNull | NanFree | NoNanSeen | Covered | Below | Never | All | Some | Unproven

PROVEN = Known(True)
NOT_PROVEN = Known(False)


def all_of(*parts: Fact) -> Fact:
    """Their conjunction, with constants folded away.

    >>> all_of(PROVEN, NOT_PROVEN)
    Known(truth=False)
    """
    kept = tuple(p for p in _flat(parts, All) if p != PROVEN)
    if NOT_PROVEN in kept:
        return NOT_PROVEN
    return All(kept) if len(kept) > 1 else kept[0] if kept else PROVEN


def some_of(*parts: Fact) -> Fact:
    """Their disjunction, with constants folded away."""
    kept = tuple(p for p in _flat(parts, Some) if p != NOT_PROVEN)
    if PROVEN in kept:
        return PROVEN
    return Some(kept) if len(kept) > 1 else kept[0] if kept else NOT_PROVEN


def unproven(part: Fact) -> Fact:
    """Its negation."""
    match part:
        case Known(truth):
            return Known(not truth)
        case Unproven(inner):
            return inner
        case _:
            return Unproven(part)


def walk(fact: Fact) -> Iterator[Fact]:
    """The fact and everything below it."""
    yield fact
    match fact:
        case All(parts) | Some(parts):
            for part in parts:
                yield from walk(part)
        case Unproven(part):
            yield from walk(part)


def _flat(parts: Iterable[Fact], kind: type[All | Some]) -> Iterator[Fact]:
    for part in parts:
        if isinstance(part, kind):
            yield from part.parts
        else:
            yield part
