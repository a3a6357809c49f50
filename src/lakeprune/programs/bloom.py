"""Bloom filters of row groups: what `column = value` and `column IN (...)` lose when a filter excludes every value.

In: a plan of row groups. Out: the clauses that a filter can decide, with their values. A filter hashes bytes as they are stored,
so only types whose values have one form are looked up (T60): 32- and 64-bit integers, dates and text. Floats are not, since 0.0
and -0.0 are equal and have different bytes; neither are decimals and timestamps, which writers store in several ways.
"""

from __future__ import annotations

from collections.abc import Container

from msgspec import Struct

from lakeprune.engines.dialect import Dialect
from lakeprune.predicate.tree import Column, Member
from lakeprune.skipping.plan import Plan
from lakeprune.values.types import Family, Kind

MOST_VALUES = 20  # of a list: each is looked up in every filter
_KINDS = frozenset({Kind.INT, Kind.LONG, Kind.STRING, Kind.DATE})
_DAYS = (-719162, 2932896)  # years 1 to 9999


class Probe(Struct, frozen=True):
    """A clause that is TRUE for these values of a column only; they are SQL."""

    clause: int
    column: Column
    values: tuple[str, ...]


def probes_of(plan: Plan, dialect: Dialect, stored: Container[Column]) -> list[Probe]:
    """The clauses of a plan that Bloom filters can decide."""
    found = []
    for number, clause in enumerate(plan.clauses):
        predicate = clause.predicate
        if isinstance(predicate, Member) and predicate.column in stored and predicate.column.type.kind in _KINDS:
            values = _values(predicate, dialect)
            if values:
                found.append(Probe(number, predicate.column, tuple(values)))
    return found


def _values(member: Member, dialect: Dialect) -> list[str]:
    """The values that a set consists of; none when it is not a few values."""
    intervals = member.values.intervals
    points = [each.lo for each in intervals if each.lo is not None and each.lo == each.hi and not each.lo_open]
    if len(points) < len(intervals) or len(points) > MOST_VALUES:
        return []
    if member.column.type.kind is Kind.DATE:
        if not all(_DAYS[0] <= int(str(point)) <= _DAYS[1] for point in points):
            return []
        return [f"(DATE '1970-01-01' + {int(str(point))})" for point in points]
    if member.column.type.kind is Kind.STRING:
        return [dialect.literal(point, Family.TEXT) for point in points]
    return [f"CAST({dialect.literal(point, Family.INTEGER)} AS BIGINT)" for point in points]
