"""The meaning of facts, in plain Python for one container: the oracle that engines are judged against, never a fallback."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from msgspec import Struct

from lakeprune.predicate.tree import Column, Exact
from lakeprune.skipping.fact import All, AllNull, Below, Covered, Fact, Known, NanFree, Never, NoNull, Some, Unproven
from lakeprune.skipping.plan import Lift
from lakeprune.values.intervals import Interval, successor


class Domain(Struct, frozen=True):
    """What is proven about one column of one container (engine.py lists what each must prove); None is an unbounded side."""

    lo: Any = None
    hi: Any = None
    truncated: bool = False
    no_null: bool = False
    all_null: bool = False
    nan_free: bool = False
    counted: bool = False
    doubt: Lift = Lift.MISSING  # which lift assumes away what is not known of it


class Container(Struct, frozen=True):
    domains: Mapping[Column, Domain]
    truths: Mapping[Exact, frozenset[bool | None]]
    doubts: Mapping[Exact, Lift] = {}  # why an expression could have any truth value


def holds(fact: Fact, container: Container, lift: Lift = Lift.NOTHING) -> bool:
    """Whether the fact is proven for this container; `lift` assumes away one kind of ignorance."""
    match fact:
        case Known(truth):
            return truth
        case All(parts):
            return all(holds(p, container, lift) for p in parts)
        case Some(parts):
            return any(holds(p, container, lift) for p in parts)
        case Unproven(part):
            return not holds(part, container, lift)
        case Never(exact, truth):
            is_lifted = lift is not Lift.NOTHING and container.doubts.get(exact) is lift
            return is_lifted or truth not in container.truths.get(exact, frozenset({True, False, None}))
        case NoNull(column):
            domain = container.domains[column]
            return domain.no_null or (lift is domain.doubt and not domain.counted)
        case AllNull(column):
            domain = container.domains[column]
            unknown = not domain.counted and domain.lo is None and domain.hi is None
            return domain.all_null or (lift is domain.doubt and unknown)
        case NanFree(column):
            domain = container.domains[column]
            unknown = lift is domain.doubt and domain.lo is None and domain.hi is None
            return domain.nan_free or unknown or lift is Lift.NAN
        case Covered(column, values):
            domain = container.domains[column]
            if lift is domain.doubt and (domain.lo is None or domain.hi is None):
                return True
            return any(_fits(domain, interval) for interval in values.intervals)
        case Below(left, right, strict):
            a, b = container.domains[left], container.domains[right]
            if (a.hi is None and lift is a.doubt) or (b.lo is None and lift is b.doubt):
                return True
            return a.hi is not None and b.lo is not None and _below(a, b.lo, strict=strict)
        case _:
            assert_never(fact)


def _fits(domain: Domain, interval: Interval) -> bool:
    """Whether [lo, hi] lies inside the interval."""
    if interval.lo is not None:
        if domain.lo is None:
            return False
        if domain.lo < interval.lo or (interval.lo_open and domain.lo == interval.lo):
            return False
    if interval.hi is None:
        return True
    return domain.hi is not None and _below(domain, interval.hi, strict=interval.hi_open)


def _below(domain: Domain, limit: Any, *, strict: bool) -> bool:
    """Whether every value is below the limit; a truncated maximum stands for everything that starts with it."""
    if domain.truncated:
        end = successor(domain.hi)
        return end is not None and end <= limit
    return bool(domain.hi < limit or (not strict and domain.hi == limit))
