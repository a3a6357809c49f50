"""`year(t) = 2024 AND month(t) = 3` becomes one range of days: fields of a date together say what none says alone.

Safe because the days are enumerated: every day of the years asked for is tried against every field. Needs a year that is
bounded on both sides, at most MAX_YEARS years; otherwise the fields stay as they are (a month alone is opaque on data).
"""

from __future__ import annotations

from lakeprune.predicate.functions.pieces import as_date
from lakeprune.predicate.functions.registry import lookup
from lakeprune.predicate.passes.rebuild import all_of, conjuncts, rebuild
from lakeprune.predicate.tree import And, Call, Expr, Profile, Within
from lakeprune.values.intervals import IntervalSet, values
from lakeprune.values.time.calendar import days_of
from lakeprune.values.types import DATE

MAX_YEARS = 40


def combine_date_fields(expr: Expr, _profile: Profile) -> Expr:
    return rebuild(expr, node=lambda node: _combine(conjuncts(node)) if isinstance(node, And) else node)


def field_of(part: Expr) -> tuple[str, Expr] | None:
    """The field's name and the date or timestamp it is taken of, when the part restricts one."""
    match part:
        case Within(Call(name, (moment,)), _):
            function = lookup(name)
            is_field = function is not None and function.day_field is not None
            return (name, moment) if is_field and as_date(moment) is not None else None
        case _:
            return None


def _combine(parts: tuple[Expr, ...]) -> Expr:
    fields: dict[Expr, dict[str, IntervalSet]] = {}
    for part in parts:
        found = field_of(part)
        if found is not None and isinstance(part, Within):
            name, moment = found
            known = fields.setdefault(moment, {})
            known[name] = known[name].intersect(part.values) if name in known else part.values
    days = {moment: _days(known) for moment, known in fields.items() if len(known) > 1 and "year" in known}
    kept: dict[Expr, None] = {}
    for part in parts:
        found = field_of(part)
        combined = None if found is None else days.get(found[1])
        date = None if found is None else as_date(found[1])
        kept[part if combined is None or date is None else Within(date, combined)] = None
    return all_of(kept)


def _days(fields: dict[str, IntervalSet]) -> IntervalSet | None:
    """The days with all these fields; None when there are too many years to look at."""
    years: list[int] = []
    for interval in fields["year"].intervals:
        if interval.lo is None or interval.hi is None or len(years) + interval.hi - interval.lo >= MAX_YEARS:
            return None
        years.extend(range(interval.lo, interval.hi + 1))
    found = [(lookup(name), wanted) for name, wanted in fields.items() if name != "year"]
    others = [(function.day_field, wanted) for function, wanted in found if function is not None and function.day_field]
    return values(
        (
            day
            for year in years
            for day in range(days_of(year, 1, 1), days_of(year + 1, 1, 1))
            if all(wanted.contains(field(day)) for field, wanted in others)
        ),
        DATE,
    )
