"""What a normalised tree may say of a row."""

from __future__ import annotations

from collections.abc import Iterable

from lakeprune.predicate.functions.evaluate import Row, evaluate
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.tree import And, Either, Expr, IsNull, Not, Opaque, Or, Profile


def outcomes(expr: Expr, row: Row, profile: Profile) -> set[bool | None]:
    """What the truth of a normalised tree can be on one row: one value, unless Either or Opaque leave it open."""
    match expr:
        case Opaque():
            return {True, False, None}
        case Either(outer, inner):
            return outcomes(outer, row, profile) | outcomes(inner, row, profile)
        case And(parts):
            return _combined([outcomes(part, row, profile) for part in parts], decisive=False)
        case Or(parts):
            return _combined([outcomes(part, row, profile) for part in parts], decisive=True)
        case Not(part):
            return {None if value is None else not value for value in outcomes(part, row, profile)}
        case IsNull(part):
            return {value is None for value in outcomes(part, row, profile)}
        case _:
            found = evaluate(expr, row, profile)
            assert found is None or isinstance(found, bool)
            return {found}


def check_truths(before: Expr, after: Expr, rows: Iterable[Row], profile: Profile) -> None:
    """`after` may say of each row what `before` says; a row on which either fails says nothing."""
    for row in rows:
        try:
            truth = evaluate(before, row, profile)
            possible = outcomes(after, row, profile)
        except EvaluationFailed:
            continue
        assert truth in possible, (row, after)


def _combined(sets: list[set[bool | None]], *, decisive: bool) -> set[bool | None]:
    found: set[bool | None] = {not decisive}
    for options in sets:
        found = {_pair(a, b, decisive=decisive) for a in found for b in options}
    return found


def _pair(a: bool | None, b: bool | None, *, decisive: bool) -> bool | None:
    if a is decisive or b is decisive:
        return decisive
    return None if a is None or b is None else not decisive
