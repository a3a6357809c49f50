"""The meaning of facts, in plain Python for one container: the oracle that engines are judged against, never a fallback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from msgspec import Struct

from lakeprune.predicate.tree import Exact
from lakeprune.skipping.fact import All, AllNull, Below, Covered, Fact, Known, NanFree, Never, NoNanSeen, NoNull, Some, Unproven
from lakeprune.skipping.ladder import Seen
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
    has_nan: bool = False


class Container(Struct, frozen=True):
    domains: Mapping[Seen, Domain]
    truths: Mapping[Exact, frozenset[bool | None]]
    doubts: Mapping[Exact, Lift] = {}  # why an expression could have any truth value


def merged(parts: Sequence[Domain]) -> Domain:
    """What several rungs together prove of a column; nothing when they contradict each other (formats/merging.py)."""
    low = max((part.lo for part in parts if part.lo is not None), default=None)
    ends = [(_end(part), part) for part in parts if part.hi is not None]
    end, last = min(ends, key=lambda each: each[0], default=(None, Domain()))
    no_null, all_null, has_nan = (any(getattr(part, name) for part in parts) for name in ("no_null", "all_null", "has_nan"))
    if (low is not None and end is not None and low > end) or (no_null and all_null):
        return Domain(has_nan=has_nan)
    nan_free = any(part.nan_free for part in parts) and not has_nan
    return Domain(low, last.hi, last.truncated, no_null, all_null, nan_free, any(part.counted for part in parts), has_nan)


def _end(domain: Domain) -> Any:
    return domain.hi + "\U0010ffff" if domain.truncated else domain.hi


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
            return domain.no_null or (_lifts(lift, column) and not domain.counted)
        case AllNull(column):
            domain = container.domains[column]
            unknown = not domain.counted and domain.lo is None and domain.hi is None
            return domain.all_null or (_lifts(lift, column) and unknown)
        case NoNanSeen(column):
            return not container.domains[column].has_nan or lift is Lift.NAN
        case NanFree(column, _):
            domain = container.domains[column]
            unknown = _lifts(lift, column) and domain.lo is None and domain.hi is None
            return domain.nan_free or unknown or lift is Lift.NAN
        case Covered(column, values):
            domain = container.domains[column]
            if _lifts(lift, column) and (domain.lo is None or domain.hi is None):
                return True
            return any(_fits(domain, interval) for interval in values.intervals)
        case Below(left, right, strict):
            a, b = container.domains[left], container.domains[right]
            if (a.hi is None and _lifts(lift, left)) or (b.lo is None and _lifts(lift, right)):
                return True
            return a.hi is not None and b.lo is not None and _below(a, b.lo, strict=strict)
        case _:
            assert_never(fact)


def _lifts(lift: Lift, column: Seen) -> bool:
    """Whether this lift assumes away what is not known of the column."""
    return lift is (Lift.UNREADABLE if column.is_exact else Lift.MISSING)


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
