"""A bound predicate as clauses: its top-level conjuncts, each normalised and named.

In: a bound tree. Out: clauses whose AND is the input. Ranges on one column become one clause, fields of one date too, and
what every branch of a top-level OR demands stands on its own. Nothing is lost: a constant that decides everything is a clause
like any other, and what metadata cannot use stays as a clause with its reasons.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.predicate import tree as t
from lakeprune.predicate.functions.registry import lookup
from lakeprune.predicate.passes.demand_values import demanded
from lakeprune.predicate.passes.factor_or import factor
from lakeprune.predicate.passes.limit_lists import is_merged_list
from lakeprune.predicate.passes.limit_terms import Limit
from lakeprune.predicate.passes.normalise import merge, normalise
from lakeprune.predicate.passes.rebuild import all_of, conjuncts
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Expr, Lowerable, Profile
from lakeprune.predicate.walk import columns_of, nodes


class _Conjunct(Struct, frozen=True):
    written: tuple[Expr, ...]  # the user's conjuncts that went into it
    predicate: Lowerable


def split(bound: Expr, profile: Profile) -> tuple[t.Clause, ...]:
    """The clauses of a predicate; none for a predicate that is TRUE on every row."""
    return tuple(clause for _, clause in written_clauses(bound, profile) if clause.predicate != t.TRUE)


def written_clauses(bound: Expr, profile: Profile) -> tuple[tuple[Expr, t.Clause], ...]:
    """Every clause, also those that are TRUE on every row, each with the bound conjuncts that it was made of."""
    groups = _group_date_fields(_top_conjuncts(bound))
    found = [_Conjunct(group, normalise(all_of(group), profile)) for group in groups]
    limit = Limit()
    clauses = []
    for conjunct in _merge(found, profile):
        whole = _with_demands(conjunct)
        lowered = limit.within(whole)
        shown = conjunct if lowered is whole else _Conjunct(conjunct.written, lowered)
        clauses.append((all_of(conjunct.written), replace(_clause(shown, profile), predicate=lowered)))
    return tuple(clauses)


def _top_conjuncts(bound: Expr) -> list[Expr]:
    """Top-level conjuncts, seen through NOT (a OR b) and through what all branches of an OR share."""
    pending = [bound]
    found: list[Expr] = []
    while pending:
        part = pending.pop()
        opened = _opened(part)
        if len(opened) > 1:
            pending.extend(reversed(opened))
        else:
            found.append(opened[0])
    return found


def _opened(part: Expr) -> tuple[Expr, ...]:
    match part:
        case t.And():
            return conjuncts(part)
        case t.Or():
            return conjuncts(factor(part))
        case t.Not(t.Or(parts)):
            return tuple(t.Not(inside) for inside in parts)
        case t.Not(t.Not(inside)):
            return _opened(inside)
        case _:
            return (part,)


def _group_date_fields(parts: list[Expr]) -> list[tuple[Expr, ...]]:
    """Conjuncts on fields of one date that include its year stand together; everything else alone."""
    years = {moment for name, moment in map(_field, parts) if name == "year" and moment is not None}
    groups: dict[object, list[Expr]] = {}
    for index, part in enumerate(parts):
        _, moment = _field(part)
        groups.setdefault(moment if moment in years else index, []).append(part)
    return [tuple(group) for group in groups.values()]


def _field(part: Expr) -> tuple[str | None, Expr | None]:
    match part:
        case (
            t.Compare(_, t.Call(name, (moment,)), t.Literal())
            | t.Compare(_, t.Literal(), t.Call(name, (moment,)))
            | t.In(t.Call(name, (moment,)))
        ) if (function := lookup(name)) is not None and function.day_field is not None:
            on_data = any(column.role is Role.DATA for column in columns_of(moment))
            return (name, moment) if on_data else (None, None)
        case _:
            return None, None


def _merge(found: list[_Conjunct], profile: Profile) -> list[_Conjunct]:
    """Sets on one column become one clause, where the first of them stood."""
    slots: dict[object, list[_Conjunct]] = {}
    for index, conjunct in enumerate(found):
        predicate = conjunct.predicate
        slots.setdefault(predicate.column if isinstance(predicate, t.Member) else index, []).append(conjunct)
    merged = []
    for group in slots.values():
        if len(group) == 1:
            merged.append(group[0])
            continue
        written = tuple(part for conjunct in group for part in conjunct.written)
        merged.append(_Conjunct(written, merge(t.And(tuple(c.predicate for c in group)), profile)))
    return merged


def _clause(conjunct: _Conjunct, profile: Profile) -> t.Clause:
    from lakeprune.predicate.write.show import show

    predicate = conjunct.predicate
    text = show(all_of(conjunct.written), profile.zone)
    return t.Clause(
        text=text,
        predicate=predicate,
        rewritten=show(predicate, profile.zone) if _says_something_else(conjunct) else None,
        reasons=tuple(_reasons(conjunct)),
    )


def _with_demands(conjunct: _Conjunct) -> Lowerable:
    """What metadata cannot use still needs a value of its columns: `x % 7 = 3` is not TRUE where x is NULL."""
    predicate = conjunct.predicate
    if not any(isinstance(node, t.Opaque) for node in nodes(predicate)):
        return predicate
    stated = {node.column for node in nodes(predicate) if isinstance(node, t.Member)}  # which a file of NULLs is outside of, too
    columns = [column for column in demanded(all_of(conjunct.written)) if column.role is Role.DATA and column not in stated]
    return t.And((predicate, *(t.Or((t.Not(t.NullTest(column)), t.NULL)) for column in columns))) if columns else predicate


def _says_something_else(conjunct: _Conjunct) -> bool:
    """Whether the rewritten predicate says more than the text does: a function moved, a contradiction found."""
    predicate = conjunct.predicate
    if isinstance(predicate, t.Exact | t.Opaque):
        return False
    if all(_is_plain(part) for part in conjunct.written):
        return isinstance(predicate, t.Constant) or (isinstance(predicate, t.Member) and predicate.values.is_empty())
    return True


def _is_plain(part: Expr) -> bool:
    """No function call in it: then rewriting changed its form only."""
    return not any(isinstance(node, t.Call) for node in nodes(part))


def _can_only_overflow(part: Expr) -> bool:
    """Its only functions are additions and the like: inexact at the very ends of the type, nowhere else."""
    found = [lookup(node.function) for node in nodes(part) if isinstance(node, t.Call)]
    return all(function is not None and function.only_overflows for function in found)


def _reasons(conjunct: _Conjunct) -> Iterable[Reason]:
    found: dict[Reason, None] = {}
    for node in nodes(conjunct.predicate):
        if isinstance(node, t.Opaque):
            found[node.reason] = None
        elif is_merged_list(node):
            found[Reason(ReasonCode.LIST_MERGED, "a very long list, merged across its smallest gaps")] = None
        elif isinstance(node, t.Either) and not all(_is_plain(part) for part in conjunct.written):
            if all(_can_only_overflow(part) for part in conjunct.written):
                found[Reason(ReasonCode.OVERFLOW_POSSIBLE, "a value whose result leaves its type may match or fail")] = None
                continue
            found[Reason(ReasonCode.INEXACT_REWRITE, "pruned by an implied range; rows inside it may still not match")] = None
    if len({column.role for column in columns_of(conjunct.predicate)}) > 1:
        found[Reason(ReasonCode.UNSPLITTABLE_OR, "one clause over partition and data columns")] = None
    return found
