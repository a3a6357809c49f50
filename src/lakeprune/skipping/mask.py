"""Truth masks: which of TRUE, FALSE and NULL some live row of a container could produce.

A mask is over-approximated: a truth value is absent only when metadata proves it. DROP iff TRUE is absent, FULL iff TRUE is the
only one left. Composition is closed, so NOT needs no push-down, an AND with one unknown side still prunes, and FULL is free.

`not_true` (FALSE or NULL possible) and `not_false` (TRUE or NULL possible) are kept beside the three: they compose without
mentioning a child twice, where NULL alone would double the expression at every level.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from lakeprune.skipping.fact import PROVEN, Fact, Known, all_of, some_of


class Mask(Struct, frozen=True):
    """Five "possible" facts; each is TRUE when the truth value cannot be excluded."""

    can_true: Fact
    can_false: Fact
    can_null: Fact
    not_true: Fact
    not_false: Fact


def leaf(can_true: Fact, can_false: Fact, can_null: Fact) -> Mask:
    return Mask(can_true, can_false, can_null, some_of(can_false, can_null), some_of(can_true, can_null))


UNKNOWN = leaf(PROVEN, PROVEN, PROVEN)


def constant(truth: bool | None) -> Mask:
    return leaf(Known(truth is True), Known(truth is False), Known(truth is None))


def conjunction(parts: Sequence[Mask]) -> Mask:
    """AND: TRUE needs every part TRUE, one FALSE suffices, NULL needs a NULL and no FALSE."""
    not_false = all_of(*(p.not_false for p in parts))
    return Mask(
        can_true=all_of(*(p.can_true for p in parts)),
        can_false=some_of(*(p.can_false for p in parts)),
        can_null=all_of(some_of(*(p.can_null for p in parts)), not_false),
        not_true=some_of(*(p.not_true for p in parts)),
        not_false=not_false,
    )


def disjunction(parts: Sequence[Mask]) -> Mask:
    """OR is AND seen through NOT."""
    return negation(conjunction([negation(p) for p in parts]))


def negation(part: Mask) -> Mask:
    """NOT swaps TRUE and FALSE and keeps NULL."""
    return Mask(part.can_false, part.can_true, part.can_null, part.not_false, part.not_true)


def is_null(part: Mask) -> Mask:
    """`part IS NULL`: never NULL itself."""
    decided = some_of(part.can_true, part.can_false)
    return leaf(part.can_null, decided, Known(False))


def is_true(part: Mask) -> Mask:
    """`part IS TRUE`: what is NULL is FALSE here."""
    return leaf(part.can_true, part.not_true, Known(False))


def is_not_false(part: Mask) -> Mask:
    """`part IS NOT FALSE`: what is NULL is TRUE here."""
    return leaf(part.not_false, part.can_false, Known(False))


def both(*leaves: Mask) -> Mask:
    """What several leaves say about one predicate: only what none of them excludes is left."""
    return leaf(*(all_of(*(getattr(mask, name) for mask in leaves)) for name in ("can_true", "can_false", "can_null")))


def either(one: Mask, other: Mask) -> Mask:
    """The truth is that of one or of the other: everything either could produce."""
    return Mask(
        some_of(one.can_true, other.can_true),
        some_of(one.can_false, other.can_false),
        some_of(one.can_null, other.can_null),
        some_of(one.not_true, other.not_true),
        some_of(one.not_false, other.not_false),
    )
