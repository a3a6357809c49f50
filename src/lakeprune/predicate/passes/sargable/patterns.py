"""Matches restated so that a prefix becomes visible: RLIKE with a constant beginning, LIKE on a date or timestamp.

Why it is safe. `s RLIKE '^abc...'` is found only in texts that begin with abc, as long as nothing in the pattern can make the
beginning optional: no alternative (`|`), no flags (`(?`), no quantifier on the last character of the prefix. The match itself
stays beside the prefix. `ts LIKE '2024-05%'` matches the text of the timestamp: Spark casts it, and here the cast is written.
"""

from __future__ import annotations

import re

from lakeprune.predicate.passes.rebuild import rebuild
from lakeprune.predicate.tree import And, Call, Column, Expr, Like, Literal
from lakeprune.predicate.walk import type_of
from lakeprune.values.types import STRING, TIME_KINDS

_PREFIX = re.compile(r"\^([A-Za-z0-9 _:/@,-]+)(.?)", re.DOTALL)
_OPTIONAL = frozenset("?*{")


def restate_patterns(expr: Expr) -> Expr:
    """The same predicate; matches that begin with constant text say so."""
    return rebuild(expr, leaf=_restate)


def _restate(leaf: Expr) -> Expr:
    if not isinstance(leaf, Like) or not isinstance(leaf.pattern, Literal) or not isinstance(leaf.pattern.value, str):
        return leaf
    if leaf.kind == "like" and isinstance(leaf.value, Column) and leaf.value.type.kind in TIME_KINDS:
        return Like(Call("cast", (leaf.value,), STRING), leaf.pattern, leaf.escape, leaf.kind)
    if leaf.kind == "rlike" and type_of(leaf.value) == STRING:
        prefix = constant_prefix(leaf.pattern.value)
        if prefix:
            escaped = re.sub(r"([\\%_])", r"\\\1", prefix)
            return And((Like(leaf.value, Literal(escaped + "%", STRING)), leaf))
    return leaf


def constant_prefix(pattern: str) -> str:
    """What every text begins with in which the regular expression is found; empty when that is not known.

    >>> constant_prefix("^abc[0-9]+$"), constant_prefix("^ab?"), constant_prefix("^a|b"), constant_prefix("abc")
    ('abc', 'a', '', '')
    """
    found = _PREFIX.match(pattern)
    if found is None or "|" in pattern or "(?" in pattern:
        return ""
    prefix, following = found[1], found[2]
    return prefix[:-1] if following in _OPTIONAL and following else prefix
