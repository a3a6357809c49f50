"""The strip of one column: every file's range on one axis, partition by partition, and the range the predicate allows.

Small tables are drawn file by file. In large ones the ranges on each of a fixed number of bins are counted by the engine, and
only the counts come here.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from msgspec import Struct

from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Profile
from lakeprune.predicate.walk import both, column_range
from lakeprune.predicate.write.sets import comparison_text
from lakeprune.programs.axis import Axis, LinearAxis
from lakeprune.programs.sketch import MOST_INTERVALS, ONLY_NULL, UNKNOWN, Sketch
from lakeprune.report.listing import shown
from lakeprune.report.pictures.model import BINS, SHADES, VERDICTS, Counts, Lane, Mark, Strip, Stripe
from lakeprune.report.pictures.ticks import ticks
from lakeprune.skipping.plan import Plan
from lakeprune.values.intervals import IntervalSet


class Lanes(Struct, frozen=True):
    """How a strip separates files: a FROM item that numbers their lanes, and each lane's label with its files by shade."""

    relation: str
    labels: tuple[tuple[str, Counts], ...]


def strip(sketch: Sketch, k: int, lanes: Lanes, plan: Plan, profile: Profile) -> Strip | None:
    """Column number k of the sketch; None when no file has a bound of it."""
    column = sketch.subject.columns[k]
    allowed = both([column_range(clause.predicate, column) for clause in plan.clauses])
    axis = sketch.axis(k, allowed, BINS)
    if axis is None:
        return None
    name = ".".join(column.path)
    return Strip(
        name,
        str(column.type),
        column.role is Role.PARTITION,
        None if allowed is None else comparison_text(name, column.type, allowed, profile.zone)[0],
        _stripes(axis, allowed),
        ticks(axis, column.type, profile.zone),
        _lanes(sketch, k, lanes, axis, profile),
        sketch.beyond(k, axis),
    )


def _stripes(axis: Axis, allowed: IntervalSet | None) -> tuple[Stripe, ...]:
    intervals = () if allowed is None else allowed.merged_to(MOST_INTERVALS).intervals
    stripes = [Stripe(axis.start(i.lo, is_open=i.lo_open), axis.end(i.hi, is_open=i.hi_open)) for i in intervals]
    # What lies beyond an end of the axis, or between two neighbours on it, has no place there.
    is_point = isinstance(axis, LinearAxis)
    return tuple(stripe for stripe in stripes if stripe.start < stripe.end or (is_point and 0 < stripe.start < 1))


def _lanes(sketch: Sketch, k: int, lanes: Lanes, axis: Axis, profile: Profile) -> tuple[Lane, ...]:
    column, numbers = sketch.subject.columns[k], range(len(lanes.labels))
    unknown = [[0] * len(VERDICTS) for _ in numbers]
    only_null = [0 for _ in numbers]
    marks: list[list[Mark]] = [[] for _ in numbers]
    changes = [[[0] * (axis.bins + 1) for _ in SHADES] for _ in numbers]
    for lane, shade, place, count, *file in sketch.ranges(k, lanes.relation, axis):
        if place == ONLY_NULL:
            only_null[lane] += count
        elif place == UNKNOWN:
            unknown[lane][shade if shade < len(VERDICTS) else 0] += count
        elif file:
            path, low, high = file
            text = _range_text(low, high, column, profile)
            marks[lane].append(Mark(axis.start(low), axis.end(high), SHADES[shade], path, text))
        else:
            changes[lane][shade][place] += int(count)
    return tuple(
        Lane(
            *lanes.labels[lane],
            tuple(unknown[lane]),
            only_null[lane],
            tuple(sorted(marks[lane], key=lambda mark: (mark.start, mark.end))),
            () if sketch.subject.by_file else tuple(tuple(accumulate(steps[:-1])) for steps in changes[lane]),
        )
        for lane in numbers
    )


def _range_text(low: Any, high: Any, column: Column, profile: Profile) -> str:
    texts = ["unbounded" if value is None else str(shown(value, column, profile)) for value in (low, high)]
    return texts[0] if low == high else f"{texts[0]} to {texts[1]}"
