r"""LIKE and its kin as sets: no wildcard is equality, `p%` a prefix, `%` everything that is not NULL.

A pattern that goes on after a constant prefix (`p%q`, `p_`) implies the prefix; the rest is opaque (OPAQUE_ON_DATA), and so
are ILIKE and RLIKE, whose letter folding leaves any prefix (the Kelvin sign lowers to k). A pattern that Spark refuses
(`'a\b'`, an escape before an ordinary character) is opaque too: its prefix depends on who reads it.
"""

from __future__ import annotations

from lakeprune.predicate.functions.like_pattern import Wildcard, pieces_of
from lakeprune.predicate.passes.opaque import opaque
from lakeprune.predicate.reasons import ReasonCode
from lakeprune.predicate.tree import NULL, And, Expr, Like, Literal, Within
from lakeprune.predicate.walk import columns_of, type_of
from lakeprune.values.intervals import everything, prefixed, values
from lakeprune.values.types import STRING, Kind


def state_like(leaf: Like) -> Expr:
    """The match over Within and Opaque."""
    if isinstance(leaf.pattern, Literal) and leaf.pattern.value is None:
        return NULL
    type_ = type_of(leaf.value)
    if type_ is None or type_.kind is not Kind.STRING:
        return opaque(leaf, ReasonCode.CROSS_TYPE, "a pattern on something that is not text")
    if any(column.type.collation for column in columns_of(leaf)):
        return opaque(leaf, ReasonCode.COLLATION, "a collation decides this match")
    if leaf.kind != "like" or not isinstance(leaf.pattern, Literal) or not isinstance(leaf.pattern.value, str):
        return opaque(leaf, ReasonCode.OPAQUE_ON_DATA, "minimum and maximum say nothing about this match")
    try:
        pieces = pieces_of(leaf.pattern.value, leaf.escape)
    except ValueError as problem:
        return opaque(leaf, ReasonCode.OPAQUE_ON_DATA, str(problem))
    match pieces:
        case ():
            return Within(leaf.value, values([""], STRING))
        case (Wildcard.ANY,):
            return Within(leaf.value, everything(STRING))
        case (str() as text,):
            return Within(leaf.value, values([text], STRING))
        case (str() as text, Wildcard.ANY):
            return Within(leaf.value, prefixed(text))
        case (str() as text, *_):
            return And((Within(leaf.value, prefixed(text)), opaque(leaf, ReasonCode.OPAQUE_ON_DATA, _REST)))
        case _:
            # Never TRUE on NULL: an all-NULL file still drops.
            return And((Within(leaf.value, everything(STRING)), opaque(leaf, ReasonCode.OPAQUE_ON_DATA, _NO_PREFIX)))


_REST = "only the constant prefix of the pattern can be checked against minimum and maximum"
_NO_PREFIX = "the pattern begins with a wildcard, so minimum and maximum say nothing about it"
