"""What the transforms to years, months, days and hours share: each maps a time to the number of units since 1970, in UTC.

In: the number of a unit. Out: its first and last day or microsecond, by the type of the source. Text, zones and the epoch of a
calendar year are the caller's.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from msgspec import Struct

from lakeprune.engines.dialect import Dialect
from lakeprune.formats.lifting.transform import UNBOUNDED, Range, SqlRange, unbounded
from lakeprune.values.time.calendar import DAY
from lakeprune.values.types import TIME_KINDS, DataType, Kind


class TimeUnit(Struct, frozen=True):
    """`margin` widens both ends by so many microseconds: where the zone of the writer is not known.

    `may_be_next`: early writers of Iceberg stored the next unit for times before 1970, so that 0 and below may stand for the unit
    before as well (trap T11).
    """

    source: DataType
    margin: int = 0
    may_be_next: bool = False
    farthest: ClassVar[int]  # from 1970 of which all times have a number of microseconds
    counted_in: ClassVar[int] = DAY  # microseconds of what `_first_sql` counts

    def apply(self, value: Any) -> int | None:
        if value is None:
            return None
        return self._number(value * DAY if self.source.kind is Kind.DATE else value)

    def range(self, lower: Any, upper: Any) -> Range:
        if self.source.kind not in TIME_KINDS:
            return UNBOUNDED
        low = None if lower is None or abs(lower) > self.farthest else self._first(lower - self._is_doubtful(lower))
        high = None if upper is None or abs(upper) > self.farthest else self._first(upper + 1)
        if self.source.kind is Kind.DATE:
            return Range(None if low is None else low // DAY, None if high is None else high // DAY - 1)
        return Range(None if low is None else low - self.margin, None if high is None else high - 1 + self.margin)

    def sql(self, dialect: Dialect, lower: str, upper: str) -> SqlRange:  # noqa: ARG002  # integers are written alike
        if self.source.kind not in TIME_KINDS:
            return unbounded(self.source)
        doubtful = f"{lower} - CASE WHEN {lower} <= 0 THEN 1 ELSE 0 END" if self._doubts else lower
        low, high = self._first_sql(f"({doubtful})"), self._first_sql(f"({upper} + 1)")
        if self.source.kind is Kind.DATE:
            ends = low, f"{high} - 1"
        else:
            ends = f"{low} * {self.counted_in} - {self.margin}", f"{high} * {self.counted_in} - 1 + {self.margin}"
        cases = (f"CASE WHEN abs({v}) <= {self.farthest} THEN {end} END" for v, end in zip((lower, upper), ends, strict=True))
        return SqlRange(*cases)

    @property
    def _doubts(self) -> bool:
        return self.may_be_next

    def _is_doubtful(self, value: int) -> bool:
        return self._doubts and value <= 0

    @abstractmethod
    def _number(self, micros: int) -> int:
        """The unit in which a microsecond lies."""

    @abstractmethod
    def _first(self, number: int) -> int:
        """The first microsecond of a unit."""

    @abstractmethod
    def _first_sql(self, number: str) -> str:
        """The first day (or what it counts instead) of a unit."""


def days_before_march_year(year: str) -> str:
    """SQL for the days from 1970 to 1 March of a year; the year is an expression."""
    leaps = f"floor({year} / 4) - floor({year} / 100) + floor({year} / 400)"
    return f"CAST(365 * {year} + {leaps} - 719468 AS BIGINT)"
