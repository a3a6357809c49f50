"""Round values along an axis, with labels: numbers in steps of 1, 2 and 5, dates and times in steps a calendar has."""

from __future__ import annotations

import math
from collections.abc import Iterator

from lakeprune.programs.axis import Axis, LinearAxis
from lakeprune.report.pictures.model import Tick, shortened
from lakeprune.values.literals import date_text
from lakeprune.values.time.calendar import DAY, HOUR, MINUTE, SECOND, civil_of, days_of
from lakeprune.values.time.zones import instant_of, local_of
from lakeprune.values.types import DataType, Family, Kind

_MOST = 7
_MOST_CELLS = 8
_LONGEST = 18  # letters
_CLOCK_STEPS = [
    *(n * SECOND for n in (1, 2, 5, 10, 30)),
    *(n * MINUTE for n in (1, 2, 5, 10, 30)),
    *(n * HOUR for n in (1, 2, 3, 6, 12)),
]
_DAY_STEPS = (1, 2, 7, 14)
_MONTH_STEPS = (1, 2, 3, 6)


def ticks(axis: Axis, type_: DataType, zone: str) -> tuple[Tick, ...]:
    """The ticks of an axis: round values, or some of its cells at even distances."""
    if isinstance(axis, LinearAxis):
        return tuple(Tick(axis.at(value), label) for value, label in linear_ticks(axis.low, axis.high, type_, zone))
    step = -(-axis.bins // _MOST_CELLS)
    texts = [str(cell).lower() if isinstance(cell, bool) else str(cell) for cell in axis.cells]
    return tuple(Tick((n + 0.5) / axis.bins, shortened(texts[n], _LONGEST)) for n in range(0, axis.bins, step))


def linear_ticks(low: float, high: float, type_: DataType, zone: str) -> list[tuple[float, str]]:
    """Values between low and high with their labels, at most seven.

    >>> from lakeprune.values.types import DATE, INT
    >>> [label for _, label in linear_ticks(17, 66, INT, "UTC")]
    ['20', '30', '40', '50', '60']
    >>> [label for _, label in linear_ticks(19723, 19844, DATE, "UTC")]
    ['2024-01', '2024-02', '2024-03', '2024-04', '2024-05']
    """
    match type_.kind:
        case Kind.DATE:
            return [(float(day), label) for day, label in _day_ticks(low, high)]
        case Kind.TIMESTAMP | Kind.TIMESTAMP_NTZ:
            return _time_ticks(low, high, zone if type_.kind is Kind.TIMESTAMP else "UTC")
        case _:
            return _number_ticks(low, high, is_whole=type_.family is Family.INTEGER)


def _number_ticks(low: float, high: float, *, is_whole: bool) -> list[tuple[float, str]]:
    step = _round_step((high - low) / _MOST)
    if is_whole:
        step = max(step, 1.0)
    first, last = math.ceil(low / step), math.floor(high / step)
    digits = max(0, -math.floor(math.log10(step)))
    return [(n * step, _number_label(n * step, digits)) for n in range(first, min(last, first + _MOST) + 1)]


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is at least this."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-12))


def _number_label(value: float, digits: int) -> str:
    for limit, unit in ((1e15, ""), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        if abs(value) >= limit:
            return f"{value:.3g}" if not unit else f"{value / limit:.6g}{unit}"
    return f"{value:,.{digits}f}" if digits <= 6 else f"{value:.3g}"


def _day_ticks(low: float, high: float) -> Iterator[tuple[int, str]]:
    for step in _DAY_STEPS:
        if (high - low) / step <= _MOST:
            first = -(-math.ceil(low) // step) * step
            return ((day, date_text(day)) for day in range(first, math.floor(high) + 1, step))
    return _month_ticks(low, high)


def _month_ticks(low: float, high: float) -> Iterator[tuple[int, str]]:
    months = [*_MONTH_STEPS, *(12 * factor * 10**power for power in range(8) for factor in (1, 2, 5))]
    step = next(step for step in months if (high - low) / 30.44 / step <= _MOST or step == months[-1])
    year, month, _ = civil_of(math.floor(low))
    number = -(-(year * 12 + month - 1) // step) * step
    while (day := days_of(number // 12, number % 12 + 1, 1)) <= high:
        if day >= low:
            yield day, str(number // 12) if step % 12 == 0 else f"{number // 12:04d}-{number % 12 + 1:02d}"
        number += step


def _time_ticks(low: float, high: float, zone: str) -> list[tuple[float, str]]:
    """Ticks where the clocks of the zone show round times."""
    first, last = local_of(int(low), zone), local_of(int(high), zone)
    for step in _CLOCK_STEPS:
        if (last - first) / step <= _MOST:
            ticks = range(-(-first // step) * step, last + 1, step)
            return [(float(instant_of(tick, zone)), _clock(tick, step)) for tick in ticks]
    return [(float(instant_of(day * DAY, zone)), label) for day, label in _day_ticks(first / DAY, last / DAY)]


def _clock(local: int, step: int) -> str:
    day, micros = divmod(local, DAY)
    seconds = micros // SECOND
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}"
    if step < MINUTE:
        return f"{clock}:{seconds % 60:02d}"
    return f"{date_text(day)[-5:]} {clock}"
