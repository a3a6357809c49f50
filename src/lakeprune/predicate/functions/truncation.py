"""date_trunc(unit, ts) and trunc(d, unit): the start of the year, month, week, day, hour a moment lies in.

What moves: `date_trunc('month', ts) = '2024-03-01'` becomes all of March. Safe because the start is weakly monotone in local
time; in zones with clock changes the set is bracketed from both sides. A set between two starts (`= '2024-03-05'`) is empty.
Refuses text arguments and units Spark does not know (OPAQUE_ON_DATA; Spark says NULL for those).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lakeprune.predicate.comparison import as_time
from lakeprune.predicate.functions.function import EvaluationFailed, Function, always, takes
from lakeprune.predicate.functions.pieces import as_date, in_range, within_bounds
from lakeprune.predicate.tree import Call, Expr, Literal, Profile, Within
from lakeprune.predicate.walk import type_of
from lakeprune.values.bounds import Bounds, exactly
from lakeprune.values.intervals import IntervalSet
from lakeprune.values.monotone import preimage_of
from lakeprune.values.time.calendar import DAY, HOUR, MINUTE, SECOND, civil_of, days_of, weekday
from lakeprune.values.time.local_time import instants_of_locals, locals_of_instants
from lakeprune.values.time.zones import instant_of, is_utc, local_of
from lakeprune.values.types import DATE, TIME_KINDS, TIMESTAMP, TIMESTAMP_NTZ, Kind, Scalar


def _year(days: int) -> int:
    return days_of(civil_of(days)[0], 1, 1)


def _quarter(days: int) -> int:
    year, month, _ = civil_of(days)
    return days_of(year, month - (month - 1) % 3, 1)


def _month(days: int) -> int:
    year, month, _ = civil_of(days)
    return days_of(year, month, 1)


_DATE_UNITS: dict[str, Callable[[int], int]] = {
    **dict.fromkeys(("YEAR", "YYYY", "YY"), _year),
    "QUARTER": _quarter,
    **dict.fromkeys(("MONTH", "MM", "MON"), _month),
    "WEEK": lambda days: days - weekday(days),
}
_TIME_UNITS = {
    "DAY": DAY,
    "DD": DAY,
    "HOUR": HOUR,
    "MINUTE": MINUTE,
    "SECOND": SECOND,
    "MILLISECOND": 1_000,
    "MICROSECOND": 1,
}


def _start(unit: str, local: int) -> int:
    """The start of the unit a local time lies in."""
    step = _TIME_UNITS.get(unit)
    return _DATE_UNITS[unit](local // DAY) * DAY if step is None else local - local % step


def _unit_of(call: Call) -> tuple[str | None, Expr]:
    """The unit, None when Spark knows none of that name, and the moment."""
    unit, moment = call.args if call.function == "date_trunc" else (call.args[1], call.args[0])
    known = _DATE_UNITS if call.function == "trunc" else {**_DATE_UNITS, **_TIME_UNITS}
    name = unit.value.upper() if isinstance(unit, Literal) and isinstance(unit.value, str) else ""
    return (name if name in known else None), moment


def _evaluate(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    found, result = _truncated(call, args, profile), type_of(call)
    return in_range(found, Kind.TIMESTAMP if result is None else result.kind)


def _truncated(call: Call, args: tuple[Scalar, ...], profile: Profile) -> int:
    unit, moment = _unit_of(call)
    value = args[1] if call.function == "date_trunc" else args[0]
    type_ = type_of(moment)
    if unit is None or type_ is None or type_.kind not in TIME_KINDS:
        raise EvaluationFailed(f"{call.function} {'of' if unit is not None else 'to an unknown unit of'} type {type_}")
    if call.function == "trunc":
        return _DATE_UNITS[unit](int(as_time(value, type_.kind, Kind.DATE, profile)))
    if type_of(call) == TIMESTAMP_NTZ:
        return _start(unit, int(as_time(value, type_.kind, Kind.TIMESTAMP_NTZ, profile)))
    instant = int(as_time(value, type_.kind, Kind.TIMESTAMP, profile))
    local = local_of(instant, profile.zone)
    start = _start(unit, local)
    same_offset = start - (local - instant)
    # Within a repeated hour java.time keeps the offset a time of day already has; dates start at the earlier one.
    if unit in _TIME_UNITS and local_of(same_offset, profile.zone) == start:
        return same_offset
    return instant_of(start, profile.zone)


def _preimage(call: Call, values: IntervalSet, profile: Profile) -> Expr | None:
    unit, moment = _unit_of(call)
    type_ = type_of(moment)
    if unit is None or type_ is None or type_.kind not in TIME_KINDS:
        return None
    if call.function == "trunc":
        date = as_date(moment)
        return None if date is None else Within(date, preimage_of(_DATE_UNITS[unit], values, DATE))
    start = partial(_start, unit)
    if type_of(call) == TIMESTAMP_NTZ or is_utc(profile.zone):
        target = TIMESTAMP_NTZ if type_of(call) == TIMESTAMP_NTZ else TIMESTAMP
        found = exactly(preimage_of(start, values, target))
    else:
        target = TIMESTAMP
        locals_ = locals_of_instants(values, profile.zone)
        found = Bounds(
            instants_of_locals(preimage_of(start, locals_.outer, TIMESTAMP_NTZ), profile.zone).outer,
            instants_of_locals(preimage_of(start, locals_.inner, TIMESTAMP_NTZ), profile.zone).inner,
        )
    return within_bounds(moment if type_ == target else Call("cast", (moment,), target), found)


FUNCTIONS = (
    Function(("date_trunc",), takes(2), ("TruncTimestamp",), always(TIMESTAMP), _evaluate, _preimage),
    Function(("trunc",), takes(2), ("TruncDate",), always(DATE), _evaluate, _preimage),
)
