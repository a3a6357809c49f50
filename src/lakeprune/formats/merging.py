"""What several rungs say about one column, merged into one domain: the greatest lower and the least upper bound, and every proof.

In: needs, some of columns that several rungs show. Out: the relation with their domains, made from what single rungs show;
formats know only those. Rungs that contradict each other (a minimum above the maximum; no NULL and only NULLs) prove nothing
together: one of them is wrong, and it is not known which, so the container is kept as far as that column goes (trap T24).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from lakeprune.engines.dialect import Dialect
from lakeprune.engines.engine import Engine
from lakeprune.formats.relation import Needs, Relation
from lakeprune.formats.snapshot import Snapshot
from lakeprune.predicate.tree import Profile
from lakeprune.skipping.ladder import Seen
from lakeprune.values.types import Family

LAST = "\U0010ffff"  # sorts behind everything that can follow a truncated text


def merged_relation(snapshot: Snapshot, engine: Engine, needs: Needs, profile: Profile) -> Relation:
    """The relation of these needs; the format is asked for single rungs only."""
    several = [seen for seen in needs.domains if len(seen.rungs) > 1]
    if not several:
        return snapshot.relation(engine, needs, profile)
    apart = {seen: _apart(seen, snapshot) for seen in needs.domains}
    single = tuple(dict.fromkeys(part for parts in apart.values() for part in parts))
    found = snapshot.relation(engine, replace(needs, domains=single), profile)
    numbers = {seen: number for number, seen in enumerate(several, len(single))}
    names = replace(found, domains={**found.domains, **numbers})
    ends = [item for seen in several for item in _ends(engine.dialect, names, seen, apart[seen])]
    sane = [f"{_sanity(names, seen, apart[seen])} AS {_sane(names, seen)}" for seen in several]
    domains = [item for seen in several for item in _domain(engine.dialect, names, seen, apart[seen])]
    within = f"SELECT *, {', '.join(sane)} FROM (SELECT *, {', '.join(ends)} FROM {found.source})"
    return replace(names, source=f"(SELECT *, {', '.join(domains)} FROM ({within}))")


def _apart(seen: Seen, snapshot: Snapshot) -> tuple[Seen, ...]:
    """The column as each of its rungs shows it."""
    rungs = (rung for rung in snapshot.facts.evidence.ladder if rung in seen.rungs)
    return tuple(Seen(seen.column, frozenset({rung})) for rung in rungs)


def _ends(dialect: Dialect, names: Relation, seen: Seen, parts: Sequence[Seen]) -> list[str]:
    """The innermost ends, where a truncated maximum stands behind everything that starts with it."""
    low, high = _inner(names, seen)
    lows = ", ".join(names.lo(part) for part in parts)
    highs = ", ".join(_end(dialect, names, part) for part in parts)
    return [f"greatest({lows}) AS {low}", f"least({highs}) AS {high}"]


def _domain(dialect: Dialect, names: Relation, seen: Seen, parts: Sequence[Seen]) -> list[str]:
    low, high = _inner(names, seen)
    is_sane = _sane(names, seen)

    def some(flag: Callable[[Seen], str]) -> str:
        return _some(flag, parts)

    picked, is_truncated = high, ""
    if seen.type.family is Family.TEXT:
        picked, is_truncated = (
            "CASE " + " ".join(f"WHEN {_end(dialect, names, part)} = {high} THEN {of(part)}" for part in parts) + " END"
            for of in (names.hi, names.is_truncated)
        )
    items = [
        f"CASE WHEN {is_sane} THEN {low} END AS {names.lo(seen)}",
        f"CASE WHEN {is_sane} THEN {picked} END AS {names.hi(seen)}",
    ]
    flags = (names.no_null, names.all_null, names.is_counted)
    items += [f"({is_sane} AND {some(flag)}) AS {flag(seen)}" for flag in flags]
    if is_truncated:
        items.append(f"coalesce({is_sane} AND {is_truncated}, FALSE) AS {names.is_truncated(seen)}")
    if seen.type.family is Family.REAL:
        items.append(f"({is_sane} AND {some(names.nan_free)} AND NOT {some(names.has_nan)}) AS {names.nan_free(seen)}")
        items.append(f"{some(names.has_nan)} AS {names.has_nan(seen)}")
    return items


def _sanity(names: Relation, seen: Seen, parts: Sequence[Seen]) -> str:
    """Whether the rungs do not contradict each other. A column of its own: written out, it would be most of a long query."""
    low, high = _inner(names, seen)
    return f"(coalesce({low} <= {high}, TRUE) AND NOT ({_some(names.no_null, parts)} AND {_some(names.all_null, parts)}))"


def _some(flag: Callable[[Seen], str], parts: Sequence[Seen]) -> str:
    return f"({' OR '.join(flag(part) for part in parts)})"


def _sane(names: Relation, seen: Seen) -> str:
    return f"m{names.domains[seen]}_sane"


def _inner(names: Relation, seen: Seen) -> tuple[str, str]:
    return f"m{names.domains[seen]}_lo", f"m{names.domains[seen]}_hi"


def _end(dialect: Dialect, names: Relation, part: Seen) -> str:
    if part.type.family is not Family.TEXT:
        return names.hi(part)
    high = names.hi(part)
    return f"CASE WHEN {names.is_truncated(part)} THEN {high} || {dialect.text(LAST)} ELSE {high} END"
